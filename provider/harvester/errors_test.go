// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"errors"
	"net"
	"testing"
)

func TestWhatDiffersFromTryToTryIsCutOut(t *testing.T) {
	far := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 6443}
	near := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 9), Port: 50123}
	for want, err := range map[string]error{
		"read 10.0.0.1:6443: reset":                                  &net.OpError{Op: "read", Net: "tcp", Source: near, Addr: far, Err: errors.New("reset")},
		"Get: stream error: INTERNAL_ERROR; received from peer":      errors.New("Get: stream error: stream ID 21; INTERNAL_ERROR; received from peer"),
		"an answer that names stream ID and nothing else is left so": errors.New("an answer that names stream ID and nothing else is left so"),
	} {
		if got := plain(err).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
