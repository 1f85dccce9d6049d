// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// clockSkew is how far the clocks of two API servers may differ: creation times
// that are closer than that do not say which of two requests is the older one.
const clockSkew = time.Minute

// IndexOwner indexes the requests of a kind by their owner id.
func IndexOwner(ctx context.Context, i client.FieldIndexer, kind client.Object, index string) error {
	return i.IndexField(ctx, kind, index, func(o client.Object) []string {
		return []string{o.GetAnnotations()[v1alpha1.AnnotationOwnerID]}
	})
}

// Sharing returns a function for Claim.Sharing that looks into an index.
func Sharing(r client.Reader, list func() client.ObjectList, index string) func(context.Context, string) ([]client.Object, error) {
	return func(ctx context.Context, owner string) (out []client.Object, err error) {
		all := list()
		if err := r.List(ctx, all, client.MatchingFields{index: owner}); err != nil {
			return nil, err
		}
		err = meta.EachListItem(all, func(o runtime.Object) error {
			out = append(out, o.(client.Object))
			return nil
		})
		return out, err
	}
}

// Taken returns why the request may not act under its owner id, empty if it may: the
// id was copied from another request, or another request has it as well. A claimed
// request costs no read.
func (c *Claim) Taken(ctx context.Context) (string, error) {
	if c.owner() == "" || c.claimed() {
		return "", nil
	}
	all, err := c.Sharing(ctx, c.owner())
	if err != nil {
		return "", err
	}
	for _, o := range all {
		if o.GetUID() != c.Object.GetUID() && c.yields(o) {
			return fmt.Sprintf("the request %s has the same %s", client.ObjectKeyFromObject(o), v1alpha1.AnnotationOwnerID) + takenAdvice, nil
		}
	}
	if claimant(c.Object) == "" {
		return "", nil
	}
	return fmt.Sprintf("%s was copied from a request that is not on this API server; if it is gone for good and this one is to take over what the platform holds, remove the annotation %s",
		v1alpha1.AnnotationOwnerID, v1alpha1.AnnotationClaimedBy) + takenAdvice, nil
}

const takenAdvice = "; nothing is done for this request, and deleting it deletes nothing on the platform: delete it, or create it again without the annotations of " + v1alpha1.Group

// yields reports whether the request leaves the owner id to another one. Of two
// that have not claimed it the older one goes first, and neither if that is not
// certain: the younger one has been created when the cache shows it, so it sees
// the older one.
func (c *Claim) yields(o client.Object) bool {
	if claimant(o) != "" {
		return !Copied(o)
	}
	return claimant(c.Object) != "" || c.Object.GetCreationTimestamp().Add(clockSkew).After(o.GetCreationTimestamp().Time)
}

// Copied reports whether the id of an object was claimed by another one, here or on
// another API server.
func Copied(o client.Object) bool {
	by := claimant(o)
	return by != "" && by != string(o.GetUID())
}

func (c *Claim) owner() string { return c.Object.GetAnnotations()[v1alpha1.AnnotationOwnerID] }

// claimed reports whether the owner id was claimed for this very request.
func (c *Claim) claimed() bool { return claimant(c.Object) == string(c.Object.GetUID()) }

func claimant(o client.Object) string { return o.GetAnnotations()[v1alpha1.AnnotationClaimedBy] }

// Disclaimed admits a request whose claim was removed: that is how an operator
// hands over what the platform holds.
func Disclaimed() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return claimant(e.ObjectOld) != "" && claimant(e.ObjectNew) == ""
		},
	}
}
