// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// contests is how many connections show whether two hosts answer in turn.
const contests = 6

// Contested returns the common address of a cluster's control planes if another host has it,
// too: some connections to the API server are refused there, or all of them although each
// control plane accepts them at its own address. Empty means that there is no such address, or
// that no such host is seen.
func Contested(ctx context.Context, cb *v1alpha1.ClusterBootstrap, dial talos.Dialer) string {
	address := cb.Status.ControlPlaneEndpoint
	if _, err := netip.ParseAddr(address); err != nil || !isShared(cb) {
		return ""
	}
	accepted, refused := call(ctx, dial, slices.Repeat([]string{address}, contests))
	if refused == 0 {
		return ""
	}
	own := addressesOf(cb)
	up, _ := call(ctx, dial, own)
	_, elsewhere := call(ctx, dial, []string{nowhere})
	if elsewhere > 0 || accepted == 0 && (up == 0 || up < len(own)) {
		return ""
	}
	return address
}

// isShared reports whether control planes have their endpoint in turns.
func isShared(cb *v1alpha1.ClusterBootstrap) bool {
	kind := endpointKind(Effective(cb))
	return kind == EndpointKubeVIP || kind == EndpointSharedIP
}

func addressesOf(cb *v1alpha1.ClusterBootstrap) (out []string) {
	for _, m := range cb.Status.Machines {
		if m.Role == v1alpha1.RoleControlPlane && m.IPAddress != "" {
			out = append(out, m.IPAddress)
		}
	}
	return out
}

// call connects to the API servers of all hosts at the same time, and counts the answers.
func call(ctx context.Context, dial talos.Dialer, hosts []string) (accepted, refused int) {
	ctx, cancel := context.WithTimeout(ctx, knockPatience)
	defer cancel()
	results := make(chan error, len(hosts))
	for _, host := range hosts {
		go func() {
			conn, err := dial(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(APIServerPort)))
			if err == nil {
				_ = conn.Close()
			}
			results <- err
		}()
	}
	for range hosts {
		switch err := <-results; {
		case err == nil:
			accepted++
		case errors.Is(err, syscall.ECONNREFUSED):
			refused++
		}
	}
	return accepted, refused
}
