// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

// steward keeps the data of tenants in an etcd of its own. Three members on one
// node would share its fate.
func steward(c cluster, a *Addon) {
	etcd := map[string]any{"deploy": true}
	if c.single() {
		etcd["replicas"] = 1
	}
	a.Values = map[string]any{
		"steward-etcd": etcd,
		"telemetry":    map[string]any{"disabled": true},
	}
	a.Ready = Readiness{
		Workloads: append(deployments(stewardSystem, "steward"), statefulSets(stewardSystem, "steward-etcd")...),
		CRDs: []string{
			"datastores.steward.butlerlabs.dev", "kubeconfiggenerators.steward.butlerlabs.dev", "tenantcontrolplanes.steward.butlerlabs.dev",
		},
		Webhooks: append(validating("steward-validating-webhook-configuration"), mutating("steward-mutating-webhook-configuration")...),
	}
}

// kamaji always has three members of its etcd: its chart knows no other number.
func kamaji(_ cluster, a *Addon) {
	a.Values = map[string]any{
		"etcd":      map[string]any{"deploy": true},
		"telemetry": map[string]any{"disabled": true},
	}
	a.Ready = Readiness{
		Workloads: append(deployments(kamajiSystem, "kamaji"), statefulSets(kamajiSystem, "etcd")...),
		CRDs:      []string{"datastores.kamaji.clastix.io", "tenantcontrolplanes.kamaji.clastix.io"},
		Webhooks:  append(validating("kamaji-validating-webhook-configuration"), mutating("kamaji-mutating-webhook-configuration")...),
	}
}
