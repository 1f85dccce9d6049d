// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"net/http"
	"net/http/httptest"
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
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
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
	started := make(chan error, 1)
	go func() { started <- m.Start(ctx) }()
	informed := make(chan error, 1)
	go func() {
		_, err := m.GetCache().GetInformer(ctx, &corev1.Secret{})
		informed <- err
	}()
	<-asked // the cache is being filled, in vain
	cancel()
	select {
	case err := <-started:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	<-informed
}
