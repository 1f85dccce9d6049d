// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package metric

import "github.com/prometheus/client_golang/prometheus"

// Definition describes a metric, for Prometheus and for the page.
type Definition struct {
	Name, Type, Help string
	Labels           []string
}

var (
	objects = Definition{
		"butler_objects", "gauge", "Objects by phase. A request counts once a provider's controller has taken it.",
		[]string{"kind", "provider", "phase"},
	}
	phases = Definition{
		"butler_phase_duration_seconds", "histogram", "Time that an object was in a phase, when it has left it. A phase that began before the process is not counted.",
		[]string{"kind", "provider", "phase"},
	}
	calls = Definition{
		"butler_platform_calls_total", "counter", "Calls of drivers to platforms, by operation and outcome: ok, or the kind of error.",
		[]string{"provider", "operation", "outcome"},
	}
	durations = Definition{
		"butler_platform_call_duration_seconds", "histogram", "Time that calls of drivers to platforms took.",
		[]string{"provider", "operation"},
	}
	retries = Definition{
		"butler_request_retries_total", "counter", "Passes over a request that ended with an error of the platform, and are repeated; the cause is the kind of error.",
		[]string{"kind", "provider", "cause"},
	}
	orphans = Definition{
		"butler_orphans", "gauge", "Objects on a platform that have the id of a cluster but belong to no request; copies do not count.",
		[]string{"provider", "provider_config"},
	}
	addresses = Definition{
		"butler_networkpool_addresses", "gauge", "Addresses of a NetworkPool by state: free, allocated, resting.",
		[]string{"namespace", "networkpool", "state"},
	}
)

// Definitions returns all metrics of this project.
func Definitions() []Definition {
	return []Definition{objects, phases, calls, durations, retries, orphans, addresses}
}

func counter(d Definition) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
}

func gauge(d Definition) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.Name, Help: d.Help}, d.Labels)
}

func histogram(d Definition, buckets []float64) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: buckets}, d.Labels)
}
