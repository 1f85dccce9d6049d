// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

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

type reconciler = request.Reconciler[*v1alpha1.MachineRequest, v1alpha1.MachinePhase, provider.Machine]

var api *rest.Config

func TestMain(m *testing.M) { controllertest.Main(m, &api) }

// fixture is a namespace with a reconciler of its own over an in-memory platform.
type fixture struct {
	*controllertest.Fixture
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
	return &fixture{Fixture: controllertest.New(tb, api), platform: p, clock: &clock{}}
}

// start runs a reconciler until the test ends or the returned function is called.
func (w *fixture) start() (stop func()) {
	w.Helper()
	m := w.Manager(cmp.Or(w.elsewhere, w.Namespace))
	s := session.New(session.Options{
		Provider: provider.Provider{Type: v1alpha1.ProviderHarvester, Connect: w.connect}, Cache: m.GetClient(), Live: m.GetAPIReader(),
	})
	w.Must(m.Add(s))
	w.Must(Register(m, request.Options{Type: v1alpha1.ProviderHarvester, Sessions: s, Clock: w.clock.now}))
	return controllertest.Run(w, m)
}

// connect connects to the platform of the ProviderConfig.
func (w *fixture) connect(ctx context.Context, c provider.Config) (provider.Platform, error) {
	p := w.platform
	if other := w.others[c.Name]; other != nil {
		p = other
	}
	return p.Provider(v1alpha1.ProviderHarvester).Connect(ctx, c)
}

func (w *fixture) request(name string, change ...func(*v1alpha1.MachineRequest)) *v1alpha1.MachineRequest {
	w.Helper()
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	r.Spec = v1alpha1.MachineRequestSpec{
		ProviderRef: v1alpha1.ProviderReference{Name: "config"}, MachineName: name,
		Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20,
	}
	for _, f := range change {
		f(r)
	}
	w.Must(w.Create(w.Context(), r))
	return r
}

// read reads the request again.
func (w *fixture) read(r *v1alpha1.MachineRequest) error {
	return w.Get(w.Context(), client.ObjectKeyFromObject(r), r)
}

// phase waits until the request is in the phase.
func (w *fixture) phase(r *v1alpha1.MachineRequest, want v1alpha1.MachinePhase) {
	w.Helper()
	w.Await(func() error {
		if err := w.read(r); err != nil {
			return err
		}
		if r.Status.Phase != want {
			return fmt.Errorf("phase is %q, want %q; conditions %+v", r.Status.Phase, want, r.Status.Conditions)
		}
		return nil
	})
}

// reason waits until the Ready condition has the reason.
func (w *fixture) reason(r *v1alpha1.MachineRequest, want string) {
	w.Helper()
	w.Await(func() error {
		if err := w.read(r); err != nil {
			return err
		}
		if got := request.ReadyReason(r.Status.Conditions); got != want {
			return fmt.Errorf("reason is %q, want %q; phase %s", got, want, r.Status.Phase)
		}
		return nil
	})
}

// asked waits until the platform was called so often.
func (w *fixture) asked(op inmemory.Op, n int) error {
	return controllertest.Await(func() error {
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
