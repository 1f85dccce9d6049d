// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// copy copies the objects of From to To. The objects that it creates are recorded first.
func (r *run) copy(ctx context.Context) error {
	s, err := r.read(ctx)
	if err != nil {
		return err
	}
	if err := r.movable(s); err != nil {
		return err
	}
	there, err := r.there(ctx, s)
	if err != nil {
		return err
	}
	r.planned(s, there)
	if err := r.enter(ctx, Copy); err != nil {
		return err
	}
	r.copied, r.uids = s, uidsOf(s, there)
	if err := r.createNamespaces(ctx, s); err != nil {
		return err
	}
	waves, err := s.waves()
	if err != nil {
		return err
	}
	for _, wave := range waves {
		replaced, err := r.copyWave(ctx, s, there, wave)
		if err != nil {
			return err
		}
		if replaced { // and with it perhaps others
			if there, err = r.there(ctx, s); err != nil {
				return err
			}
		}
	}
	r.progress(counted(len(s), "object") + " are copied")
	return r.removeLeft(ctx, s)
}

// copyWave reports whether an object had to be replaced.
func (r *run) copyWave(ctx context.Context, s, there set, wave []ref) (replaced bool, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxConcurrent)
	var lock sync.Mutex
	fresh := map[types.UID]types.UID{}
	for _, key := range wave {
		group.Go(func() error {
			uid, err := r.copyOne(ctx, s[key], there[key])
			lock.Lock()
			defer lock.Unlock()
			fresh[s[key].GetUID()] = uid
			return err
		})
	}
	err = group.Wait()
	for from, to := range fresh {
		known, ok := r.uids[from]
		replaced = replaced || ok && known != to
		r.uids[from] = to
	}
	return replaced, err
}

// copyOne copies one object. After an error it reads the object of To again.
func (r *run) copyOne(ctx context.Context, from, live *unstructured.Unstructured) (types.UID, error) {
	known := true
	err := r.retry(ctx, func() (err error) {
		if !known {
			if live, err = get(ctx, r.to, from.GroupVersionKind(), client.ObjectKeyFromObject(from)); err != nil {
				return err
			}
		}
		live, err = r.makeEqual(ctx, from, live)
		known = err == nil
		return err
	})
	if err != nil {
		return "", err
	}
	return live.GetUID(), nil
}

// makeEqual copies from the outside to the inside: the object, its deletion, its
// status and its field managers. It writes only what differs.
func (r *run) makeEqual(ctx context.Context, from, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live, err := r.putContent(ctx, from, live)
	if err != nil {
		return live, r.refused("copy", r.to, from, err)
	}
	if shared(from) {
		err = r.putManagers(ctx, from, live, true)
		return live, r.refused("copy managed fields of", r.to, from, err)
	}
	if live, err = r.putDeletion(ctx, from, live); err != nil {
		return live, r.refused("pass on the deletion of", r.to, from, err)
	}
	if err := r.putStatus(ctx, from, live); err != nil {
		return live, r.refused("copy the status of", r.to, from, err)
	}
	return live, r.refused("copy managed fields of", r.to, from, r.putManagers(ctx, from, live, false))
}

func (r *run) putContent(ctx context.Context, from, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil {
		return r.create(ctx, from)
	}
	want := r.wanted(from, live)
	if err := r.strange(from, live); err != nil {
		return live, err
	}
	if !shared(from) && from.GetDeletionTimestamp().IsZero() && !live.GetDeletionTimestamp().IsZero() {
		return r.replace(ctx, from, live)
	}
	if sameContent(want, live) {
		return live, nil
	}
	err := r.to.Client.Update(ctx, want, fieldOwner)
	if needsReplacement(want, live, err) {
		return r.replace(ctx, from, live)
	}
	return want, err
}

// create creates an object that To lacks. The claim of an owner id needs the UID, so it
// follows in a second write: that of the field managers, if one of them has claimed.
func (r *run) create(ctx context.Context, from *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	created := r.wanted(from, nil)
	if err := r.to.Client.Create(ctx, created, fieldOwner); err != nil || !claims(from) || claimer(r.managers(from)) != "" {
		return created, err
	}
	patch, err := annotate(created, map[string]any{v1alpha1.AnnotationClaimedBy: string(created.GetUID())})
	if err != nil {
		return created, err
	}
	return created, r.to.Client.Patch(ctx, created, patch, fieldOwner)
}

// putDeletion deletes on To what From is deleting; the finalizers hold it.
func (r *run) putDeletion(ctx context.Context, from, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if from.GetDeletionTimestamp().IsZero() || !live.GetDeletionTimestamp().IsZero() {
		return live, nil
	}
	if err := r.to.Client.Delete(ctx, live, client.Preconditions{UID: new(live.GetUID())}); err != nil {
		return live, err
	}
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(live.GroupVersionKind())
	return now, r.to.Client.Get(ctx, client.ObjectKeyFromObject(live), now)
}

func (r *run) putStatus(ctx context.Context, from, live *unstructured.Unstructured) error {
	have, _ := live.Object["status"].(map[string]any)
	want := status(from, live.GetGeneration())
	if reflect.DeepEqual(orEmpty(want), orEmpty(have)) {
		return nil
	}
	if want == nil {
		delete(live.Object, "status")
	} else {
		live.Object["status"] = want
	}
	return r.to.Client.Status().Update(ctx, live, fieldOwner)
}

