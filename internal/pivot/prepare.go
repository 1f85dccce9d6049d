// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"cmp"
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// prepare finds everything that blocks a move while the old controllers still run.
func (r *run) prepare(ctx context.Context) error {
	r.progress("checking both planes")
	if err := r.onlyOne(ctx); err != nil {
		return err
	}
	s, err := r.read(ctx)
	if err != nil {
		return err
	}
	if err := r.movable(s); err != nil {
		return err
	}
	if _, err := r.there(ctx, s); err != nil {
		return err
	}
	return r.admitted(ctx)
}

var definitionKind = schema.GroupVersionKind{Group: apiextensionsv1.GroupName, Version: "v1", Kind: "CustomResourceDefinition"}

// served checks that To has all kinds, and stores them in the version that is copied.
func (r *run) served(ctx context.Context) error {
	for _, k := range r.kinds {
		err := r.retry(ctx, func() error {
			d, err := get(ctx, r.to, definitionKind, types.NamespacedName{Name: k.definition})
			if err != nil {
				return err
			}
			return stores(d, k, r.to.Name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func stores(d *unstructured.Unstructured, k kind, on string) error {
	if d == nil {
		return finalf("%s does not know the kind %s; install the chart butler-crds there", on, k.Kind)
	}
	versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
	for _, v := range versions {
		if m, ok := v.(map[string]any); ok && m["name"] == k.Version && m["storage"] == true && m["served"] == true {
			return nil
		}
	}
	return finalf("%s does not store the kind %s as %s; install the chart butler-crds of this version there", on, k.Kind, k.Version)
}

// onlyOne refuses a plane with other clusters.
func (r *run) onlyOne(ctx context.Context) error {
	if r.Scope == Cluster {
		return nil
	}
	return r.retry(ctx, func() error {
		all, err := list(ctx, r.from, v1alpha1.GroupVersion().WithKind(bootstrapKind))
		if err != nil {
			return err
		}
		for _, o := range all {
			if !r.moves(o) && (r.Scope == Everything || o.GetNamespace() == r.Bootstrap.Namespace) {
				return finalf("%s also has %s; a plane moves with one cluster only: destroy that one, or create it on a plane of its own", r.from.Name, refOf(o))
			}
		}
		return nil
	})
}

// follow sets the epoch, and checks that To is not in charge itself.
func (r *run) follow(ctx context.Context) error {
	to, err := r.bootstrap(ctx, r.to)
	if err != nil || to == nil {
		return err
	}
	if err := r.refuseForeign(r.bootstrapRef(), r.clusterID, to); err != nil {
		return err
	}
	n, err := epoch(to)
	if err != nil {
		return err
	}
	r.journal.Epoch = max(r.journal.Epoch, n+1)
	return nil
}

// movable refuses objects that cannot be moved or fenced.
func (r *run) movable(s set) error {
	uids := map[types.UID]bool{}
	for _, o := range s {
		uids[o.GetUID()] = true
	}
	for _, key := range s.refs() {
		o := s[key]
		if (key.Kind == machineKind || key.Kind == balancerKind) && !r.belongs(o) {
			return finalf("%s does not belong to ClusterBootstrap %s and cannot be fenced; delete it first", key, r.Bootstrap)
		}
		if key.Kind == providerKind && r.to.Kind == v1alpha1.PlaneSelf && len(references(o, isSecretReference)) == 0 {
			return finalf("%s uses ambient credentials, which are never copied to a cluster; put credentials into a Secret and name it in spec.credentialsRef", key)
		}
		for _, owner := range o.GetOwnerReferences() {
			if !uids[owner.UID] && !shared(o) {
				return finalf("%s is owned by %s %s, which does not move; remove that from its metadata.ownerReferences", key, owner.Kind, owner.Name)
			}
		}
	}
	_, err := s.waves()
	return err
}

// there returns the objects of a set that To already has. Those of another cluster are refused.
func (r *run) there(ctx context.Context, s set) (set, error) {
	var out set
	err := r.retry(ctx, func() (err error) {
		out, err = r.thereOnce(ctx, s)
		return err
	})
	return out, err
}

func (r *run) thereOnce(ctx context.Context, s set) (set, error) {
	all := set{}
	items, err := listAll(r.kinds, func(k kind) ([]*unstructured.Unstructured, error) { return list(ctx, r.to, k.GroupVersionKind) })
	if err != nil {
		return nil, err
	}
	for _, o := range items {
		all.add(o)
	}
	out := set{}
	for key, from := range s {
		live := all[key]
		if key.Kind == secretKind {
			var err error
			if live, err = get(ctx, r.to, core(secretKind), types.NamespacedName{Namespace: key.Namespace, Name: key.Name}); err != nil {
				return nil, err
			}
		}
		if live == nil {
			continue
		}
		if err := r.strange(from, live); err != nil {
			return nil, err
		}
		out.add(live)
	}
	return out, nil
}

// strange refuses an object of To that has the name of one that moves, and is not
// the same.
func (r *run) strange(from, live *unstructured.Unstructured) error {
	key := refOf(from)
	if !shared(from) {
		return r.refuseForeign(key, clusterID(from), live)
	}
	if !live.GetDeletionTimestamp().IsZero() && from.GetDeletionTimestamp().IsZero() {
		return finalf("%s is being deleted on %s; wait until it is gone, or remove its finalizers", key, r.to.Name)
	}
	return nil
}

// refuseForeign refuses an object of another cluster, and a plane that is already in
// charge.
func (r *run) refuseForeign(key ref, id string, live *unstructured.Unstructured) error {
	if clusterID(live) != id {
		return finalf("%s on %s does not belong to this cluster and blocks the move; delete it there if it is not needed", key, r.to.Name)
	}
	if key == r.bootstrapRef() && !v1alpha1.Fenced(live) {
		return finalf("%s on %s is not fenced: that plane is in charge as well; find out which one is right, and fence the other", key, r.to.Name)
	}
	return nil
}

// admitted waits until the new controllers have logged in to the platform, and reports
// what they wait for.
func (r *run) admitted(ctx context.Context) error {
	within := cmp.Or(r.LoginWithin, 2*time.Minute)
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("not within %s", within))
	defer cancel()
	obstacle := ""
	for {
		err := r.To.CheckLogin(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil && err.Error() != obstacle {
			obstacle = err.Error()
			r.progress("the controllers of " + r.to.Name + " cannot log in to the platform yet: " + obstacle)
		}
		if wait(ctx, 200*time.Millisecond) != nil {
			return fmt.Errorf("the controllers of %s cannot log in to the platform: %s (%w)", r.to.Name, cmp.Or(obstacle, err.Error()), context.Cause(ctx))
		}
	}
}

// planned adds the objects that To does not have to those that this move creates.
func (r *run) planned(s, there set) {
	known := map[ref]bool{}
	for _, key := range r.journal.Made {
		known[key] = true
	}
	for _, key := range s.refs() {
		if there[key] == nil && !known[key] {
			r.journal.Made = append(r.journal.Made, key)
		}
	}
}

func uidsOf(from, to set) map[types.UID]types.UID {
	out := map[types.UID]types.UID{}
	for key, o := range from {
		if copied := to[key]; copied != nil {
			out[o.GetUID()] = copied.GetUID()
		}
	}
	return out
}
