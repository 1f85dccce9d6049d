// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// TestManagerEndsBeforeItsCacheIsInSync: the store of a plane may die while the
// controllers are only starting.
func TestManagerEndsBeforeItsCacheIsInSync(t *testing.T) {
	asked := make(chan struct{}, 100)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		http.Error(w, "the store is gone", http.StatusServiceUnavailable)
	}))
	defer api.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := newManager(ctx, t, api)
	started := make(chan error, 1)
	go func() { started <- m.Start(ctx) }()
	informed := make(chan error, 1)
	go func() {
		_, err := m.GetCache().GetInformer(ctx, &corev1.Secret{})
		informed <- err
	}()
	within(t, asked) // the cache is being filled, in vain
	cancel()
	if err := within(t, started); err != nil {
		t.Errorf("it ended with %v", err)
	}
	within(t, informed)
}

// within returns what a channel delivers before long.
func within[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("it continues")
	}
	return v
}

// newManager knows Secrets, and no other kind.
func newManager(ctx context.Context, t *testing.T, api *httptest.Server) manager.Manager {
	t.Helper()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	m, err := manager.New(&rest.Config{Host: api.URL}, manager.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"}, NewCache: NewCache(ctx),
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, meta.RESTScopeNamespace)
			return mapper, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// emptyStore has no Secrets, once it opens.
func emptyStore(open *atomic.Bool, asked chan<- struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !open.Load():
			http.Error(w, "the store is closed", http.StatusServiceUnavailable)
		case r.URL.Query().Get("watch") == "":
			fmt.Fprint(w, `{"kind": "SecretList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}`)
		default:
			fmt.Fprint(w, `{"type": "BOOKMARK", "object": {"kind": "Secret", "apiVersion": "v1", "metadata": {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}}`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	})
}

func TestReadyMeansThatWhatIsReadIsThere(t *testing.T) {
	open, asked := &atomic.Bool{}, make(chan struct{}, 1)
	api := httptest.NewServer(emptyStore(open, asked))
	defer api.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := newManager(ctx, t, api)
	ready := func() error { return synced(m.GetCache())(httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody)) }
	within := func(why string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ready() != nil; { // each try waits for a moment
			if time.Now().After(deadline) {
				t.Fatal(why)
			}
		}
	}
	if ready() == nil {
		t.Error("it is ready before it has started")
	}
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	within("it is not ready, and reads nothing")
	informed := make(chan error, 1)
	go func() {
		_, err := m.GetCache().GetInformer(ctx, &corev1.Secret{})
		informed <- err
	}()
	<-asked
	if ready() == nil {
		t.Error("it is ready without what it reads")
	}
	open.Store(true)
	within("it is not ready with all that it reads")
	err := <-informed
	cancel()
	if err := errors.Join(err, <-ended); err != nil {
		t.Error(err)
	}
}
