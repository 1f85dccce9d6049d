// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
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

type reconciler = request.Reconciler[*v1alpha1.MachineRequest, v1alpha1.MachinePhase, provider.Machine]

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

// await retries check until it returns nil; it gives up after ten seconds.
func await(check func() error) error {
	var err error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = check(); err == nil {
			return nil
		}
	}
	return err
}

// fixture is a namespace with a reconciler of its own over an in-memory platform.
type fixture struct {
	testing.TB
	client.Client
	ctx       context.Context
	api       *rest.Config
	ns        string
	elsewhere string // a second namespace that is watched, if any
	platform  *inmemory.Platform
	// others are platforms of further ProviderConfigs, by name.
	others map[string]*inmemory.Platform
	clock  *clock
	stop   func()
}

type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func newFixture(tb testing.TB, o inmemory.Options) *fixture {
	tb.Helper()
	w := idleFixture(tb, api, inmemory.New(o))
	w.stop = w.start()
	return w
}

// idleFixture is a fixture without a reconciler so far.
func idleFixture(tb testing.TB, api *rest.Config, p *inmemory.Platform) *fixture {
	tb.Helper()
	c, err := client.New(api, client.Options{Scheme: scheme()})
	if err != nil {
		tb.Fatal(err)
	}
	w := &fixture{TB: tb, Client: c, ctx: tb.Context(), api: api, platform: p, clock: &clock{}}
	w.ns = w.namespace()
	return w
}

func (w *fixture) namespace() string {
	w.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	w.must(w.Create(w.ctx, ns))
	return ns.Name
}

// start runs a reconciler until the test ends or the returned function is called.
func (w *fixture) start() (stop func()) {
	w.Helper()
	m, err := manager.New(w.api, manager.Options{
		Scheme: scheme(), Metrics: server.Options{BindAddress: "0"},
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{w.ns: {}, cmp.Or(w.elsewhere, w.ns): {}},
			DefaultTransform:  cache.TransformStripManagedFields(),
		},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	w.must(err)
	s := session.New(session.Options{
		Provider: provider.Provider{Type: v1alpha1.ProviderHarvester, Connect: w.connect}, Cache: m.GetClient(), Live: m.GetAPIReader(),
	})
	w.must(m.Add(s))
	w.must(Register(m, request.Options{Type: v1alpha1.ProviderHarvester, Sessions: s, Clock: w.clock.now}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
	w.Cleanup(stop)
	return stop
}

// connect connects to the platform of the ProviderConfig.
func (w *fixture) connect(ctx context.Context, c provider.Config) (provider.Platform, error) {
	p := w.platform
	if other := w.others[c.Name]; other != nil {
		p = other
	}
	return p.Provider(v1alpha1.ProviderHarvester).Connect(ctx, c)
}

func (w *fixture) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// configure creates Secret and ProviderConfig.
func (w *fixture) configure() {
	w.Helper()
	w.must(w.Create(w.ctx, w.secret()))
	w.must(w.Create(w.ctx, w.config(v1alpha1.ProviderHarvester)))
}

func (w *fixture) secret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "credentials"},
		StringData: map[string]string{"kubeconfig": "x"},
	}
}

func (w *fixture) config(t v1alpha1.ProviderType) *v1alpha1.ProviderConfig {
	c := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "config"}}
	c.Spec.Provider = t
	c.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "credentials"}
	switch t {
	case v1alpha1.ProviderHarvester:
		c.Spec.Harvester = &v1alpha1.HarvesterSpec{NetworkName: "default/workloads"}
	case v1alpha1.ProviderProxmox:
		c.Spec.Proxmox = &v1alpha1.ProxmoxSpec{Endpoint: "https://pve.example", Nodes: []string{"a"}, Storage: "local"}
	default:
		w.Fatalf("no config for %s", t)
	}
	return c
}

func (w *fixture) request(name string, change ...func(*v1alpha1.MachineRequest)) *v1alpha1.MachineRequest {
	w.Helper()
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
	r.Spec = v1alpha1.MachineRequestSpec{
		ProviderRef: v1alpha1.ProviderReference{Name: "config"}, MachineName: name,
		Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20,
	}
	for _, f := range change {
		f(r)
	}
	w.must(w.Create(w.ctx, r))
	return r
}

// read reads the request again.
func (w *fixture) read(r *v1alpha1.MachineRequest) error {
	return w.Get(w.ctx, client.ObjectKeyFromObject(r), r)
}

// phase waits until the request is in the phase.
func (w *fixture) phase(r *v1alpha1.MachineRequest, want v1alpha1.MachinePhase) {
	w.Helper()
	w.must(await(func() error {
		if err := w.read(r); err != nil {
			return err
		}
		if r.Status.Phase != want {
			return fmt.Errorf("phase is %q, want %q; conditions %+v", r.Status.Phase, want, r.Status.Conditions)
		}
		return nil
	}))
}

// reason waits until the Ready condition has the reason.
func (w *fixture) reason(r *v1alpha1.MachineRequest, want string) {
	w.Helper()
	w.must(await(func() error {
		if err := w.read(r); err != nil {
			return err
		}
		if got := request.ReadyReason(r.Status.Conditions); got != want {
			return fmt.Errorf("reason is %q, want %q; phase %s", got, want, r.Status.Phase)
		}
		return nil
	}))
}

func (w *fixture) gone(o client.Object) {
	w.Helper()
	w.must(await(func() error {
		err := w.Get(w.ctx, client.ObjectKeyFromObject(o), o)
		if err == nil {
			return fmt.Errorf("%s is still there, finalizers %v", o.GetName(), o.GetFinalizers())
		}
		return client.IgnoreNotFound(err)
	}))
}

// nudge changes the Secret, which makes every request come up again.
func (w *fixture) nudge() {
	w.Helper()
	s := w.secret()
	w.must(w.Get(w.ctx, client.ObjectKeyFromObject(s), s))
	s.Annotations = map[string]string{"nudge": time.Now().String()}
	w.must(w.Update(w.ctx, s))
}

// event waits for an event about the request.
func (w *fixture) event(r *v1alpha1.MachineRequest, reason string) {
	w.Helper()
	w.must(await(func() error {
		var list eventsv1.EventList
		if err := w.List(w.ctx, &list, client.InNamespace(w.ns)); err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.Regarding.UID == r.UID && e.Reason == reason {
				return nil
			}
		}
		return fmt.Errorf("no event %s among %d", reason, len(list.Items))
	}))
}

// asked waits until the platform was called so often.
func (w *fixture) asked(op inmemory.Op, n int) error {
	return await(func() error {
		if got := w.platform.Calls(op); got < n {
			return fmt.Errorf("%d calls of %s, want %d", got, op, n)
		}
		return nil
	})
}

// machines checks how many machines exist.
func (w *fixture) machines(want int) {
	w.Helper()
	if got := w.platform.Machines(); len(got) != want {
		w.Fatalf("%d machines exist, want %d: %+v", len(got), want, got)
	}
}
