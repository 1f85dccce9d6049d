// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package front

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

func TestFrontKeepsItsAddressIfItIsFree(t *testing.T) {
	file := filepath.Join(t.TempDir(), "front")
	first, err := Listen(file)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Listen(file) // while the first has it
	if err != nil {
		t.Fatal(err)
	}
	if first.Addr().String() == second.Addr().String() {
		t.Error("two have one address")
	}
	_, _ = first.Close(), second.Close()
	third, err := Listen(file)
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if third.Addr().String() != second.Addr().String() {
		t.Errorf("%v, before %v", third.Addr(), second.Addr())
	}
}

// another is an address of this machine that is not the usual one: Linux has all of
// 127.0.0.0/8, others have IPv6.
func another(t *testing.T) netip.Addr {
	t.Helper()
	for _, text := range []string{"127.0.0.2", "::1"} {
		if l, err := net.Listen("tcp", net.JoinHostPort(text, "0")); err == nil {
			_ = l.Close()
			return netip.MustParseAddr(text)
		}
	}
	t.Fatal("this machine has neither 127.0.0.2 nor ::1")
	return netip.Addr{}
}

func TestFrontIsServedAtTheGivenAddress(t *testing.T) {
	other := another(t)
	dir := t.TempDir()
	authority, err := OpenAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "front")
	before, err := Listen(file) // loopback, as in an earlier start
	if err != nil {
		t.Fatal(err)
	}
	_ = before.Close()
	s, err := Serve(Options{AddressFile: file, Listen: other, Authority: authority, API: fault.API{
		Classify: func(*http.Request) fault.Call { return fault.Call{} },
	}}, http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := netip.MustParseAddrPort(s.Address()); got.Addr() != other {
		t.Errorf("it is served at %s", got)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.Certificate())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	answer, err := client.Get("https://" + s.Address())
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
}
