// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// BenchmarkLag measures how long after a machine runs on Harvester its request says
// so, for requests that are created while the binary works.
func BenchmarkLag(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				lag(b, n)
			}
		})
	}
}

func lag(b *testing.B, n int) {
	b.StopTimer()
	w := waiting(b, 0, datacenter.Profile{})
	started(b, w.binary, w.kubeconfig)
	up := w.platformUp(b)
	b.StartTimer()
	for i := range n {
		must(b, w.client.Create(b.Context(), numbered(i)))
	}
	reported := allRunning(b, w.client, n)
	lags := up.until(reported)
	b.ReportMetric(lags[len(lags)/2].Seconds(), "s-lag-p50")
	b.ReportMetric(lags[len(lags)-1].Seconds(), "s-lag-max")
}

// BenchmarkRealistic measures how long machines take to run where a create call takes
// 2 s and a boot 25 s: many must not take longer than one.
func BenchmarkRealistic(b *testing.B) {
	profile, err := datacenter.ProfileNamed(datacenter.Realistic)
	must(b, err)
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				w := waiting(b, 0, profile)
				started(b, w.binary, w.kubeconfig)
				began := time.Now()
				for i := range n {
					must(b, w.client.Create(b.Context(), numbered(i)))
				}
				reported := allRunning(b, w.client, n)
				last := slices.MaxFunc(slices.Collect(maps.Values(reported)), time.Time.Compare)
				b.ReportMetric(last.Sub(began).Seconds(), "s-to-running")
			}
		})
	}
}

// sightings are the times at which machines were first seen running.
type sightings struct {
	seen chan sighting
}

type sighting struct {
	name string
	at   time.Time
}

// platformUp watches which machines run on Harvester, with an address.
func (w *scene) platformUp(b *testing.B) *sightings {
	b.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("kubevirt.io/v1")
	list.SetKind("VirtualMachineInstanceList")
	events, err := adminOf(b, w.harvester).Watch(b.Context(), list, client.InNamespace("default"))
	must(b, err)
	b.Cleanup(events.Stop)
	s := &sightings{seen: make(chan sighting, 100_000)}
	go s.follow(events)
	return s
}

func (s *sightings) follow(events watch.Interface) {
	for e := range events.ResultChan() {
		o, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
		interfaces, _, _ := unstructured.NestedSlice(o.Object, "status", "interfaces")
		if phase == string(v1alpha1.MachineRunning) && len(interfaces) > 0 {
			s.seen <- sighting{o.GetName(), time.Now()}
		}
	}
}

// until is how long after each machine was first seen its request reported it, in
// ascending order.
func (s *sightings) until(reported map[string]time.Time) (lags []time.Duration) {
	first := map[string]time.Time{}
	for len(first) < len(reported) {
		one := <-s.seen
		if _, known := first[one.name]; !known {
			first[one.name] = one.at
		}
	}
	for name, at := range reported {
		lags = append(lags, max(at.Sub(first[name]), 0))
	}
	slices.Sort(lags)
	return lags
}
