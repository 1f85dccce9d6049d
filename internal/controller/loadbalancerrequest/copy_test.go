// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

func TestACopyOfARequestTouchesNothing(t *testing.T) {
	w := newFixture(t, cloud)
	w.Configure()
	l := w.request("lb", "a")
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	c := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Namespace, Name: "copy", Annotations: maps.Clone(l.Annotations), Finalizers: l.Finalizers,
	}, Spec: l.Spec}
	w.Must(w.Create(t.Context(), c))
	w.phase(c, v1alpha1.LoadBalancerFailed, "OwnerTaken")
	w.Must(w.Delete(t.Context(), c))
	w.Gone(c)
	w.Event(c, "OwnerTaken")
	w.Nudge()
	w.phase(w.request("later", "a"), v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	w.phase(l, v1alpha1.LoadBalancerReady, "LoadBalancerReady")
	if n := w.platform.Calls(inmemory.DeleteLoadBalancer); n != 0 || len(w.platform.LoadBalancers()) != 2 {
		t.Errorf("%d deletes were sent, the platform has %+v", n, w.platform.LoadBalancers())
	}
}
