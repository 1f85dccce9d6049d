// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/internal/controller/metric"
)

const metricsIntro = `# Metrics

Every controller serves metrics for Prometheus on port 8080 of its pod, path ` + "`/metrics`" + `; as a program of its own with
` + "`--metrics-bind-address`" + `. ` + "`butleradm`" + ` serves none. The chart
[butler-monitoring](../../charts/butler-monitoring/README.md) has scraping, alert rules and a dashboard.

Nothing is measured between two scrapes: metrics are counted where something happens. No label has the name of a
machine or of a cluster. Names of ProviderConfigs and NetworkPools are the only ones that grow with a site.

This page is generated from the code, and a test compares both.

## Of Butler

| metric | type | labels | meaning |
|---|---|---|---|
`

const metricsLabels = `
| label | values |
|---|---|
| ` + "`kind`" + ` | ` + "`ClusterBootstrap`, `MachineRequest`, `LoadBalancerRequest`, `TenantCluster`" + ` |
| ` + "`provider`" + ` | ` + "`harvester`, `nutanix`, `proxmox`, `aws`, `gcp`, `azure`" + `; none for TenantClusters |
| ` + "`phase`" + ` | those of the kind |
| ` + "`operation`" + ` | ` + "`connect`, `check`, `identify`, `plan_machine`, `create_machine`, `observe_machine`, `observe_machines`, `list_machines`, `delete_machine`, `ensure_load_balancer`, `observe_load_balancer`, `list_load_balancers`, `delete_load_balancer`" + ` |
| ` + "`outcome`, `cause`" + ` | ` + "`ok`" + ` (of an outcome), ` + "`Unavailable`, `Exhausted`, `Unauthorized`, `Invalid`, `Conflict`, `InUse`" + `: see [the kinds of error](../concepts/machine-phases.md#when-the-platform-does-not-answer-or-refuses) |
| ` + "`provider_config`" + ` | namespace and name of the ProviderConfig |

A controller that waits for the leader lease counts no objects and no phases.

## Of libraries

The most useful ones; ` + "`/metrics`" + ` has all of them.

| metric | labels | meaning |
|---|---|---|
`

// library is a metric that a library registers.
type library struct{ name, labels, meaning string }

// libraries are the metrics of libraries that the page names.
var libraries = []library{
	{"workqueue_depth", "`name`", "objects that wait in the queue of a controller"},
	{"workqueue_adds_total", "`name`", "objects that were put into a queue"},
	{"workqueue_queue_duration_seconds", "`name`", "time that objects wait in a queue"},
	{"workqueue_work_duration_seconds", "`name`", "time that a pass over an object takes"},
	{"workqueue_retries_total", "`name`", "objects that were put into a queue again after an error"},
	{"controller_runtime_reconcile_total", "`controller`, `result`", "passes by result"},
	{"controller_runtime_reconcile_errors_total", "`controller`", "passes that ended with an error of the API server or of a step"},
	{"controller_runtime_active_workers", "`controller`", "passes that run"},
	{"rest_client_requests_total", "`code`, `method`, `host`", "requests to API servers"},
	{"leader_election_master_status", "`name`", "1 for the pod that has the lease"},
	{"process_resident_memory_bytes", "", "memory of the process"},
	{"process_cpu_seconds_total", "", "processor time of the process"},
	{"go_goroutines", "", "goroutines of the process"},
}

// metricsPage is the page of metrics.
func metricsPage() string {
	var b strings.Builder
	b.WriteString(metricsIntro)
	for _, d := range metric.Definitions() {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s |\n", d.Name, d.Type, strings.Join(d.Labels, "`, `"), d.Help)
	}
	b.WriteString(metricsLabels)
	for _, l := range libraries {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", l.name, l.labels, l.meaning)
	}
	return b.String()
}
