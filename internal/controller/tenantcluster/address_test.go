// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/tenant"
)

func TestControlPlanesBehindANameGetOneOfItsAddresses(t *testing.T) {
	const name = "a0-b1.elb.eu-central-1.amazonaws.com"
	addresses := []netip.Addr{netip.MustParseAddr("198.51.100.9"), netip.MustParseAddr("198.51.100.4")}
	for reason, tc := range map[string]struct {
		pinned  string
		ingress []corev1.LoadBalancerIngress
		names   map[string][]netip.Addr
		age     time.Duration
		want    string // the address
		waits   string // part of what it waits for
	}{
		"the lowest address of the name":       {ingress: named(name), names: map[string][]netip.Addr{name: addresses}, want: "198.51.100.4"},
		"one that was set is kept":             {pinned: "198.51.100.9", ingress: named(name), names: map[string][]netip.Addr{name: addresses}, want: "198.51.100.9"},
		"an address needs none":                {ingress: []corev1.LoadBalancerIngress{{IP: "198.51.100.7"}}},
		"a name that is not known yet":         {ingress: named(name), waits: "has no address yet: no such name"},
		"addresses of a classic one change":    {ingress: named("a0.eu-central-1.elb.amazonaws.com"), names: map[string][]netip.Addr{}, waits: "classic load balancer"},
		"a Service that is new":                {},
		"a Service that nothing gives address": {age: time.Minute, waits: "network.loadBalancerPool"},
	} {
		t.Run(reason, func(t *testing.T) {
			s := pinFixture(tc.ingress, tc.age, tc.names)
			found := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"network": map[string]any{"serviceAddress": tc.pinned}}}}
			o, err := s.pinAddress(t.Context(), found)
			if err != nil {
				t.Fatal(err)
			}
			if o == nil && s.unassigned {
				o = &step.Obstacle{Message: s.whyNoAddress(found)}
			}
			if s.input.ServiceAddress != tc.want || (o == nil) != (tc.waits == "") || o != nil && !strings.Contains(o.Message, tc.waits) {
				t.Errorf("address %q, %+v", s.input.ServiceAddress, o)
			}
		})
	}
}

func named(host string) []corev1.LoadBalancerIngress {
	return []corev1.LoadBalancerIngress{{Hostname: host}}
}

func pinFixture(ingress []corev1.LoadBalancerIngress, age time.Duration, names map[string][]netip.Addr) *session {
	now := time.Now()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "web-1", Name: "web", CreationTimestamp: metav1.NewTime(now.Add(-age))}}
	service.Status.LoadBalancer.Ingress = ingress
	tc := &v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	api := fake.NewClientBuilder().WithRESTMapper(exposureKinds()).WithObjects(service).Build()
	r := &Reconciler{
		Client: api, Objects: api, Watch: func(client.Object) error { return nil }, Clock: func() time.Time { return now },
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			if names[name] == nil {
				return nil, errors.New("no such name")
			}
			return names[name], nil
		},
	}
	return &session{TenantCluster: tc, Reconciler: r, input: tenant.Input{Cluster: tc, Namespace: "web-1", Provider: &v1alpha1.ProviderConfig{}}}
}

func TestMachinesOfAProviderWithoutConditionsAreExplainedByEvents(t *testing.T) {
	s := pinFixture(nil, 0, nil)
	s.provider = &v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{GCP: &v1alpha1.GCPSpec{}}}
	machine := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"name": "web-a"}}}}
	s.machines = []unstructured.Unstructured{machine}
	event := func(name, kind, message string, age time.Duration) *corev1.Event {
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "web-1", Name: name}, InvolvedObject: corev1.ObjectReference{Kind: kind, Name: "web-a"},
			Type: corev1.EventTypeWarning, Message: message, LastTimestamp: metav1.NewTime(time.Now().Add(-age)),
		}
	}
	index := func(f func(*corev1.Event) string) func(o client.Object) []string {
		return func(o client.Object) []string { return []string{f(o.(*corev1.Event))} }
	}
	s.Live = fake.NewClientBuilder().
		WithIndex(&corev1.Event{}, "type", index(func(e *corev1.Event) string { return e.Type })).
		WithIndex(&corev1.Event{}, "involvedObject.kind", index(func(e *corev1.Event) string { return e.InvolvedObject.Kind })).
		WithObjects(event("new", gcpMachine, "Reconcile error - quota exceeded", 0), event("old", gcpMachine, "Reconcile error - forbidden", time.Hour), event("other", "Machine", "else", 0)).
		Build()
	if err := s.readWarnings(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.troubleOf(&machine); got != ": Reconcile error - quota exceeded" {
		t.Errorf("%q", got)
	}
}
