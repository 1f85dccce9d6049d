// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

func TestNamesAreResolvedThroughTheProxy(t *testing.T) {
	n := network.New()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() { _ = n.ServeSOCKS(l, network.Workstation()) }()
	go func() { _ = n.ServeNames() }()
	if err := n.Await(t.Context(), "192.0.2.53:53"); err != nil {
		t.Fatal(err)
	}
	forget := n.Name("A.elb.example.com", func() []netip.Addr {
		return []netip.Addr{netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("198.51.100.8")}
	})
	resolver := network.Resolver(l.Addr().String())
	got, err := resolver.LookupHost(t.Context(), "a.elb.example.com.")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"198.51.100.7", "198.51.100.8"}, got); diff != "" {
		t.Error(diff)
	}
	forget()
	var unknown *net.DNSError
	if got, err := resolver.LookupHost(t.Context(), "a.elb.example.com."); !errors.As(err, &unknown) || !unknown.IsNotFound {
		t.Errorf("a forgotten name has %v: %v", got, err)
	}
}
