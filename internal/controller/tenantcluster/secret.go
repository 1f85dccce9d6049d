// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// keptFor is for how long an object that is not watched is taken to be as it was read or
// written. A change of the cluster, or an API server that does not answer, ends it at once.
const keptFor = atRest / 2

// secrets remembers Secrets of tenants: this controller may watch none, and a cluster that is
// being created is walked along many times.
type secrets struct {
	mu  sync.Mutex
	all map[types.NamespacedName]secret
}

type secret struct {
	data map[string][]byte
	read time.Time
}

func (s *secrets) get(key types.NamespacedName, now time.Time) (map[string][]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, has := s.all[key]
	return known.data, has && now.Sub(known.read) < keptFor
}

func (s *secrets) put(key types.NamespacedName, data map[string][]byte, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[types.NamespacedName]secret{}
	}
	s.all[key] = secret{data, now}
}

// forget drops the Secrets of a namespace.
func (s *secrets) forget(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.all {
		if key.Namespace == namespace {
			delete(s.all, key)
		}
	}
}

// tenantKey names an object in the tenant namespace.
func tenantKey(tc *v1alpha1.TenantCluster, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: tenantNamespace(tc), Name: name}
}

// respecified reports whether the spec has changed since the last walk.
func (s *session) respecified() bool { return s.Generation != s.Status.ObservedGeneration }

// secret reads a Secret of the tenant namespace; nil if there is none.
func (s *session) secret(ctx context.Context, name string) (map[string][]byte, error) {
	key := tenantKey(s.TenantCluster, name)
	if known, ok := s.secrets.get(key, s.Clock()); ok && !s.respecified() {
		return known, nil
	}
	found := &corev1.Secret{}
	err := s.Live.Get(ctx, key, found)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read Secret %s: %w", name, err)
	}
	if len(found.Data) > 0 {
		s.secrets.put(key, found.Data, s.Clock())
	}
	return found.Data, nil
}

// keepSecret writes a Secret of the tenant namespace.
func (s *session) keepSecret(ctx context.Context, name string, data map[string][]byte) error {
	key := tenantKey(s.TenantCluster, name)
	if err := s.apply(ctx, corev1ac.Secret(name, key.Namespace).WithLabels(s.labels()).WithData(data)); err != nil {
		return err
	}
	s.secrets.put(key, data, s.Clock())
	return nil
}
