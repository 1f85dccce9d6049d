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
			{Name: "butler-mgmt-w-1", Pool: "a-second-pool-of-the-management-network", StartAddress: "10.40.0.110", EndAddress: "10.40.0.110"},
			{Name: "butler-mgmt-cp-1", Pool: "management", StartAddress: "10.40.0.37", EndAddress: "10.40.0.37"},
			{Name: "butler-mgmt-cp-0", Pool: "management", StartAddress: "10.40.0.36", EndAddress: "10.40.0.36"},
			{Name: "butler-mgmt-w-0", Pool: "management", StartAddress: "10.40.0.40", EndAddress: "10.40.0.40"},
			{Name: "butler-mgmt-vip", Pool: "management", StartAddress: "10.40.0.42", EndAddress: "10.40.0.42"},
			{Name: "butler-mgmt-lb", Pool: "services", StartAddress: "10.40.0.20", EndAddress: "10.40.0.35"},
		},
	}
	out := &strings.Builder{}
	if err := (Status{Cluster: cb}).Print(out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"10.40.0.42 for the control plane, of pool management;",
		"10.40.0.20-10.40.0.35 for load balancers, of pool services;",
		"10.40.0.110 for machines, of pool a-second-pool-of-the-management-network;",
		"10.40.0.36-10.40.0.37, 10.40.0.40 for machines, of pool management",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	for line := range strings.Lines(out.String()) {
		if len(strings.TrimSuffix(line, "\n")) > Columns {
			t.Errorf("wider than %d columns: %s", Columns, line)
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
		Cluster: cb, Phases: "ProvisioningMachines 31s, InstallingAddons 8s", Remaining: "about 18s (15s to 22s), as in 3 recorded run(s): InstallingAddons 9s, Pivoting 5s",
		Plane: "this machine", Message: "addon metallb is Failing: " + unreachable,
		Orphans: "1 on the platform without a request: lost-root", Warnings: []string{"one control plane is not highly available"},
	}
	out := &strings.Builder{}
	if err := page.Print(out); err != nil {
		t.Fatal(err)
	}
	golden(t, "status", out.String(), Columns, 0)
}
