// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// applied remembers what was applied, so that an object is written again only if it is wanted
// differently, or if another client has changed its spec. It is lost with the process: then
// everything is applied once more.
type applied struct {
	mu  sync.Mutex
	all map[string]mark
}

// mark is what was applied, and the generation that it became, or when it was.
type mark struct {
	hash       [sha256.Size]byte
	generation int64
	at         int64
}

func (a *applied) get(key string) mark {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[key]
}

func (a *applied) put(key string, m mark) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[string]mark{}
	}
	a.all[key] = m
}

// drop forgets an object.
func (a *applied) drop(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, key)
}

// forget drops what was applied in a namespace.
func (a *applied) forget(namespace string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key := range a.all {
		if len(key) > len(namespace) && key[:len(namespace)+1] == namespace+"/" {
			delete(a.all, key)
		}
	}
}

// apply writes the fields that this controller owns.
func (r *Reconciler) apply(ctx context.Context, o runtime.ApplyConfiguration) error {
	return r.Client.Apply(ctx, o, client.FieldOwner(Owner), client.ForceOwnership)
}

// keptKey names an object that is not watched.
type keptKey struct{ kind, namespace, name string }

func (k keptKey) String() string { return k.namespace + "/" + k.kind + "/" + k.name }

// applyKept applies an object that is not watched, unless it is as it was applied a while ago: by
// then another client may have changed or deleted it.
func (s *session) applyKept(ctx context.Context, key keptKey, content any, o runtime.ApplyConfiguration) error {
	data, err := json.Marshal(content)
	if err != nil || s.kept(key, string(data)) {
		return err
	}
	if err := s.apply(ctx, o); err != nil {
		return err
	}
	s.unchanged(key, string(data))
	return nil
}

// kept reports whether an object that is not watched had this content a while ago. A change of
// the cluster ends that.
func (s *session) kept(key keptKey, content string) bool {
	known := s.applied.get(key.String())
	return known.hash == sha256.Sum256([]byte(content)) && !s.respecified() && s.Clock().Sub(time.Unix(known.at, 0)) < keptFor
}

// unchanged records that an object that is not watched has this content.
func (s *session) unchanged(key keptKey, content string) {
	s.applied.put(key.String(), mark{hash: sha256.Sum256([]byte(content)), at: s.Clock().Unix()})
}

// applyObject applies an object of Cluster API, unless it is as it was applied.
func (r *Reconciler) applyObject(ctx context.Context, o *unstructured.Unstructured) error {
	data, err := json.Marshal(o.Object)
	if err != nil {
		return err
	}
	key := o.GetNamespace() + "/" + o.GroupVersionKind().String() + "/" + o.GetName()
	now, err := r.read(ctx, o.GroupVersionKind(), client.ObjectKeyFromObject(o))
	if err != nil {
		return err
	}
	hash := sha256.Sum256(data)
	if now != nil && r.applied.get(key) == (mark{hash: hash, generation: now.GetGeneration()}) {
		return nil
	}
	written := o.DeepCopy()
	if err := r.apply(ctx, client.ApplyConfigurationFromUnstructured(written)); err != nil {
		return fmt.Errorf("apply %s %s/%s: %w", o.GetKind(), o.GetNamespace(), o.GetName(), err)
	}
	r.applied.put(key, mark{hash: hash, generation: written.GetGeneration()})
	return nil
}

// read returns an object of Cluster API, nil if there is none or its kind is not served.
func (r *Reconciler) read(ctx context.Context, kind schema.GroupVersionKind, key client.ObjectKey) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	err := r.Objects.Get(ctx, key, o)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind.Kind, key, err)
	}
	return o, nil
}

// list returns the objects of a kind in a namespace; none if the kind is not served.
func (r *Reconciler) list(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := r.Objects.List(ctx, list, client.InNamespace(namespace))
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s in %s: %w", kind.Kind, namespace, err)
	}
	return list.Items, nil
}

func text(o *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, path...)
	return value
}

func flag(o *unstructured.Unstructured, path ...string) bool {
	value, _, _ := unstructured.NestedBool(o.Object, path...)
	return value
}

func number(o *unstructured.Unstructured, path ...string) int64 {
	value, _, _ := unstructured.NestedInt64(o.Object, path...)
	return value
}

func applyConfiguration(o *unstructured.Unstructured) runtime.ApplyConfiguration {
	return client.ApplyConfigurationFromUnstructured(o.DeepCopy())
}
