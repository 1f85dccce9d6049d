// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// set holds the objects that move, as on one plane.
type set map[ref]*unstructured.Unstructured

func (s set) add(o *unstructured.Unstructured) { s[refOf(o)] = o }

// refs returns the references in a fixed order.
func (s set) refs() []ref { return slices.SortedFunc(maps.Keys(s), compareRefs) }

func compareRefs(a, b ref) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// versions returns the resource versions, to detect later writes.
func (s set) versions() map[ref]string {
	out := make(map[ref]string, len(s))
	for r, o := range s {
		out[r] = string(o.GetUID()) + "/" + o.GetResourceVersion()
	}
	return out
}

func (s set) namespaces() []string {
	names := map[string]bool{}
	for r := range s {
		if r.Namespace != "" {
			names[r.Namespace] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// waves order the objects: each wave needs only those before it. The
// ClusterBootstrap is the first, because its fence holds for all the others; then
// what requests refer to; owners come before what they own.
func (s set) waves() ([][]ref, error) {
	owners := map[types.UID]ref{}
	for r, o := range s {
		owners[o.GetUID()] = r
	}
	level := map[ref]int{}
	var out [][]ref
	for _, r := range s.refs() {
		n, err := s.level(r, owners, level, nil)
		if err != nil {
			return nil, err
		}
		for len(out) <= n {
			out = append(out, nil)
		}
		out[n] = append(out[n], r)
	}
	return out, nil
}

func (s set) level(r ref, owners map[types.UID]ref, known map[ref]int, path []ref) (int, error) {
	if n, ok := known[r]; ok {
		return n, nil
	}
	if slices.Contains(path, r) {
		return 0, finalf("the owner references of %s form a cycle; remove one of them", r)
	}
	n := rank(r.Kind)
	for _, reference := range s[r].GetOwnerReferences() {
		owner, ok := owners[reference.UID]
		if !ok {
			continue
		}
		above, err := s.level(owner, owners, known, append(path, r))
		if err != nil {
			return 0, err
		}
		n = max(n, above+1)
	}
	known[r] = n
	return n, nil
}

func rank(kind string) int {
	switch kind {
	case bootstrapKind:
		return 0
	case providerKind:
		return 1
	case secretKind:
		return 2
	}
	return 3
}

// read collects what is to move.
func (r *run) read(ctx context.Context) (set, error) {
	var out set
	err := r.retry(ctx, func() (err error) {
		out, err = r.readOnce(ctx)
		return err
	})
	return out, err
}

func (r *run) readOnce(ctx context.Context) (set, error) {
	out, rest := set{}, set{}
	all, err := listAll(r.kinds, func(k kind) ([]*unstructured.Unstructured, error) { return r.list(ctx, r.from, k) })
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if r.moves(o) {
			out.add(o)
		} else {
			rest.add(o)
		}
	}
	for _, o := range slices.Collect(maps.Values(out)) {
		for kind, is := range map[string]func(string) bool{providerKind: isProviderReference, poolKind: isPoolReference} {
			for _, key := range references(o, is) {
				if p, ok := rest[ref{kind, key.Namespace, key.Name}]; ok {
					out.add(p)
				}
			}
		}
	}
	if err := r.stillThere(out); err != nil {
		return nil, err
	}
	return out, r.addSecrets(ctx, out)
}

// stillThere returns an error if the ClusterBootstrap is gone, or another move has
// fenced it.
func (r *run) stillThere(s set) error {
	cb := s[r.bootstrapRef()]
	switch {
	case cb == nil || clusterID(cb) != r.clusterID:
		return finalf("ClusterBootstrap %s is gone from %s; nothing can be moved from there", r.Bootstrap, r.from.Name)
	case r.fencedByOther(cb):
		return errOtherMove
	}
	return nil
}

// moves reports whether an object is in the scope. Another ClusterBootstrap never is.
func (r *run) moves(o *unstructured.Unstructured) bool {
	if o.GetKind() == bootstrapKind {
		return client.ObjectKeyFromObject(o) == r.Bootstrap
	}
	return r.Scope == Everything || r.Scope == Namespace && o.GetNamespace() == r.Bootstrap.Namespace || r.belongs(o)
}

// belongs reports whether the ClusterBootstrap has created an object, or an object without a
// namespace has been created for it.
func (r *run) belongs(o *unstructured.Unstructured) bool {
	return o.GetLabels()[v1alpha1.LabelClusterBootstrap] == r.Bootstrap.Name && (o.GetNamespace() == r.Bootstrap.Namespace || o.GetNamespace() == "") &&
		clusterID(o) == r.clusterID
}

// addSecrets takes along the cluster's own Secrets, and those that anything refers to.
func (r *run) addSecrets(ctx context.Context, s set) error {
	own, err := r.secrets(ctx, r.from)
	if err != nil {
		return err
	}
	objects := slices.Collect(maps.Values(s))
	for _, o := range own {
		s.add(o)
	}
	absent := map[ref]bool{}
	for _, o := range objects {
		for _, key := range references(o, isSecretReference) {
			name := ref{secretKind, key.Namespace, key.Name}
			if err := r.addSecret(ctx, s, name, absent); err != nil {
				return err
			}
			if absent[name] && o.GetKind() == providerKind {
				return finalf("%s refers to %s, which does not exist; create it, or name another in spec.credentialsRef", refOf(o), name)
			}
		}
	}
	return nil
}

// addSecret takes along one Secret, or notes that it is absent: many objects may refer to it.
func (r *run) addSecret(ctx context.Context, s set, name ref, absent map[ref]bool) error {
	if s[name] != nil || absent[name] {
		return nil
	}
	secret, err := get(ctx, r.from, core(secretKind), client.ObjectKey{Namespace: name.Namespace, Name: name.Name})
	if err != nil {
		return err
	}
	if absent[name] = secret == nil; secret != nil {
		s.add(secret)
	}
	return nil
}

// secrets are the cluster's own: those with its id, as the bootstrap uses them. One
// that was restored by hand may lack the label.
func (r *run) secrets(ctx context.Context, side Plane) ([]*unstructured.Unstructured, error) {
	all, err := list(ctx, side, core(secretKind), client.InNamespace(r.Bootstrap.Namespace))
	return slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool { return clusterID(o) != r.clusterID }), err
}

func isProviderReference(field string) bool {
	return field == "providerRef" || field == "providerConfigRef"
}

func isPoolReference(field string) bool { return field == "poolRef" }

func isSecretReference(field string) bool {
	return field == "credentialsRef" || strings.HasSuffix(strings.ToLower(field), "secretref")
}

// references are what the spec of an object names in fields of the given kind. A
// reference without a namespace is to the object's own.
func references(o *unstructured.Unstructured, is func(field string) bool) (out []types.NamespacedName) {
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, field := range slices.Sorted(maps.Keys(v)) {
				if m, ok := v[field].(map[string]any); ok && is(field) {
					name, _ := m["name"].(string)
					namespace, _ := m["namespace"].(string)
					out = append(out, types.NamespacedName{Namespace: cmp.Or(namespace, o.GetNamespace()), Name: name})
				}
				walk(v[field])
			}
		}
	}
	walk(o.Object["spec"])
	return slices.DeleteFunc(out, func(key types.NamespacedName) bool { return key.Name == "" })
}

