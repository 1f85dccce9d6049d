// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/butlerdotdev/butler/api/v1alpha1"

// Margins: of what repeats well, and of what depends on what else the machine does.
const (
	exact = 0.02
	tight = 0.15
	wide  = 0.35
)

// measures are the rows of the table.
func measures() []measure {
	all := []measure{
		{name: "plane ready", unit: "s", kind: work, target: 2.0, margin: tight, experiment: "plane", key: "ready"},
		{name: "plane ready, CPU", unit: "s", kind: work, margin: tight, experiment: "plane", key: "cpu"},
		{name: "plane memory", unit: "MiB", kind: cost, target: 238, margin: tight, experiment: "plane", key: "anonymous"},
		{name: "plane memory, with code", unit: "MiB", kind: cost, margin: tight, experiment: "plane", key: "memory"},
		{name: "command to first platform call", unit: "s", kind: work, target: 3.0, margin: tight, experiment: "first call", key: "call"},
	}
	all = append(all, sizeMeasures()...)
	all = append(all, rehearsalMeasures()...)
	all = append(all,
		measure{name: "realistic over critical path", unit: "", kind: cost, target: 1.05, margin: 0.03, experiment: "realistic", key: "overhead"},
		measure{name: "destroy 10 machines, command", unit: "s", kind: work, margin: wide, experiment: "destroy", key: "took"},
		measure{name: "destroy 10 machines, sweep", unit: "s", kind: work, margin: wide, experiment: "internal/teardown Destroy", key: "Destroy/10 s/op"},
		measure{name: "destroy 100 machines, sweep", unit: "s", kind: work, margin: wide, experiment: "internal/teardown Destroy", key: "Destroy/100 s/op"},
		measure{name: "pivot of 20 objects", unit: "s", kind: work, margin: wide, experiment: "internal/pivot Pivot", key: "Pivot/20 s/op"},
		measure{name: "pivot of 500 objects", unit: "s", kind: work, target: 2.0, margin: wide, experiment: "internal/pivot Pivot", key: "Pivot/500 s/op"},
	)
	for _, full := range []string{"10", "50", "99"} {
		all = append(all, measure{
			name: "allocations in a /16, " + full + " % full", unit: "/s", kind: rate, margin: wide,
			experiment: "internal/ipam Allocate", key: "Allocate/" + full + "-percent-of-a-16 allocations/s",
		})
	}
	return append(append(all, requestMeasures()...), tenantMeasures()...)
}

// rehearsalMeasures are of one rehearsal of a highly available cluster, on a platform that takes no time.
func rehearsalMeasures() []measure {
	all := []measure{{name: "rehearsal Ready", unit: "s", kind: work, target: 60, margin: wide, experiment: "rehearsal", key: "ready"}}
	for _, phase := range phases() {
		all = append(all, measure{name: "rehearsal, " + string(phase), unit: "s", kind: work, margin: 2 * wide, experiment: "rehearsal", key: string(phase)})
	}
	return append(all,
		measure{name: "rehearsal memory, most", unit: "MiB", kind: cost, margin: wide, experiment: "rehearsal", key: "memory"},
		measure{name: "rehearsal memory, controllers", unit: "MiB", kind: cost, margin: wide, experiment: "rehearsal", key: "controllers"},
	)
}

// phases are those of a cluster on its way to Ready, in order.
func phases() []v1alpha1.ClusterBootstrapPhase {
	return []v1alpha1.ClusterBootstrapPhase{
		v1alpha1.BootstrapPending, v1alpha1.BootstrapProvisioningMachines, v1alpha1.BootstrapConfiguringTalos,
		v1alpha1.BootstrapBootstrappingCluster, v1alpha1.BootstrapInstallingAddons, v1alpha1.BootstrapPivoting,
	}
}
