// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package orphan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
	"github.com/butlerdotdev/butler/internal/controller/metric"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

var api *rest.Config

func TestMain(m *testing.M) { controllertest.Main(m, &api) }

// fixture is a namespace with a ClusterBootstrap, and a sweeper that a test drives.
type fixture struct {
	*controllertest.Fixture
	*Sweeper
	registry *prometheus.Registry
	id       string // of the cluster
	platform *inmemory.Platform
	recorded *events.FakeRecorder
	ahead    time.Duration // of the clock
	later    time.Duration // by the machine's own clock
	sick     error         // what the API server says about itself
	failing  error         // what it answers to a live list
	listed   func()
	lists    int // live ones
	cb       *v1alpha1.ClusterBootstrap
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{Fixture: controllertest.New(t, api), id: uuid.NewString(), platform: inmemory.New(inmemory.Options{LoadBalancers: true})}
	w.Configure()
	w.cb = w.bootstrap("mgmt")
	w.restart(false)
	return w
}

func (w *fixture) bootstrap(name string) *v1alpha1.ClusterBootstrap {
	w.Helper()
	cb := w.Bootstrap(name, w.id)
	cb.Finalizers = []string{v1alpha1.FinalizerClusterBootstrap}
	w.Must(w.Create(w.Context(), cb))
	return cb
}

// restart begins with a sweeper that remembers nothing.
func (w *fixture) restart(remove bool) {
	live := interceptor.NewClient(w.WithWatch, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			w.lists++
			if _, metadata := list.(*metav1.PartialObjectMetadataList); !metadata {
				w.Errorf("a live list of %T", list)
			}
			if w.listed != nil {
				w.listed()
			}
			if w.failing != nil {
				return w.failing
			}
			return c.List(ctx, list, opts...)
		},
	})
	w.registry = prometheus.NewRegistry()
	recorded, err := metric.In(w.registry)
	w.Must(err)
	w.recorded = events.NewFakeRecorder(100)
	sessions := session.New(session.Options{Provider: w.platform.Provider(v1alpha1.ProviderHarvester), Cache: w.WithWatch, Live: w.WithWatch})
	w.Sweeper = &Sweeper{
		Options: Options{
			Options: request.Options{
				Type: v1alpha1.ProviderHarvester, Sessions: sessions, Clock: func() time.Time { return time.Now().Add(w.ahead) }, Metrics: recorded,
			},
			Delete: remove, Grace: DefaultGrace, Every: time.Nanosecond,
		},
		Client: w.WithWatch, Live: live, Events: w.recorded, own: func() time.Time { return time.Now().Add(w.later) },
		Healthy: func(context.Context) error { return w.sick },
	}
}

// annotate changes an annotation of the ClusterBootstrap.
func (w *fixture) annotate(key, value string) {
	w.Helper()
	base := w.cb.DeepCopy()
	w.cb.Annotations[key] = value
	w.Must(w.Patch(w.Context(), w.cb, client.MergeFrom(base)))
}

// pause has nothing of the cluster changed.
func (w *fixture) pause() {
	w.Helper()
	base := w.cb.DeepCopy()
	w.cb.Spec.Paused = true
	w.Must(w.Patch(w.Context(), w.cb, client.MergeFrom(base)))
}

// orphans sweeps as often, and returns what the status says then.
func (w *fixture) orphans(sweeps int) []v1alpha1.Orphan {
	w.Helper()
	c := w.Config(v1alpha1.ProviderHarvester)
	for range sweeps {
		w.Must(w.Get(w.Context(), client.ObjectKeyFromObject(c), c))
		if r, err := w.Reconcile(w.Context(), c); err != nil || r.RequeueAfter == 0 {
			w.Fatalf("%+v, %v", r, err)
		}
	}
	w.Must(w.Get(w.Context(), client.ObjectKeyFromObject(c), c))
	return c.Status.Orphans
}

