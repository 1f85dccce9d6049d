// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build charts

package registry_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
)

// realCharts is the variable with the directory of the charts, as butleradm addons pull writes
// it.
const realCharts = "BUTLER_TEST_CHARTS"

// realShelf has the real charts, manifests and components of a directory.
type realShelf struct {
	*source.Source

	missing, present map[string]bool
}

func openShelf(t *testing.T) *realShelf {
	t.Helper()
	dir := os.Getenv(realCharts)
	if dir == "" {
		t.Fatalf("%s names no directory of charts; make test-real-charts DIR=… does", realCharts)
	}
	s, err := source.New(source.Options{Charts: dir})
	if err != nil {
		t.Fatal(err)
	}
	shelf := &realShelf{Source: s, missing: map[string]bool{}, present: map[string]bool{}}
	t.Cleanup(func() {
		t.Logf("looked at %s; not in %s: %s", keys(shelf.present), dir, keys(shelf.missing))
		if len(shelf.present) == 0 {
			t.Errorf("%s has none of the addons", dir)
		}
	})
	return shelf
}

func keys(m map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(m)), ", ") }

// fetch returns an addon; false: it is not in the directory.
func (s *realShelf) fetch(t *testing.T, a addon.Addon) (source.Content, bool) {
	t.Helper()
	name := a.Key + " " + a.Version
	got, err := s.Fetch(t.Context(), a, required)
	if absent := (*source.Absent)(nil); errors.As(err, &absent) {
		s.missing[name] = true
		return got, false
	}
	if err != nil {
		t.Fatal(err)
	}
	s.present[name] = true
	return got, true
}

// content are the objects of an addon as they reach a cluster; none if it is not there.
func (s *realShelf) content(t *testing.T, a addon.Addon) []*unstructured.Unstructured {
	t.Helper()
	got, ok := s.fetch(t, a)
	if !ok || got.Chart == nil {
		return got.Objects
	}
	values := copied(t, a.Values)
	if err := util.ProcessDependencies(got.Chart, values); err != nil {
		t.Fatalf("%s: %v", a.Key, err)
	}
	out, err := render(got.Chart, a.Release, a.Namespace.Name, values)
	if err != nil {
		t.Fatalf("%s: %v", a.Key, err)
	}
	for _, f := range got.Chart.CRDObjects() {
		objects, err := parse(f.File.Data)
		if err != nil {
			t.Fatalf("%s: %v", a.Key, err)
		}
		out = append(out, objects...)
	}
	return out
}

// every calls look for each addon of all scenarios.
func every(t *testing.T, look func(*testing.T, addon.Addon)) {
	t.Helper()
	specs := scenarios()
	specs["ipv6"] = ipv6()
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		t.Run(name, func(t *testing.T) {
			for _, a := range addons(t, specs[name]) {
				look(t, a)
			}
		})
	}
}

// TestRealChartsKnowOurValues: a value that a chart does not know has no effect, and Helm does
// not complain.
func TestRealChartsKnowOurValues(t *testing.T) {
	s := openShelf(t)
	every(t, func(t *testing.T, a addon.Addon) {
		got, ok := s.fetch(t, a)
		if !ok || got.Chart == nil {
			return
		}
		for _, path := range leaves(a.Values, nil) {
			if !knows(got.Chart, path) {
				t.Errorf("%s %s does not know %s", a.Source.Chart, a.Version, strings.Join(path, "."))
			}
		}
	})
}

// leaves are the paths of all values that are no mappings.
func leaves(values map[string]any, at []string) (out [][]string) {
	for name, v := range values {
		path := append(slices.Clone(at), name)
		if inner, ok := v.(map[string]any); ok {
			out = append(out, leaves(inner, path)...)
			continue
		}
		out = append(out, path)
	}
	return out
}

// knows reports whether a chart has a value at the path, takes any below it, or has it in one of
// its templates: defaults may be commented out.
func knows(c *chart.Chart, path []string) bool {
	for _, d := range c.Dependencies() {
		if len(path) > 1 && path[0] == d.Name() && knows(d, path[1:]) {
			return true
		}
	}
	inside := c.Values
	for i, step := range path {
		v, there := inside[step]
		next, isMap := v.(map[string]any)
		switch {
		case !there:
			return used(c, path)
		case i == len(path)-1, isMap && len(next) == 0, v == nil:
			return true
		case !isMap:
			return used(c, path)
		}
		inside = next
	}
	return true
}

func used(c *chart.Chart, path []string) bool {
	word := ".Values." + strings.Join(path, ".")
	for _, t := range c.Templates {
		if strings.Contains(string(t.Data), word) {
			return true
		}
	}
	return false
}

// TestRealChartsHaveWhatReadinessAsksFor: an addon that waits for an object under a wrong name
// would never be ready.
func TestRealChartsHaveWhatReadinessAsksFor(t *testing.T) {
	s := openShelf(t)
	every(t, func(t *testing.T, a addon.Addon) {
		objects := s.content(t, a)
		if len(objects) == 0 {
			return
		}
		there := located(objects, a.Namespace.Name)
		for _, want := range wanted(a) {
			if there[want] == nil && !slices.Contains(madeByPrograms(), want) {
				t.Errorf("%s %s: no %s; there are %q", a.Key, a.Version, want, slices.Sorted(maps.Keys(there)))
			}
		}
	})
}

// madeByPrograms are in no chart: a program creates them, which internal/sim/upstream plays.
func madeByPrograms() []string {
	const home = "longhorn-system"
	return []string{
		key("CustomResourceDefinition", "", "ciliumnetworkpolicies.cilium.io"), key("CustomResourceDefinition", "", "ciliumnodes.cilium.io"),
		key("DaemonSet", home, "longhorn-csi-plugin"), key("Deployment", home, "csi-attacher"), key("Deployment", home, "csi-provisioner"),
		key("Deployment", home, "csi-resizer"), key("Deployment", home, "csi-snapshotter"),
		key("ValidatingWebhookConfiguration", "", "longhorn-webhook-validator"), key("MutatingWebhookConfiguration", "", "longhorn-webhook-mutator"),
		key("StorageClass", "", "longhorn"), key("CSIDriver", "", "driver.longhorn.io"),
	}
}
