// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package metric has the Prometheus metrics of the controllers. They are counted where something
// happens, and gathered when they are scraped: nothing runs in between.
package metric

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are those of one process.
type Metrics struct {
	objects   *prometheus.Desc
	phases    *prometheus.HistogramVec
	calls     *prometheus.CounterVec
	durations *prometheus.HistogramVec
	retries   *prometheus.CounterVec
	orphans   *prometheus.GaugeVec
	addresses *prometheus.GaugeVec

	mu       sync.Mutex
	trackers map[*tracker]bool
}

// In returns the metrics of a registry. All controllers of a process share them.
func In(r prometheus.Registerer) (*Metrics, error) {
	m := newMetrics()
	err := r.Register(m)
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if m, ok := there.ExistingCollector.(*Metrics); ok {
			return m, nil
		}
	}
	return m, err
}

func newMetrics() *Metrics {
	return &Metrics{
		objects:   prometheus.NewDesc(objects.Name, objects.Help, objects.Labels, nil),
		phases:    histogram(phases, prometheus.ExponentialBuckets(1, 2, 12)),
		calls:     counter(calls),
		durations: histogram(durations, prometheus.ExponentialBuckets(0.01, 2.5, 9)),
		retries:   counter(retries),
		orphans:   gauge(orphans),
		addresses: gauge(addresses),
		trackers:  map[*tracker]bool{},
	}
}

// vectors are the metrics that keep their own values.
func (m *Metrics) vectors() []prometheus.Collector {
	return []prometheus.Collector{m.phases, m.calls, m.durations, m.retries, m.orphans, m.addresses}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	to <- m.objects
	for _, v := range m.vectors() {
		v.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for key, n := range m.counted() {
		to <- prometheus.MustNewConstMetric(m.objects, prometheus.GaugeValue, float64(n), key.kind, key.provider, key.phase)
	}
	for _, v := range m.vectors() {
		v.Collect(to)
	}
}
