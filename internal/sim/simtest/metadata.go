// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package simtest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/butlerdotdev/butler/provider"
)

// Metadata is a metadata server, from which drivers get ambient credentials.
type Metadata struct {
	address string
	server  *httptest.Server
	asked   atomic.Int32
}

// ServeMetadata starts a metadata server for connections to an address, host:port.
func ServeMetadata(t testing.TB, address string, h http.Handler) *Metadata {
	t.Helper()
	m := &Metadata{address: address}
	m.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.asked.Add(1)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(m.server.Close)
	return m
}

// Requests returns how many requests came.
func (m *Metadata) Requests() int { return int(m.asked.Load()) }

// Dialer is how a transport connects.
type Dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// Within returns a dialer that connects to the metadata server at its address, and
// otherwise as the given one.
func (m *Metadata) Within(dial Dialer) Dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == m.address {
			return (&net.Dialer{}).DialContext(ctx, network, m.server.Listener.Addr().String())
		}
		return dial(ctx, network, address)
	}
}

// Serves demands that a connection without a Secret has the credentials of the metadata
// server, which takes this many requests, where ambient credentials are allowed, and that
// the server is not asked where they are not.
func (m *Metadata) Serves(t testing.TB, p provider.Provider, c provider.Config, requests int) {
	t.Helper()
	c.Credentials, c.Ambient, c.Transport.DialContext = provider.Credentials{}, false, m.Within(c.Transport.DialContext)
	if _, err := p.Open(t.Context(), c); provider.ReasonOf(err) != provider.ReasonCredentialsMissing || m.Requests() != 0 {
		t.Errorf("asked %d times, and %v", m.Requests(), err)
	}
	c.Ambient = true
	opened := Open(t, p, c)
	if _, err := opened.Machines.List(t.Context(), provider.Owner{ID: "x"}); err != nil || m.Requests() != requests || opened.Lifetime.Temporary {
		t.Errorf("asked %d times for %+v: %v", m.Requests(), opened.Lifetime, err)
	}
}