// events are what was recorded since the last time.
func (w *fixture) events() []string {
	var all []string
	for {
		select {
		case e := <-w.recorded.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}

// gauged is what the metric says.
func (w *fixture) gauged() float64 {
	w.Helper()
	families, err := w.registry.Gather()
	w.Must(err)
	for _, f := range families {
		if f.GetName() == "butler_orphans" && len(f.GetMetric()) == 1 {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	w.Error("there is no butler_orphans")
	return 0
}

// plant puts a machine of the cluster in place that no request owns.
func (w *fixture) plant(name string) {
	w.platform.CreateConflict(provider.MachineRef{Name: name, Owner: w.owner(name)})
}

func (w *fixture) owner(id string) provider.Owner {
	return provider.Owner{ID: id, ClusterID: w.id, Cluster: "mgmt"}
}

func TestOrphansAreReportedAtTheSecondSightingAndWhenTheyAreGone(t *testing.T) {
	w := newFixture(t)
	w.plant("a")
	w.platform.CreateConflictingLoadBalancer(provider.LoadBalancerRef{Name: "b", Owner: w.owner("b")})
	w.platform.CreateConflict(provider.MachineRef{Name: "other", Owner: provider.Owner{ID: "s", ClusterID: "other", Cluster: "mgmt"}})
	w.platform.CreateConflict(provider.MachineRef{Name: "nobodys"})
	if got := w.orphans(1); len(got) != 0 || len(w.events()) != 0 {
		t.Fatalf("after one sighting: %+v", got)
	}
	got := w.orphans(1)
	if len(got) != 2 || got[0].Name != "b" || got[1].Name != "a" || got[1].Parts != 2 || got[1].Cluster != "mgmt" || got[1].FirstSeen.IsZero() {
		t.Errorf("after two sightings: %+v", got)
	}
	if recorded := w.events(); len(recorded) != 2 || recorded[1] != fmt.Sprintf("Warning Orphaned machine \"a\" is on the platform, but no request owns it since %s; see status.orphans of ProviderConfig config", got[1].FirstSeen.UTC().Format(time.RFC3339)) {
		t.Errorf("recorded %q", recorded)
	}
	if n := w.gauged(); n != 2 {
		t.Errorf("the metric says %v", n)
	}
	w.restart(false)
	c := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	w.orphans(3)
	version := c.ResourceVersion
	w.Must(w.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	if recorded := w.events(); len(recorded) != 0 || c.ResourceVersion != version {
		t.Errorf("nothing has changed, but recorded %q, and version %s became %s", recorded, version, c.ResourceVersion)
	}
	w.platform.Remove("a")
	if got := w.orphans(1); len(got) != 1 || got[0].Kind != v1alpha1.OrphanLoadBalancer || w.gauged() != 1 {
		t.Errorf("after one is gone: %+v", got)
	}
	if recorded := w.events(); len(recorded) != 1 || recorded[0][:len("Normal OrphanGone")] != "Normal OrphanGone" {
		t.Errorf("recorded %q", recorded)
	}
	if w.platform.Calls(inmemory.Delete) != 0 {
		t.Error("something was deleted without the flag")
	}
}

func TestWhatARequestAsksForMeanwhileIsNoOrphan(t *testing.T) {
	w := newFixture(t)
	n := 0
	w.plant("r1")
	// The request of what is on the platform comes while the sweep is under way: after
	// the platform was listed, and after the cache was read.
	w.listed = func() {
		n++
		r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: fmt.Sprint("r", n), Annotations: map[string]string{v1alpha1.AnnotationOwnerID: fmt.Sprint("r", n)},
		}, Spec: v1alpha1.MachineRequestSpec{
			ProviderRef: v1alpha1.ProviderReference{Name: "config"}, MachineName: fmt.Sprint("r", n),
			Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20,
		}}
		w.Must(w.Create(t.Context(), r))
		w.plant(fmt.Sprint("r", n+1))
	}
	if got := w.orphans(4); len(got) != 0 || n < 4 {
		t.Errorf("%d requests came, and these are orphans: %+v", n, got)
	}
}

func TestOrphansAreDeletedAfterTheGraceOnly(t *testing.T) {
	w := newFixture(t)
	w.restart(true)
	w.plant("a")
	w.platform.CreateConflictingLoadBalancer(provider.LoadBalancerRef{Name: "b", Owner: w.owner("b")})
	w.platform.CreateConflict(provider.MachineRef{Name: "other", Owner: provider.Owner{ID: "s", ClusterID: "other", Cluster: "mgmt"}})
	if got := w.orphans(4); len(got) != 2 || w.platform.Calls(inmemory.Delete) != 0 {
		t.Fatalf("%+v, %d deletes", got, w.platform.Calls(inmemory.Delete))
	}
	w.ahead = DefaultGrace + time.Second
	if w.orphans(2); w.platform.Calls(inmemory.Delete) != 0 {
		t.Error("deleted as the clock was put forward")
	}
	w.later = DefaultGrace + time.Second
	w.restart(true) // what this process has not seen for as long stays
	if w.orphans(2); w.platform.Calls(inmemory.Delete) != 0 {
		t.Error("deleted at first sight")
	}
	w.later += DefaultGrace
	if got := w.orphans(2); len(got) != 0 {
		t.Errorf("left: %+v", got)
	}
	if left := w.platform.Machines(); len(left) != 1 || left[0].Ref.Name != "other" || len(w.platform.LoadBalancers()) != 0 {
		t.Errorf("left on the platform: %+v, %+v", left, w.platform.LoadBalancers())
	}
	if recorded := w.events(); len(recorded) != 4 {
		t.Errorf("recorded %q", recorded)
	}
}

func TestWhatGoesByTheNameOfAnotherClusterIsThatOnes(t *testing.T) {
	w := newFixture(t)
	w.restart(true)
	w.platform.CreateConflict(provider.MachineRef{Name: "other-cp-0", Owner: provider.Owner{ID: "o", ClusterID: w.id, Cluster: "other"}})
	w.platform.CreateConflictingLoadBalancer(provider.LoadBalancerRef{Name: "other-api", Owner: provider.Owner{ID: "l", ClusterID: w.id, Cluster: "other"}})
	w.platform.CreateConflict(provider.MachineRef{Name: "nameless", Owner: provider.Owner{ID: "n", ClusterID: w.id}})
	if got := w.orphans(2); len(got) != 1 || got[0].Name != "nameless" {
		t.Errorf("orphans are %+v", got)
	}
	w.ahead, w.later = DefaultGrace+time.Second, DefaultGrace+time.Second
	w.orphans(2)
	if len(w.platform.Machines()) != 1 || len(w.platform.LoadBalancers()) != 1 {
		t.Errorf("left on the platform: %+v, %+v", w.platform.Machines(), w.platform.LoadBalancers())
	}
}

func TestWhatCannotBeDeletedKeepsNothingElseFromGoing(t *testing.T) {
	w := newFixture(t)
	w.restart(true)
	w.platform.CreateConflict(provider.MachineRef{Name: "paused", Owner: w.owner("0")})
	w.pause()
	w.id = uuid.NewString()
	w.cb = w.bootstrap("second")
	at := provider.Owner{ClusterID: w.id, Cluster: "second"}
	for _, id := range []string{"1", "2"} {
		at.ID = id
		w.platform.CreateConflict(provider.MachineRef{Name: "m" + id, Owner: at})
		w.platform.CreateConflictingLoadBalancer(provider.LoadBalancerRef{Name: "b" + id, Owner: at})
	}
	w.orphans(2)
	w.events()
	w.ahead, w.later = DefaultGrace+time.Second, DefaultGrace+time.Second
	w.platform.Refuse(&provider.Error{Kind: provider.Unavailable, Reason: "Locked", Op: "delete", Err: errors.New("100% locked")}, inmemory.DeleteLoadBalancer)
	if got := w.orphans(3); len(got) != 3 {
		t.Errorf("orphans are %+v", got)
	}
	if left := w.platform.Machines(); len(left) != 1 || left[0].Ref.Name != "paused" || len(w.platform.LoadBalancers()) != 2 {
		t.Errorf("left on the platform: %+v, %+v", left, w.platform.LoadBalancers())
	}
	recorded := map[string]int{}
	for _, e := range w.events() {
		recorded[strings.Fields(e)[1]]++
		if strings.Contains(e, "OrphanKept") && (!strings.HasPrefix(e, "Warning") || !strings.Contains(e, "cannot be deleted so far: delete: 100% locked")) {
			t.Errorf("recorded %q", e)
		}
	}
	if diff := cmp.Diff(map[string]int{"OrphanDeleting": 4, "OrphanKept": 2, "OrphanGone": 2}, recorded); diff != "" {
		t.Error(diff)
	}
	w.platform.Lift()
	if w.orphans(1); len(w.platform.LoadBalancers()) != 0 {
		t.Error("what was refused has to be seen again")
	}
	if len(w.platform.Machines()) != 1 {
		t.Error("the paused cluster's is gone")
	}
}

func TestNothingIsDeletedInDoubt(t *testing.T) {
	gone := &provider.Error{Kind: provider.Unavailable, Reason: "Down", Op: "list"}
	doubts := map[string]func(*fixture){
		"the API server is not ready":       func(w *fixture) { w.sick = errors.New("not ready") },
		"the requests cannot be listed":     func(w *fixture) { w.failing = errors.New("etcd has no leader") },
		"the platform cannot be listed":     func(w *fixture) { w.platform.Refuse(gone, inmemory.List) },
		"the balancers cannot be listed":    func(w *fixture) { w.platform.Refuse(gone, inmemory.ListLoadBalancers) },
		"it is a copy, perhaps of a backup": func(w *fixture) { w.annotate(v1alpha1.AnnotationClaimedBy, "another") },
		"another plane is in charge":        func(w *fixture) { w.annotate(v1alpha1.AnnotationFenced, "moved") },
		"the fence comes during the sweep":  func(w *fixture) { w.listed = func() { w.annotate(v1alpha1.AnnotationFenced, "moved") } },
		"the cluster is being deleted":      func(w *fixture) { w.Must(w.WithWatch.Delete(w.Context(), w.cb)) },
		"the cluster is paused":             func(w *fixture) { w.pause() },
		"another cluster has the same id":   func(w *fixture) { w.bootstrap("copy") },
		"the deletion comes during the sweep": func(w *fixture) {
			w.listed = func() { w.Must(w.WithWatch.Delete(w.Context(), w.cb)) }
		},
	}
	for name, doubt := range doubts {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.plant("a")
			w.orphans(2)
			w.ahead = DefaultGrace + time.Second
			w.restart(true)
			w.orphans(1)
			w.later = DefaultGrace + time.Second
			doubt(w)
			w.orphans(3)
			if n := w.platform.Calls(inmemory.Delete); n != 0 {
				t.Errorf("%d deletes were sent", n)
			}
			if len(w.platform.Machines()) != 1 {
				t.Error("the machine is gone")
			}
		})
	}
}

func TestCopiesAreReportedAndNeverDeleted(t *testing.T) {
	w := newFixture(t)
	w.restart(true)
	w.plant("a")
	if !w.platform.Clone("a", "forensic") {
		t.Fatal("there is nothing to copy")
	}
	w.platform.Remove("a")
	w.orphans(2)
	w.ahead, w.later = DefaultGrace+time.Second, DefaultGrace+time.Second
	got := w.orphans(2)
	if len(got) != 1 || got[0].Kind != v1alpha1.OrphanCopy || got[0].Name != "forensic" || w.gauged() != 0 {
		t.Errorf("%+v, %v orphans", got, w.gauged())
	}
	if len(w.platform.Sightings("forensic")) != 1 || w.platform.Calls(inmemory.Delete) != 0 {
		t.Errorf("%d deletes, left %+v", w.platform.Calls(inmemory.Delete), w.platform.Machines())
	}
	if said := w.events(); len(said) != 1 || !strings.HasPrefix(said[0], "Normal Copied ") {
		t.Errorf("events %q", said)
	}
}

func TestRequestsAreReadLiveOnlyIfTheCacheLacksOne(t *testing.T) {
	w := newFixture(t)
	w.plant("a")
	w.Must(w.Create(w.Context(), &v1alpha1.MachineRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "a", Annotations: map[string]string{v1alpha1.AnnotationOwnerID: "a"}},
		Spec: v1alpha1.MachineRequestSpec{
			ProviderRef: v1alpha1.ProviderReference{Name: "config"}, MachineName: "a", Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20,
		},
	}))
	if got := w.orphans(3); len(got) != 0 || w.lists != 0 {
		t.Errorf("%+v with %d live lists", got, w.lists)
	}
	w.plant("b")
	if got := w.orphans(2); len(got) != 1 || got[0].ID != "b" || w.lists != 4 {
		t.Errorf("%+v with %d live lists", got, w.lists)
	}
}

func TestTwoLooksAreATimeApart(t *testing.T) {
	w := newFixture(t)
	w.Every = time.Hour
	w.plant("a")
	w.orphans(3)
	if n := w.platform.Calls(inmemory.List); n != 1 {
		t.Errorf("the platform was listed %d times", n)
	}
}

func TestAnotherPlatformIsNotSwept(t *testing.T) {
	w := newFixture(t)
	c := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	c.Status.Platform = "in-memory=another"
	w.Must(w.WithWatch.Status().Update(t.Context(), c))
	w.plant("left")
	w.restart(true)
	if found := w.orphans(3); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}
