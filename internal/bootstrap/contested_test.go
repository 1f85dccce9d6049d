// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap_test

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
)

// TestContestedAddressIsSeen dials the common address of control planes, one of which has the
// address 10.0.0.1.
func TestContestedAddressIsSeen(t *testing.T) {
	const vip, own = "10.0.0.9", "10.0.0.1"
	refused, silent := os.NewSyscallError("connect", syscall.ECONNREFUSED), os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	always := func(err error) func(int32) error { return func(int32) error { return err } }
	inTurn := func(n int32) error {
		if n%2 == 0 {
			return refused
		}
		return nil
	}
	for reason, c := range map[string]struct {
		vip, own, elsewhere func(n int32) error
		want                string
	}{
		"it answers":               {always(nil), always(nil), always(silent), ""},
		"two hosts answer in turn": {inTurn, always(nil), always(silent), vip},
		"another host has it":      {always(refused), always(nil), always(silent), vip},
		"no API server runs":       {always(refused), always(refused), always(silent), ""},
		"nothing has it":           {always(silent), always(nil), always(silent), ""},
		"a firewall refuses all":   {always(refused), always(nil), always(refused), ""},
	} {
		var dialled atomic.Int32
		dial := func(_ context.Context, _, address string) (net.Conn, error) {
			answer := c.elsewhere
			switch host, _, _ := net.SplitHostPort(address); host {
			case vip:
				answer = c.vip
			case own:
				answer = c.own
			}
			if err := answer(dialled.Add(1)); err != nil {
				return nil, err
			}
			here, there := net.Pipe()
			return here, there.Close()
		}
		cb := &v1alpha1.ClusterBootstrap{}
		cb.Spec.Provider, cb.Spec.Cluster.Topology, cb.Spec.Network.VIP = v1alpha1.ProviderHarvester, v1alpha1.TopologyHA, vip
		cb.Status.ControlPlaneEndpoint = vip
		cb.Status.Machines = []v1alpha1.BootstrapMachineStatus{{Name: "cp-0", Role: v1alpha1.RoleControlPlane, IPAddress: own}}
		if got := bootstrap.Contested(t.Context(), cb, dial); got != c.want {
			t.Errorf("%s: %q, want %q", reason, got, c.want)
		}
		cb.Spec.Provider = v1alpha1.ProviderAWS
		if got := bootstrap.Contested(t.Context(), cb, dial); got != "" {
			t.Errorf("%s: a load balancer is contested", reason)
		}
	}
}
