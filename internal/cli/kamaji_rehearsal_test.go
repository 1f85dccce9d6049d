// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"strings"
	"testing"
)

// TestATenantOfKamaji leads a tenant cluster through its life where Kamaji hosts control planes.
func TestATenantOfKamaji(t *testing.T) {
	t.Parallel()
	a := newAdm(t)
	manifest := file(t, "kamaji.yaml", edited(t, exampleHA, "      type: steward\n", "      type: kamaji\n"))
	a.ok("bootstrap", "harvester", "-c", manifest, "--rehearse")
	before := len(a.uids("butler-mgmt", virtualMachines))
	tenant := file(t, "tenant.yaml", edited(t, exampleTenant, "kubernetesVersion: v1.31.0", "kubernetesVersion: v1.29.4"))
	if r := a.ok("tenant", "create", "butler-mgmt", "-f", tenant); !strings.Contains(r.err, "tenant cluster web is Ready") {
		t.Errorf("create said\n%s", r.err)
	}
	a.run("tenant", "talosconfig", "butler-mgmt", "web").expect(t, 2, "hosted by Kamaji, which issues no certificates for the Talos API")
	a.ok("tenant", "upgrade", "butler-mgmt", "web", "--kubernetes-version", "v1.30.2")
	if got := strings.Join(strings.Fields(a.ok("tenant", "list", "butler-mgmt").out), " "); !strings.Contains(got, "butler-tenants web Ready v1.30.2 2/2") {
		t.Errorf("listed: %v", got)
	}
	a.ok("tenant", "delete", "butler-mgmt", "web", "--yes")
	if after := len(a.uids("butler-mgmt", virtualMachines)); after != before {
		t.Errorf("%d machines, before the tenant cluster %d", after, before)
	}
	a.ok("destroy", "butler-mgmt", "--yes")
}
