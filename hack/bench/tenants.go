// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// tenantPackage has the benchmark of tenant clusters.
const tenantPackage = "internal/controller/tenantcluster"

// tenantSizes are how many tenant clusters there are at once.
func tenantSizes() []int { return []int{20, 200} }

// tenantExperiments run each size by itself.
func tenantExperiments() (all []experiment) {
	for _, n := range tenantSizes() {
		all = append(all, benchmark(tenantPackage, fmt.Sprintf("Tenants/%d", n), "1x"))
	}
	return all
}

// tenantMeasures are of butler-controller, with tenant clusters of three workers each.
func tenantMeasures() (all []measure) {
	for _, n := range tenantSizes() {
		all = append(all, measuresOfTenants(n)...)
	}
	for _, what := range []string{"calls", "CPU"} {
		all = append(all, measure{
			name: "tenants: " + what + " each, 200 over 20", kind: cost, target: 1.1, margin: tight,
			over: [2]string{tenantLabel(200) + ": " + what, tenantLabel(20) + ": " + what},
		})
	}
	return all
}

func tenantLabel(n int) string { return fmt.Sprintf("tenants %d", n) }

func measuresOfTenants(n int) []measure {
	name := fmt.Sprintf("Tenants/%d", n)
	all := []measure{
		{name: ": calls", unit: "each", kind: cost, margin: wide, key: "calls/tenant"},
		{name: ": passes", unit: "each", kind: cost, margin: wide, key: "passes/tenant"},
		{name: ": CPU", unit: "ms each", kind: work, margin: wide, key: "ms-cpu/tenant"},
		{name: ": calls at rest", unit: "/s", kind: cost, margin: 2 * wide, key: "calls-at-rest/s"},
		{name: ": CPU at rest", unit: "% core", kind: cost, margin: 2 * wide, key: "%core-at-rest"},
		{name: ": memory", unit: "MiB", kind: cost, target: 300, margin: tight, key: "MiB"},
	}
	for i := range all {
		all[i].name, all[i].experiment, all[i].key = tenantLabel(n)+all[i].name, tenantPackage+" "+name, name+" "+all[i].key
	}
	return all
}
