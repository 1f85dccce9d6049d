// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
)

// sizes of the experiments with many MachineRequests. The baseline takes too long for the last
// one, but on the platform that takes no time.
func requestSizes() []int { return []int{100, 1000, 10000} }

// variant is a way to run many requests: a platform, with this project's controller or with
// the baseline, which polls every ten seconds with one worker.
type variant struct {
	platform, pkg, bench string
	most                 int
}

func (v variant) name() string {
	if v.bench == "Baseline" {
		return v.platform + ", baseline"
	}
	return v.platform
}

func variants() (all []variant) {
	platforms := []struct{ name, pkg string }{{"in memory", "internal/controller/machinerequest"}}
	for _, name := range providers() {
		platforms = append(platforms, struct{ name, pkg string }{name, "cmd/butler-provider-" + name})
	}
	for _, p := range platforms {
		most := 1000
		if p.name == "in memory" {
			most = 10000
		}
		all = append(all, variant{p.name, p.pkg, "PendingToRunning", 10000}, variant{p.name, p.pkg, "Baseline", most})
	}
	return all
}

func providers() []string {
	return []string{"harvester", "nutanix", "proxmox", "aws", "gcp", "azure"}
}

func (v variant) sizes() (out []int) {
	for _, n := range requestSizes() {
		if n <= v.most {
			out = append(out, n)
		}
	}
	return out
}

// requestExperiments run each size by itself, then what machines cost at rest and how late
// changes are seen.
func requestExperiments() (all []experiment) {
	for _, v := range variants() {
		for _, n := range v.sizes() {
			all = append(all, benchmark(v.pkg, fmt.Sprintf("%s/%d", v.bench, n), "1x"))
		}
	}
	for _, name := range providers() {
		pkg := "cmd/butler-provider-" + name
		all = append(all, benchmark(pkg, "AtRest", "1x"), benchmark(pkg, "Lag/100", "1x"))
	}
	return append(all, benchmark("internal/controller/machinerequest", "AtRest/1000", "1x"))
}

func requestMeasures() (all []measure) {
	for _, v := range variants() {
		for _, n := range v.sizes() {
			all = append(all, v.measures(n)...)
		}
		if v.most == 10000 {
			all = append(all, v.flat())
		}
	}
	for _, name := range providers() {
		all = append(all, restMeasures(name)...)
	}
	const here = "internal/controller/machinerequest AtRest/1000"
	return append(all,
		measure{name: "at rest, in memory 1000: reads", unit: "/s", kind: cost, margin: wide, experiment: here, key: "AtRest/1000 reads/s"},
		measure{name: "at rest, in memory 1000: CPU", unit: "% core", kind: cost, margin: 2 * wide, experiment: here, key: "AtRest/1000 %core"},
	)
}

func (v variant) label(n int) string { return v.name() + " " + strconv.Itoa(n) }

func (v variant) measures(n int) []measure {
	name, of := fmt.Sprintf("%s/%d", v.bench, n), v.label(n)
	experiment := v.pkg + " " + name
	all := []measure{
		{name: of + ": rate", unit: "/s", kind: rate, margin: wide, key: "machines/s"},
		{name: of + ": writes", unit: "each", kind: cost, margin: wide, key: "writes/machine"},
		{name: of + ": platform calls", unit: "each", kind: cost, margin: wide, key: "calls/machine"},
		{name: of + ": CPU", unit: "ms each", kind: work, margin: wide, key: "ms-cpu/machine"},
		{name: of + ": memory", unit: "MiB", kind: cost, margin: wide, key: "MiB-peak"},
	}
	if v.bench != "Baseline" && v.platform != "in memory" {
		all[0].target, all[2].target = 25, 4
	}
	for i := range all {
		all[i].experiment, all[i].key = experiment, name+" "+all[i].key
	}
	return all
}

// flat is how much more a machine costs among 10,000 than among 1,000.
func (v variant) flat() measure {
	return measure{
		name: v.name() + ": CPU each, 10000 over 1000", kind: cost, target: 1.2, margin: wide,
		over: [2]string{v.label(10000) + ": CPU", v.label(1000) + ": CPU"},
	}
}

func restMeasures(provider string) []measure {
	pkg := "cmd/butler-provider-" + provider
	return []measure{
		{name: "at rest, " + provider + " 100: platform", unit: "reads/s", kind: cost, margin: wide, experiment: pkg + " AtRest", key: "AtRest platform-reads/s"},
		{name: "at rest, " + provider + " 100: cluster", unit: "req/s", kind: cost, margin: wide, experiment: pkg + " AtRest", key: "AtRest requests/s"},
		{name: "detection, " + provider + ": p50", unit: "s", kind: cost, margin: 1, experiment: pkg + " Lag/100", key: "Lag/100 s-lag-p50"},
		{name: "detection, " + provider + ": p99", unit: "s", kind: cost, margin: 1, experiment: pkg + " Lag/100", key: "Lag/100 s-lag-p99"},
	}
}
