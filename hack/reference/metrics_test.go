// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // it registers the metrics of controllers and their queues
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

func TestMetricsOfLibrariesExist(t *testing.T) {
	is := registered(t)
	for _, l := range libraries {
		labels, ok := is[l.name]
		if !ok {
			t.Errorf("no library registers %s", l.name)
		}
		if want := strings.NewReplacer("`", "", ", ", ",").Replace(l.labels); ok && !strings.Contains(labels, want) {
			t.Errorf("%s has the labels %q, not %q", l.name, labels, want)
		}
	}
}

// registered are the labels of the metrics of libraries, by name.
func registered(t *testing.T) map[string]string {
	t.Helper()
	all, ok := metrics.Registry.(prometheus.Collector)
	if !ok {
		t.Fatal("the registry does not describe itself")
	}
	descriptions := make(chan *prometheus.Desc, 1000)
	all.Describe(descriptions)
	close(descriptions)
	found := map[string]string{}
	pattern := regexp.MustCompile(`fqName: "([^"]*)".*variableLabels: \{(.*)\}\}$`)
	for d := range descriptions {
		if m := pattern.FindStringSubmatch(d.String()); m != nil {
			found[m[1]] = m[2]
		}
	}
	return found
}
