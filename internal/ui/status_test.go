// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

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
