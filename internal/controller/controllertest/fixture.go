// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package controllertest is what the tests of controllers share: one API server for each
// package, and in it a namespace with a manager for each test.
package controllertest

import (
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
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// Main runs the tests of a package against an API server that api refers to. It is the
// body of a TestMain.
func Main(m *testing.M, api **rest.Config) {
	log.SetLogger(logr.Discard())
	os.Exit(planetest.Run(m, plane.Options{AdmissionOff: []string{"ServiceAccount"}}, func(p *plane.Plane) {
		*api = p.Config()
		(*api).QPS = -1
	}))
}

// Fixture is a namespace of its own.
type Fixture struct {
	testing.TB
	client.WithWatch
	API       *rest.Config
	Namespace string
}

// New creates a namespace.
func New(tb testing.TB, api *rest.Config) *Fixture {
	tb.Helper()
	f := &Fixture{TB: tb, API: api}
	scheme, err := program.Scheme()
	f.Must(err)
	f.WithWatch, err = client.NewWithWatch(api, client.Options{Scheme: scheme})
	f.Must(err)
	f.Namespace = f.NewNamespace()
	return f
}

// NewNamespace creates a further namespace and returns its name.
func (f *Fixture) NewNamespace() string {
	f.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	f.Must(f.Create(f.Context(), ns))
	return ns.Name
}

// Manager returns a manager that sees the namespace and further ones.
func (f *Fixture) Manager(further ...string) manager.Manager {
	f.Helper()
	seen := map[string]cache.Config{f.Namespace: {}}
	for _, name := range further {
		seen[name] = cache.Config{}
	}
	m, err := manager.New(f.API, manager.Options{
		Scheme: f.Scheme(), Metrics: server.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: seen, DefaultTransform: cache.TransformStripManagedFields()},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	f.Must(err)
	return m
}

// Run runs a manager until the test ends or the returned function is called.
func Run(tb testing.TB, m manager.Manager) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(stop)
	return stop
}

// Must ends the test with an error.
func (f *Fixture) Must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// Await retries check until it returns nil; it ends the test after twenty seconds.
func (f *Fixture) Await(check func() error) {
	f.Helper()
	f.Must(Await(check))
}

// Await retries check until it returns nil; it returns the last error after twenty
// seconds.
func Await(check func() error) (err error) {
	_ = wait.PollUntilContextTimeout(context.Background(), 25*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		err = check()
		return err == nil, nil
	})
	return err
}

// Gone waits until an object does not exist any more.
func (f *Fixture) Gone(o client.Object) {
	f.Helper()
	f.Await(func() error {
		err := f.Get(f.Context(), client.ObjectKeyFromObject(o), o)
		if err == nil {
			return fmt.Errorf("%s is still there, finalizers %v", o.GetName(), o.GetFinalizers())
		}
		return client.IgnoreNotFound(err)
	})
}

// Event waits for an event about an object.
func (f *Fixture) Event(about client.Object, reason string) {
	f.Helper()
	f.Await(func() error {
		var list eventsv1.EventList
		if err := f.List(f.Context(), &list, client.InNamespace(f.Namespace)); err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.Regarding.UID == about.GetUID() && e.Reason == reason {
				return nil
			}
		}
		return fmt.Errorf("no event %s among %d", reason, len(list.Items))
	})
}
