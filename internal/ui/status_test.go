// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestStatusShowsAddressesAndTheirPool(t *testing.T) {
	cb := &v1alpha1.ClusterBootstrap{}
	cb.Name, cb.Spec.Cluster.Name = "butler-mgmt", "butler-mgmt"
	cb.Status = v1alpha1.ClusterBootstrapStatus{
		Phase: v1alpha1.BootstrapReady, Machines: six(v1alpha1.MachineRunning, 6, 6, 6)[:1],
		Allocations: []v1alpha1.BootstrapAllocation{
			{Name: "butler-mgmt-cp-0", Pool: "management", StartAddress: "10.40.0.36", EndAddress: "10.40.0.36"},
			{Name: "butler-mgmt-vip", Pool: "management", StartAddress: "10.40.0.42", EndAddress: "10.40.0.42"},
			{Name: "butler-mgmt-lb", Pool: "services", StartAddress: "10.40.0.20", EndAddress: "10.40.0.35"},
		},
	}
	out := &strings.Builder{}
	if err := (Status{Cluster: cb}).Print(out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"addresses: 10.40.0.42 for the control plane, of pool management;\n           10.40.0.20-10.40.0.35 for load balancers, of pool services\n",
		"MACHINE           ROLE           PHASE    ADDRESS     POOL        TALOS       NODE\n", "  management  configured  Ready\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

func TestStatus(t *testing.T) {
	cb := &v1alpha1.ClusterBootstrap{}
	cb.Spec.Cluster.Name = "butler-mgmt"
	cb.Status = v1alpha1.ClusterBootstrapStatus{
		Phase: v1alpha1.BootstrapInstallingAddons, ControlPlaneEndpoint: "10.40.0.200",
		Machines: six(v1alpha1.MachineRunning, 6, 6, 5), Addons: fourteen(),
	}
	page := Status{
		Cluster: cb, Plane: "this machine", Message: "addon metallb is Failing: " + unreachable,
		Orphans: "1 on the platform without a request: lost-root", Warnings: []string{"one control plane is not highly available"},
	}
	out := &strings.Builder{}
	if err := page.Print(out); err != nil {
		t.Fatal(err)
	}
	golden(t, "status", out.String(), Columns, 0)
}
