// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

type reconciler = request.Reconciler[*v1alpha1.LoadBalancerRequest, v1alpha1.LoadBalancerPhase, provider.LoadBalancer]

var api *rest.Config

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(planetest.Run(m, plane.Options{AdmissionOff: []string{"ServiceAccount"}}, func(p *plane.Plane) {
		api = p.Config()
		api.QPS = -1
	}))
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

// fixture is a namespace with a reconciler of its own over an in-memory platform.
type fixture struct {
	*testing.T
	client.Client
	ns       string
	platform *inmemory.Platform
}

func newFixture(t *testing.T, o inmemory.Options) *fixture {
	t.Helper()
	return newFixtureOn(t, inmemory.New(o))
}

func newFixtureOn(t *testing.T, p *inmemory.Platform) *fixture {
	t.Helper()
	c, err := client.New(api, client.Options{Scheme: scheme()})
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{T: t, Client: c, platform: p}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	w.must(c.Create(t.Context(), ns))
	w.ns = ns.Name
	w.start()
	return w
}

// start runs a reconciler until the test ends.
func (w *fixture) start() {
	w.Helper()
	m, err := manager.New(api, manager.Options{
		Scheme: scheme(), Metrics: server.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{w.ns: {}}},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	w.must(err)
	s := session.New(session.Options{
		Provider: w.platform.Provider(v1alpha1.ProviderHarvester), Cache: m.GetClient(), Live: m.GetAPIReader(),
	})
	w.must(m.Add(s))
	w.must(Register(m, request.Options{Type: v1alpha1.ProviderHarvester, Sessions: s}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	w.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
}

func (w *fixture) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// await retries check until it returns nil; it gives up after twenty seconds.
func (w *fixture) await(check func() error) {
	w.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	w.Fatal(err)
}

// configure creates Secret and ProviderConfig.
func (w *fixture) configure() {
	w.Helper()
	w.must(w.Create(w.Context(), w.secret()))
	w.must(w.Create(w.Context(), w.config(v1alpha1.ProviderHarvester)))
}

func (w *fixture) secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "credentials"}, StringData: map[string]string{"kubeconfig": "x"}}
}

func (w *fixture) config(t v1alpha1.ProviderType) *v1alpha1.ProviderConfig {
	c := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "config"}}
	c.Spec.Provider = t
	c.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "credentials"}
	if t == v1alpha1.ProviderProxmox {
		c.Spec.Proxmox = &v1alpha1.ProxmoxSpec{Endpoint: "https://pve.example", Nodes: []string{"a"}, Storage: "local"}
		return c
	}
	c.Spec.Harvester = &v1alpha1.HarvesterSpec{NetworkName: "default/workloads"}
	return c
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
	l := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
	l.Spec.ClusterName, l.Spec.ProviderConfigRef.Name = "mgmt", "config"
	l.Spec.Targets = targets(names...)
	w.must(w.Create(w.Context(), l))
	return l
}

func (w *fixture) read(l *v1alpha1.LoadBalancerRequest) error {
	return w.Get(w.Context(), client.ObjectKeyFromObject(l), l)
}

// phase waits until the request is in the phase and its Ready condition has the reason.
func (w *fixture) phase(l *v1alpha1.LoadBalancerRequest, want v1alpha1.LoadBalancerPhase, reason string) {
	w.Helper()
	w.await(func() error {
		if err := w.read(l); err != nil {
			return err
		}
		if got := request.ReadyReason(l.Status.Conditions); l.Status.Phase != want || got != reason {
			return fmt.Errorf("phase %q, reason %q, want %q, %q: %+v", l.Status.Phase, got, want, reason, l.Status.Conditions)
		}
		return nil
	})
}

func (w *fixture) gone(o client.Object) {
	w.Helper()
	w.await(func() error {
		err := w.Get(w.Context(), client.ObjectKeyFromObject(o), o)
		if err == nil {
			return fmt.Errorf("%s is still there, finalizers %v", o.GetName(), o.GetFinalizers())
		}
		return client.IgnoreNotFound(err)
	})
}

// nudge changes the Secret, which makes every request come up again.
func (w *fixture) nudge() {
	w.Helper()
	s := w.secret()
	w.must(w.Get(w.Context(), client.ObjectKeyFromObject(s), s))
	s.Annotations = map[string]string{"nudge": time.Now().String()}
	w.must(w.Update(w.Context(), s))
}

// event waits for an event about the request.
func (w *fixture) event(l *v1alpha1.LoadBalancerRequest, reason string) {
	w.Helper()
	w.await(func() error {
		var list eventsv1.EventList
		if err := w.List(w.Context(), &list, client.InNamespace(w.ns)); err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.Regarding.UID == l.UID && e.Reason == reason {
				return nil
			}
		}
		return fmt.Errorf("no event %s among %d", reason, len(list.Items))
	})
}
