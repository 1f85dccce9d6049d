// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/butlerdotdev/butler/internal/addon"
)

const (
	// atOnce bounds how many objects are applied side by side.
	atOnce = 8
	// newKind bounds the wait for a kind that was just defined: every API server
	// learns of it by itself.
	newKind      = 15 * time.Second
	newKindProbe = 200 * time.Millisecond
)

// applyAll applies objects server-side, in their order: first those that others
// live in or are of, then the rest. Objects of one kind that follow each other
// go side by side.
func (c *connection) applyAll(ctx context.Context, objects []*unstructured.Unstructured, namespace string) error {
	var first, rest []*unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() == "Namespace" || isDefinition(o) {
			first = append(first, o)
		} else {
			rest = append(rest, o)
		}
	}
	for _, group := range append(runs(first), runs(rest)...) {
		if err := c.applyGroup(ctx, group, namespace); err != nil {
			return err
		}
	}
	return nil
}

// runs cuts objects where the kind changes.
func runs(objects []*unstructured.Unstructured) (out [][]*unstructured.Unstructured) {
	for i, o := range objects {
		if i == 0 || o.GroupVersionKind() != objects[i-1].GroupVersionKind() {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], o)
	}
	return out
}

func (c *connection) applyGroup(ctx context.Context, objects []*unstructured.Unstructured, namespace string) error {
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, o := range objects {
		g.Go(func() error { return c.applyOne(inner, o, namespace) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if names := definitionNames(objects); len(names) > 0 {
		return c.awaitDefinitions(ctx, names)
	}
	return nil
}

// applyOne applies an object. One without a namespace, of a kind that has them,
// goes to the given one.
func (c *connection) applyOne(ctx context.Context, o *unstructured.Unstructured, namespace string) error {
	mapping, err := c.mapping(ctx, o)
	if err != nil {
		return fmt.Errorf("apply %s: %w", objectName(o, namespace), err)
	}
	to := c.dynamic.Resource(mapping.Resource).Namespace("")
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		o = inNamespace(o, namespace)
		to = c.dynamic.Resource(mapping.Resource).Namespace(o.GetNamespace())
	}
	if _, err := to.Apply(ctx, o.GetName(), o, force()); err != nil {
		return fmt.Errorf("apply %s: %w", objectName(o, ""), err)
	}
	return nil
}

// mapping finds the resource of an object's kind, which may be a new one.
func (c *connection) mapping(ctx context.Context, o *unstructured.Unstructured) (found *meta.RESTMapping, err error) {
	kind := o.GroupVersionKind()
	ended := wait.PollUntilContextTimeout(ctx, newKindProbe, newKind, true, func(context.Context) (bool, error) {
		found, err = c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if meta.IsNoMatchError(err) {
			c.mapper.Reset()
			return false, nil
		}
		return true, err
	})
	if err == nil {
		err = ended
	}
	return found, err
}

func inNamespace(o *unstructured.Unstructured, namespace string) *unstructured.Unstructured {
	if o.GetNamespace() != "" {
		return o
	}
	if namespace == "" {
		namespace = "default"
	}
	o = o.DeepCopy()
	o.SetNamespace(namespace)
	return o
}

// objectName names an object to people.
func objectName(o *unstructured.Unstructured, namespace string) string {
	return refName(addon.Ref{Kind: o.GetKind(), Namespace: cmp.Or(o.GetNamespace(), namespace), Name: o.GetName()})
}

func refName(r addon.Ref) string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// listed are those objects of an addon's source that must stay on the cluster:
// workloads, definitions, and what its readiness names.
func listed(a addon.Addon, objects []*unstructured.Unstructured) (out []addon.Ref) {
	named := slices.Concat(a.Ready.Webhooks, a.Ready.Exist)
	for _, o := range objects {
		r := addon.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
		switch {
		case isWorkload(r):
			r.Namespace = cmp.Or(r.Namespace, a.Namespace.Name, "default")
			out = append(out, r)
		case isDefinition(o), slices.Contains(named, r):
			out = append(out, r)
		}
	}
	return out
}