// putManagers writes the field managers, and with them a claim that is missing, in the name
// of the manager that has claimed on From: another one would take the field from it.
func (r *run) putManagers(ctx context.Context, from, live *unstructured.Unstructured, appliedOnly bool) error {
	want, owner := r.managers(from), fieldOwner
	if claims(from) && !claims(live) {
		owner = client.FieldOwner(claimer(want))
		claim(live)
	} else if len(want) == 0 || sameManagers(want, live, appliedOnly) {
		return nil
	}
	if err := unstructured.SetNestedSlice(live.Object, want, "metadata", "managedFields"); err != nil {
		return err
	}
	if err := r.to.Client.Update(ctx, live, owner); err != nil || owner == fieldOwner || sameManagers(want, live, appliedOnly) {
		return err
	}
	return r.putManagers(ctx, from, live, appliedOnly) // another manager has claimed as well
}

func sameManagers(want []any, live *unstructured.Unstructured, appliedOnly bool) bool {
	have, _, _ := unstructured.NestedSlice(live.Object, "metadata", "managedFields")
	return reflect.DeepEqual(timeless(want, appliedOnly), timeless(have, appliedOnly))
}

// createNamespaces creates the namespaces that To lacks, as From has them.
func (r *run) createNamespaces(ctx context.Context, s set) error {
	for _, name := range s.namespaces() {
		if err := r.makeNamespace(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) makeNamespace(ctx context.Context, name string) error {
	key := types.NamespacedName{Name: name}
	return r.retry(ctx, func() error {
		live, err := get(ctx, r.to, core("Namespace"), key)
		if err != nil {
			return err
		}
		if live != nil {
			if !live.GetDeletionTimestamp().IsZero() {
				return finalf("namespace %s is being deleted on %s; wait until it is gone", name, r.to.Name)
			}
			return nil
		}
		from, err := get(ctx, r.from, core("Namespace"), key)
		if err != nil {
			return err
		}
		live = &unstructured.Unstructured{}
		live.SetGroupVersionKind(core("Namespace"))
		live.SetName(name)
		if from != nil {
			live.SetLabels(from.GetLabels())
			live.SetAnnotations(from.GetAnnotations())
		}
		return r.refused("create", r.to, live, r.to.Client.Create(ctx, live, fieldOwner))
	})
}

// removeLeft removes objects that an earlier attempt has created, and From no longer
// has. Keys that were on To before any move stay.
func (r *run) removeLeft(ctx context.Context, s set) error {
	left, err := r.left(ctx, s)
	if err != nil {
		return err
	}
	return r.removeAll(ctx, left)
}

// left returns the objects of the cluster that To has and From has not.
func (r *run) left(ctx context.Context, s set) (set, error) {
	out := set{}
	err := r.retry(ctx, func() error {
		clear(out)
		all, err := r.followers(ctx, r.to)
		if err != nil {
			return err
		}
		for key, o := range all {
			if s[key] == nil {
				out.add(o)
			}
		}
		for _, key := range r.journal.Made {
			if s[key] != nil {
				continue
			}
			o, err := get(ctx, r.to, r.kindOf(key), types.NamespacedName{Namespace: key.Namespace, Name: key.Name})
			if err != nil {
				return err
			}
			if o != nil && r.ours(o) {
				out.add(o)
			}
		}
		return nil
	})
	return out, err
}

// followers are the objects that a fence of the ClusterBootstrap holds for.
func (r *run) followers(ctx context.Context, side Plane) (set, error) {
	out := set{}
	following := slices.DeleteFunc(slices.Clone(r.kinds), func(k kind) bool {
		return k.Kind == bootstrapKind || k.Kind == providerKind || k.Kind == butlerKind
	})
	all, err := listAll(following, func(k kind) ([]*unstructured.Unstructured, error) {
		return r.list(ctx, side, k, client.InNamespace(r.Bootstrap.Namespace),
			client.MatchingLabels{v1alpha1.LabelClusterBootstrap: r.Bootstrap.Name})
	})
	for _, o := range all {
		if r.belongs(o) {
			out.add(o)
		}
	}
	return out, err
}

func (r *run) removeFollowers(ctx context.Context) error {
	all, err := r.followers(ctx, r.to)
	if err != nil {
		return err
	}
	return r.removeAll(ctx, all)
}

// removeAll removes objects from To, after it has checked again that To is not in charge.
func (r *run) removeAll(ctx context.Context, s set) error {
	if len(s) == 0 {
		return nil
	}
	if err := r.stillFenced(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxConcurrent)
	for _, o := range s {
		group.Go(func() error {
			return r.retry(ctx, func() error {
				now, err := get(ctx, r.to, o.GroupVersionKind(), client.ObjectKeyFromObject(o))
				if err != nil || now == nil {
					return err
				}
				return r.refused("remove", r.to, now, r.remove(ctx, r.to, now))
			})
		})
	}
	return group.Wait()
}

// stillFenced is an error if To is in charge: then nothing may be removed there.
func (r *run) stillFenced(ctx context.Context) error {
	cb, err := r.bootstrap(ctx, r.to)
	if err != nil || cb == nil {
		return err
	}
	if clusterID(cb) != r.clusterID || v1alpha1.Fenced(cb) {
		return nil
	}
	return finalf("%s is in charge of ClusterBootstrap %s; nothing is removed there", r.to.Name, r.Bootstrap)
}

// remove deletes an object without its finalizers, so that no controller acts on the
// deletion.
func (r *run) remove(ctx context.Context, side Plane, o *unstructured.Unstructured) error {
	if len(o.GetFinalizers()) > 0 {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": nil, "resourceVersion": o.GetResourceVersion()}})
		if err != nil {
			return err
		}
		o = o.DeepCopy()
		if err := side.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch), fieldOwner); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	err := side.Client.Delete(ctx, o, client.Preconditions{UID: new(o.GetUID())}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	return client.IgnoreNotFound(err)
}

func (r *run) kindOf(key ref) schema.GroupVersionKind {
	for _, k := range r.kinds {
		if k.Kind == key.Kind {
			return k.GroupVersionKind
		}
	}
	return core(key.Kind)
}
