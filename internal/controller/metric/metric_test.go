// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// began is when the trackers of tests begin.
var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newRegistry(t *testing.T) (*prometheus.Registry, *Metrics) {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	m, err := In(r)
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// values are those of a registry: name and labels, and a number.
func values(t *testing.T, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			all[key] = valueOf(f.GetType(), m)
		}
	}
	return all
}

func valueOf(kind dto.MetricType, m *dto.Metric) float64 {
	switch kind {
	case dto.MetricType_COUNTER:
		return m.GetCounter().GetValue()
	case dto.MetricType_HISTOGRAM:
		return m.GetHistogram().GetSampleSum()
	default:
		return m.GetGauge().GetValue()
	}
}

func TestControllersOfOneProcessShareTheMetrics(t *testing.T) {
	r, a := newRegistry(t)
	if b, err := In(r); err != nil || a != b {
		t.Errorf("other metrics, %v", err)
	}
}

func TestCallsAndRetriesAreCountedByKindOfError(t *testing.T) {
	r, m := newRegistry(t)
	refused := provider.Unauthorized.New("x", provider.ReasonCredentialsRefused, nil, "")
	m.Called(v1alpha1.ProviderAWS, "connect", time.Now(), nil)
	m.Called(v1alpha1.ProviderAWS, "connect", time.Now(), refused)
	m.Called(v1alpha1.ProviderAWS, "connect", time.Now(), errors.New("no answer"))
	m.Retried(&v1alpha1.MachineRequest{}, v1alpha1.ProviderAWS, refused)
	m.Retried(&v1alpha1.MachineRequest{}, v1alpha1.ProviderAWS, nil)
	got := values(t, r)
	maps.DeleteFunc(got, func(key string, _ float64) bool { return strings.Contains(key, "duration") })
	want := map[string]float64{
		"butler_platform_calls_total connect ok aws":                   1,
		"butler_platform_calls_total connect Unauthorized aws":         1,
		"butler_platform_calls_total connect Unavailable aws":          1,
		"butler_request_retries_total Unauthorized MachineRequest aws": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestGaugesEndWithTheirObjects(t *testing.T) {
	r, m := newRegistry(t)
	pool := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p"}}
	pool.Status.AvailableIPs, pool.Status.AllocatedIPs, pool.Status.RestingIPs = 5, 2, 1
	m.Pool(pool)
	m.Orphans(v1alpha1.ProviderGCP, "n/config", 3)
	want := map[string]float64{
		"butler_networkpool_addresses n p free": 5, "butler_networkpool_addresses n p allocated": 2,
		"butler_networkpool_addresses n p resting": 1, "butler_orphans gcp n/config": 3,
	}
	if diff := cmp.Diff(want, values(t, r)); diff != "" {
		t.Error(diff)
	}
	m.ForgetPool("n", "p")
	m.ForgetOrphans(v1alpha1.ProviderGCP, "n/config")
	if left := values(t, r); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestWithoutMetricsNothingIsRecorded(*testing.T) {
	var m *Metrics
	m.Called(v1alpha1.ProviderAWS, "connect", time.Now(), nil)
	m.Retried(&v1alpha1.MachineRequest{}, v1alpha1.ProviderAWS, errors.New("x"))
	m.Orphans(v1alpha1.ProviderAWS, "c", 1)
	m.ForgetOrphans(v1alpha1.ProviderAWS, "c")
	m.Pool(&v1alpha1.NetworkPool{})
	m.ForgetPool("n", "p")
}

// follow adds a tracker of MachineRequests, whose clock is now.
func follow(m *Metrics, now *time.Time) *tracker {
	t := &tracker{
		metrics: m, began: began, now: func() time.Time { return *now }, seen: map[types.UID]state{},
		phases: Phases{Of: func(o client.Object) (string, string, bool) {
			return "aws", string(o.(*v1alpha1.MachineRequest).Status.Phase), len(o.GetFinalizers()) > 0
		}},
	}
	m.add(t)
	return t
}

func machine(uid string, created time.Duration, phase v1alpha1.MachinePhase) *v1alpha1.MachineRequest {
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{
		UID: types.UID(uid), CreationTimestamp: metav1.NewTime(began.Add(created)), Finalizers: []string{"taken"},
	}}
	r.Status.Phase = phase
	return r
}

func TestPhasesAreCountedAndTimed(t *testing.T) {
	r, m := newRegistry(t)
	now := began
	tr := follow(m, &now)
	old, fresh, other := machine("old", -time.Hour, v1alpha1.MachineCreating), machine("new", time.Second, v1alpha1.MachinePending), machine("other", 0, v1alpha1.MachineCreating)
	other.Finalizers = nil
	for _, o := range []*v1alpha1.MachineRequest{old, fresh, other} {
		tr.OnAdd(o, true)
	}
	now = began.Add(4 * time.Second)
	tr.OnUpdate(nil, machine("old", -time.Hour, v1alpha1.MachineRunning)) // began before the process
	tr.OnUpdate(nil, machine("new", 0, v1alpha1.MachineCreating))         // 3 s of Pending
	now = began.Add(24 * time.Second)
	tr.OnUpdate(nil, machine("new", 0, v1alpha1.MachineCreating))
	tr.OnUpdate(nil, machine("new", 0, v1alpha1.MachineRunning)) // 20 s of Creating
	want := map[string]float64{
		"butler_objects MachineRequest Running aws":                 2,
		"butler_phase_duration_seconds MachineRequest Pending aws":  3,
		"butler_phase_duration_seconds MachineRequest Creating aws": 20,
	}
	if diff := cmp.Diff(want, values(t, r)); diff != "" {
		t.Error(diff)
	}
	now = began.Add(30 * time.Second)
	released := machine("new", 0, v1alpha1.MachineRunning)
	released.Finalizers, released.DeletionTimestamp = nil, &metav1.Time{Time: now}
	tr.OnUpdate(nil, released) // 6 s of Running
	tr.OnDelete(toolscache.DeletedFinalStateUnknown{Obj: released})
	moved := machine("old", -time.Hour, v1alpha1.MachineRunning)
	moved.Finalizers = nil
	tr.OnUpdate(nil, moved) // to another controller: the phase does not end
	if got := values(t, r)["butler_phase_duration_seconds MachineRequest Running aws"]; got != 6 {
		t.Errorf("Running took %v s", got)
	}
	if n := len(tr.seen); n != 0 {
		t.Errorf("%d objects are remembered", n)
	}
	m.remove(tr)
	for key := range values(t, r) {
		if strings.HasPrefix(key, "butler_objects") {
			t.Errorf("%s is left", key)
		}
	}
}

// Names follow Prometheus' conventions: the prefix, the unit, and total for counters.
func TestDefinitionsAreAsRegistered(t *testing.T) {
	_, m := newRegistry(t)
	described := make(chan *prometheus.Desc, 32)
	m.Describe(described)
	close(described)
	var is []string
	for d := range described {
		is = append(is, regexp.MustCompile(`fqName: "([^"]*)".*variableLabels: \{(.*)\}`).ReplaceAllString(strings.TrimSuffix(d.String(), "}"), "$1 $2"))
	}
	var want []string
	for _, d := range Definitions() {
		want = append(want, fmt.Sprintf("Desc{%s %s", d.Name, strings.Join(d.Labels, ",")))
		if strings.HasSuffix(d.Name, "_total") != (d.Type == "counter") || strings.HasSuffix(d.Name, "_seconds") != (d.Type == "histogram") || !strings.HasPrefix(d.Name, "butler_") {
			t.Errorf("%s is no name of a %s", d.Name, d.Type)
		}
	}
	slices.Sort(is)
	slices.Sort(want)
	if diff := cmp.Diff(want, is); diff != "" {
		t.Error(diff)
	}
}
