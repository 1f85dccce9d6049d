// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package errtext

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"testing"
)

func TestTextHasNothingThatDiffersFromTryToTry(t *testing.T) {
	far := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("10.0.0.1:6443"))
	for want, err := range map[string]error{
		"read 10.0.0.1:6443: connection reset by peer": fmt.Errorf("Get https://h: %w", &net.OpError{
			Op: "read", Net: "tcp", Source: net.TCPAddrFromAddrPort(netip.MustParseAddrPort("10.0.0.9:51234")), Addr: far, Err: syscall.ECONNRESET,
		}),
		"read tcp 10.0.0.1:6443: connection refused":           errors.New("read tcp 10.0.0.9:51234->10.0.0.1:6443: connection refused"),
		`desc = "read tcp 10.0.0.1:6443: broken pipe"`:         errors.New(`desc = "read tcp [fd00::9]:51234->10.0.0.1:6443: broken pipe"`),
		"stream error: INTERNAL_ERROR; received from peer":     errors.New("stream error: stream ID 41; INTERNAL_ERROR; received from peer"),
		"the server could not find the requested resource 404": errors.New("the server could not find the requested resource 404"),
	} {
		if got := Stable(err).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCauseRemains(t *testing.T) {
	err := Stable(&net.OpError{Op: "dial", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 443}, Err: syscall.ECONNREFUSED})
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v has lost its cause", err)
	}
}

func TestACertificateIsNotAnOutage(t *testing.T) {
	for err, want := range map[error]bool{
		fmt.Errorf("Get: %w", x509.UnknownAuthorityError{}):                                    true,
		fmt.Errorf("Get: %w", x509.HostnameError{Host: "h", Certificate: &x509.Certificate{}}): true,
		errors.New("connection refused"):                                                       false,
	} {
		if got := Untrusted(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}
