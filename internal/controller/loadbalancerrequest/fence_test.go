// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

const clusterID = "7c1f5a52-0000-4000-8000-000000000001"

// bootstrap creates a ClusterBootstrap that another plane is in charge of.
func (w *fixture) bootstrap(name string) *v1alpha1.ClusterBootstrap {
	w.Helper()
	cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name, Annotations: map[string]string{
		v1alpha1.AnnotationClusterID: clusterID, v1alpha1.AnnotationFenced: "the cluster looks after itself",
	}}}
	cb.Spec.Provider, cb.Spec.ProviderRef.Name = v1alpha1.ProviderHarvester, "config"
	cb.Spec.Cluster = v1alpha1.ClusterSpec{
		Name: name, Topology: v1alpha1.TopologySingleNode,
		ControlPlane: v1alpha1.NodePool{Replicas: 1, CPU: 4, MemoryMB: 8192, DiskGB: 50},
	}
	cb.Spec.Network = v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", VIP: "10.40.0.100"}
	cb.Spec.Talos = v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: "abc"}
	w.Must(w.Create(w.Context(), cb))
	return cb
}

func TestBehindAFenceNothingIsDoneUntilItGoes(t *testing.T) {
	w := newFixture(t, inmemory.Options{LoadBalancers: true})
	w.Configure()
	cb := w.bootstrap("mgmt")
	held := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Namespace, Name: "held", Finalizers: []string{v1alpha1.FinalizerLoadBalancerRequest(v1alpha1.ProviderHarvester)},
		Labels:      map[string]string{v1alpha1.LabelClusterBootstrap: "mgmt"},
		Annotations: map[string]string{v1alpha1.AnnotationClusterID: clusterID, v1alpha1.AnnotationOwnerID: "owner"},
	}}
	held.Spec.ClusterName, held.Spec.ProviderConfigRef.Name, held.Spec.Targets = "mgmt", "config", targets("x")
	going := held.DeepCopy()
	going.Name, going.Annotations[v1alpha1.AnnotationOwnerID] = "going", "another"
	w.Must(w.Create(w.Context(), held))
	w.Must(w.Create(w.Context(), going))
	w.Must(w.Delete(w.Context(), going))
	w.Must(w.read(going))
	w.Nudge()
	w.phase(w.request("free", "x"), v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	for _, l := range []*v1alpha1.LoadBalancerRequest{held, going} {
		version := l.ResourceVersion
		w.Must(w.read(l))
		if l.ResourceVersion != version {
			t.Errorf("%s was written: %+v", l.Name, l)
		}
	}
	if all := w.platform.LoadBalancers(); len(all) != 1 || w.platform.Calls(inmemory.DeleteLoadBalancer) != 0 {
		t.Errorf("load balancers %+v", all)
	}
	base := cb.DeepCopy()
	delete(cb.Annotations, v1alpha1.AnnotationFenced)
	w.Must(w.Patch(w.Context(), cb, client.MergeFrom(base)))
	w.phase(held, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	w.Gone(going)
}

func TestAClusterThatManagesItselfKeepsItsLoadBalancer(t *testing.T) {
	w := newFixture(t, inmemory.Options{LoadBalancers: true})
	w.Configure()
	cb := w.bootstrap("mgmt")
	base := cb.DeepCopy()
	delete(cb.Annotations, v1alpha1.AnnotationFenced)
	cb.Annotations[v1alpha1.AnnotationPlane] = v1alpha1.PlaneSelf
	w.Must(w.Patch(w.Context(), cb, client.MergeFrom(base)))
	l := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Namespace, Name: "mgmt-cp-lb", Labels: map[string]string{v1alpha1.LabelClusterBootstrap: "mgmt"},
		Annotations: map[string]string{v1alpha1.AnnotationClusterID: clusterID},
	}}
	l.Spec.ClusterName, l.Spec.ProviderConfigRef.Name, l.Spec.Targets = "mgmt", "config", targets("x")
	w.Must(w.Create(w.Context(), l))
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	w.Must(w.Delete(w.Context(), l))
	w.phase(l, v1alpha1.LoadBalancerReady, "SelfHosted")
	w.Event(l, "SelfHosted")
	if n := w.platform.Calls(inmemory.DeleteLoadBalancer); n != 0 || len(w.platform.LoadBalancers()) != 1 {
		t.Errorf("%d deletes were sent, the platform has %+v", n, w.platform.LoadBalancers())
	}
}
