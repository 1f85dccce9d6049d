// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

const clusterID = "7c1f5a52-0000-4000-8000-000000000001"

// bootstrap creates the ClusterBootstrap mgmt, behind a fence or not.
func (w *fixture) bootstrap(fenced bool) *v1alpha1.ClusterBootstrap {
	w.Helper()
	cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Namespace, Name: "mgmt", Annotations: map[string]string{v1alpha1.AnnotationClusterID: clusterID},
	}}
	if fenced {
		cb.Annotations[v1alpha1.AnnotationFenced] = "the cluster looks after itself"
	}
	cb.Spec.Provider, cb.Spec.ProviderRef.Name = v1alpha1.ProviderHarvester, "config"
	cb.Spec.Cluster = v1alpha1.ClusterSpec{
		Name: "mgmt", Topology: v1alpha1.TopologySingleNode,
		ControlPlane: v1alpha1.NodePool{Replicas: 1, CPU: 4, MemoryMB: 8192, DiskGB: 50},
	}
	cb.Spec.Network = v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", VIP: "10.40.0.100"}
	cb.Spec.Talos = v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: "abc"}
	w.Must(w.Create(w.Context(), cb))
	return cb
}

// ofBootstrap makes a request that of the ClusterBootstrap mgmt.
func ofBootstrap(r *v1alpha1.MachineRequest) {
	r.Labels = map[string]string{v1alpha1.LabelClusterBootstrap: "mgmt", v1alpha1.LabelCluster: "mgmt"}
	r.Annotations = map[string]string{v1alpha1.AnnotationClusterID: clusterID}
}

// lift takes the fence away.
func (w *fixture) lift(cb *v1alpha1.ClusterBootstrap) {
	w.Helper()
	base := cb.DeepCopy()
	delete(cb.Annotations, v1alpha1.AnnotationFenced)
	w.Must(w.Patch(w.Context(), cb, client.MergeFrom(base)))
}

// passes waits until a request that is not behind the fence has come up, which
// shows that those before it have, too.
func (w *fixture) passes(name string) {
	w.Helper()
	w.phase(w.request(name), v1alpha1.MachineRunning)
}

// calls is how often the platform was asked for anything about machines.
func (w *fixture) calls() int {
	n := 0
	for _, op := range []inmemory.Op{inmemory.Observe, inmemory.Create, inmemory.Delete, inmemory.List} {
		n += w.platform.Calls(op)
	}
	return n
}

func TestBehindAFenceNothingIsDoneUntilItGoes(t *testing.T) {
	w := newFixture(t, inmemory.Options{Push: true})
	w.Configure()
	cb := w.bootstrap(true)
	r := w.request("a", ofBootstrap)
	w.Nudge()
	w.passes("free")
	if _, made := w.platform.Spec("a"); made {
		t.Error("a machine was made behind the fence")
	}
	version := r.ResourceVersion
	w.Must(w.read(r))
	if r.ResourceVersion != version || len(r.Finalizers) > 0 {
		t.Errorf("the request was written: %+v", r)
	}
	w.lift(cb)
	w.phase(r, v1alpha1.MachineRunning)
	if spec, _ := w.platform.Spec("a"); spec.Owner.Cluster != "mgmt" || spec.Owner.ClusterID != clusterID {
		t.Errorf("the machine belongs to %+v", spec.Owner)
	}
}

func TestADeletionBehindAFenceWaitsForTheOneInCharge(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	cb := w.bootstrap(false)
	r := w.request("a", ofBootstrap)
	w.phase(r, v1alpha1.MachineRunning)
	base := cb.DeepCopy()
	cb.Annotations[v1alpha1.AnnotationFenced] = "the cluster looks after itself"
	w.Must(w.Patch(w.Context(), cb, client.MergeFrom(base)))
	w.stop()
	w.start() // with a cache that has the fence
	w.passes("free")
	before := w.calls()
	w.Must(w.Delete(w.Context(), r))
	w.Nudge()
	w.Await(func() error { // the other request comes up again
		if w.calls() == before {
			return errors.New("not asked yet")
		}
		return nil
	})
	w.Must(w.read(r))
	if r.Status.Phase != v1alpha1.MachineRunning || w.platform.Calls(inmemory.Delete) != 0 {
		t.Errorf("phase %s, %d deletes were sent", r.Status.Phase, w.platform.Calls(inmemory.Delete))
	}
	w.machines(2)
	w.lift(cb)
	w.Gone(r)
	w.machines(1)
}

func TestAFenceHoldsForRequestsThatComeWithIt(t *testing.T) {
	w := idleFixture(t, api, inmemory.New(inmemory.Options{}))
	w.Configure()
	w.start()
	w.passes("free")
	// The cache hears of both at about the same time, in any order.
	cb := w.bootstrap(true)
	var all []*v1alpha1.MachineRequest
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		all = append(all, w.request(name, ofBootstrap))
	}
	w.passes("late")
	w.machines(2)
	for _, r := range all {
		version := r.ResourceVersion
		w.Must(w.read(r))
		if r.ResourceVersion != version {
			t.Errorf("%s was written: %+v", r.Name, r.Status)
		}
	}
	w.lift(cb)
	for _, r := range all {
		w.phase(r, v1alpha1.MachineRunning)
	}
}

func TestAFenceIsForItsOwnClusterOnly(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	w.bootstrap(true)
	w.phase(w.request("other", ofBootstrap, func(r *v1alpha1.MachineRequest) {
		r.Annotations[v1alpha1.AnnotationClusterID] = "another"
	}), v1alpha1.MachineRunning)
	w.phase(w.request("nobodys", ofBootstrap, func(r *v1alpha1.MachineRequest) {
		r.Labels[v1alpha1.LabelClusterBootstrap] = "gone"
	}), v1alpha1.MachineRunning)
}