// listAll lists several kinds at the same time, and returns them in order.
func listAll(of []kind, list func(kind) ([]*unstructured.Unstructured, error)) ([]*unstructured.Unstructured, error) {
	var group errgroup.Group
	group.SetLimit(maxConcurrent)
	found := make([][]*unstructured.Unstructured, len(of))
	for i, k := range of {
		group.Go(func() (err error) {
			found[i], err = list(k)
			return err
		})
	}
	err := group.Wait()
	return slices.Concat(found...), err
}

// list is empty where a plane does not know the kind; that it does not is seen from
// its definitions, not from a list that went wrong.
func (r *run) list(ctx context.Context, s Plane, k kind, options ...client.ListOption) ([]*unstructured.Unstructured, error) {
	all, err := list(ctx, s, k.GroupVersionKind, options...)
	if !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return all, err
	}
	definition, failed := get(ctx, s, definitionKind, types.NamespacedName{Name: k.definition})
	if failed != nil || definition != nil {
		return nil, err
	}
	return nil, nil
}

func list(ctx context.Context, s Plane, k schema.GroupVersionKind, options ...client.ListOption) ([]*unstructured.Unstructured, error) {
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(k)
	if err := s.Client.List(ctx, all, options...); err != nil {
		return nil, err
	}
	out := make([]*unstructured.Unstructured, len(all.Items))
	for i := range all.Items {
		out[i] = &all.Items[i]
		out[i].SetGroupVersionKind(k)
	}
	return out, nil
}

// get returns nil for what is not there.
func get(ctx context.Context, s Plane, k schema.GroupVersionKind, key types.NamespacedName) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(k)
	err := s.Client.Get(ctx, key, o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return o, err
}
