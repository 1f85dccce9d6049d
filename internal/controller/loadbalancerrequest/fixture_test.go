// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

type reconciler = request.Reconciler[*v1alpha1.LoadBalancerRequest, v1alpha1.LoadBalancerPhase, provider.LoadBalancer]

var api *rest.Config

func TestMain(m *testing.M) { controllertest.Main(m, &api) }

// fixture is a namespace with a reconciler of its own over an in-memory platform.
type fixture struct {
	*controllertest.Fixture
	platform *inmemory.Platform
}

func newFixture(t *testing.T, o inmemory.Options) *fixture {
	t.Helper()
	return newFixtureOn(t, inmemory.New(o))
}

func newFixtureOn(t *testing.T, p *inmemory.Platform) *fixture {
	t.Helper()
	return newFixtureWith(t, p, p.Provider(v1alpha1.ProviderHarvester))
}

func newFixtureWith(t *testing.T, p *inmemory.Platform, driver provider.Provider) *fixture {
	t.Helper()
	w := &fixture{controllertest.New(t, api), p}
	m := w.Manager()
	s := session.New(session.Options{
		Provider: driver, Cache: m.GetClient(), Live: m.GetAPIReader(),
	})
	w.Must(m.Add(s))
	w.Must(Register(m, request.Options{Type: v1alpha1.ProviderHarvester, Sessions: s}))
	controllertest.Run(t, m)
	return w
}

func targets(names ...string) []v1alpha1.LoadBalancerTarget {
	var all []v1alpha1.LoadBalancerTarget
	for i, name := range names {
		all = append(all, v1alpha1.LoadBalancerTarget{InstanceName: name, InstanceID: "id-" + name, IP: fmt.Sprintf("10.0.0.%d", i+1)})
	}
	return all
}

func (w *fixture) request(name string, names ...string) *v1alpha1.LoadBalancerRequest {
	w.Helper()
	l := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	l.Spec.ClusterName, l.Spec.ProviderConfigRef.Name = "mgmt", "config"
	l.Spec.Targets = targets(names...)
	w.Must(w.Create(w.Context(), l))
	return l
}

func (w *fixture) read(l *v1alpha1.LoadBalancerRequest) error {
	return w.Get(w.Context(), client.ObjectKeyFromObject(l), l)
}

// phase waits until the request is in the phase and its Ready condition has the reason.
func (w *fixture) phase(l *v1alpha1.LoadBalancerRequest, want v1alpha1.LoadBalancerPhase, reason string) {
	w.Helper()
	w.Await(func() error {
		if err := w.read(l); err != nil {
			return err
		}
		if got := request.ReadyReason(l.Status.Conditions); l.Status.Phase != want || got != reason {
			return fmt.Errorf("phase %q, reason %q, want %q, %q: %+v", l.Status.Phase, got, want, reason, l.Status.Conditions)
		}
		return nil
	})
}
