// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// AnnotationAttempt holds the time of the last attempt to create something. It is
// written before the platform is asked, so that no crash can hide an attempt.
const AnnotationAttempt = v1alpha1.Group + "/create-attempt"

// AnnotationUnanswered holds the time of an attempt before that one whose answer is
// not known. The write of a later attempt carries it.
const AnnotationUnanswered = v1alpha1.Group + "/create-unanswered"

// AnnotationRecord holds what the driver has chosen for the attempt, as Platform.Plan
// returned it. It is written with the attempt, and a call whose answer is not known is
// repeated with the same one.
const AnnotationRecord = v1alpha1.Group + "/create-record"

// Claim is a provider's hold on a request: the finalizer, the owner that platform
// objects are tagged with, and the recorded attempts. Every write of a pass goes
// through it and carries the resource version that was read.
type Claim struct {
	Client    client.Client
	Object    client.Object
	Note      *Note
	Finalizer string
	// Known says that the status has the platform's id of what was created.
	Known bool
	// What is the wanted thing in messages, for example `machine "mgmt-cp-0"`.
	What string
	// Sharing returns the requests of the same kind with an owner id, from all
	// namespaces.
	Sharing func(ctx context.Context, owner string) ([]client.Object, error)
	Now     func() time.Time

	// platform identifies the one that the request is connected to.
	platform provider.Identity
	// identify returns the identity of the platform that answers by now.
	identify func(context.Context) (provider.Identity, error)
	checked  bool // it was the recorded one in this pass
	stamped  bool // the last attempt was recorded in this pass, and not followed by a call so far
	// next is the owner that Take writes where there is none.
	next string
}

// Held reports whether the finalizer is on the request.
func (c *Claim) Held() bool { return controllerutil.ContainsFinalizer(c.Object, c.Finalizer) }

// Take claims the request in one write: finalizer, owner, claim and attempt, with its
// record if there is one. Minted says that the owner is new, so nothing can exist so far;
// fresh that the first attempt was recorded by this very write. Taken must have been asked
// before.
func (c *Claim) Take(ctx context.Context, record string) (minted, fresh bool, err error) {
	owner, held := c.owner(), c.Held()
	if held && (owner == "" || c.claimed()) {
		return false, false, c.ownerKept(owner)
	}
	minted, fresh = owner == "", !held && Attempted(c.Object).IsZero()
	err = c.patch(ctx, func() {
		controllerutil.AddFinalizer(c.Object, c.Finalizer)
		c.annotate(v1alpha1.AnnotationClaimedBy, string(c.Object.GetUID()))
		if minted {
			c.annotate(v1alpha1.AnnotationOwnerID, c.mint())
		}
		if fresh {
			c.stamp(record)
		}
	})
	return minted, fresh && err == nil, err
}

// mint returns the owner of a request that has none so far. It is generated once in a pass:
// the first attempt is planned with it before it is written.
func (c *Claim) mint() string {
	c.next = cmp.Or(c.next, uuid.NewString())
	return c.next
}

// Attempt records that something is about to be created, and as what. As a locked write it
// also proves that this pass has not read a stale request.
func (c *Claim) Attempt(ctx context.Context, record string) error {
	return c.patch(ctx, func() { c.stamp(record) })
}

// Amend records what an attempt that was recorded in this pass asks for.
func (c *Claim) Amend(ctx context.Context, record string) error {
	return c.patch(ctx, func() { c.annotate(AnnotationRecord, record) })
}

// Record returns what the driver has chosen for the last attempt, empty if nothing is
// recorded.
func Record(o client.Object) string { return o.GetAnnotations()[AnnotationRecord] }

// Release removes the finalizer of the request.
func (c *Claim) Release(ctx context.Context) error {
	return c.patch(ctx, func() { controllerutil.RemoveFinalizer(c.Object, c.Finalizer) })
}

// Report writes the status as it has changed since base.
func (c *Claim) Report(ctx context.Context, base client.Object) error {
	if err := c.Client.Status().Patch(ctx, c.Object, locked(base)); err != nil {
		return err
	}
	c.Note.replaced.Replace(base.GetResourceVersion(), c.Object.GetResourceVersion())
	return nil
}

// Owner is whom platform objects of the request belong to.
func (c *Claim) Owner() provider.Owner {
	a := c.Object.GetAnnotations()
	return provider.Owner{
		ID: cmp.Or(a[v1alpha1.AnnotationOwnerID], c.next), ClusterID: a[v1alpha1.AnnotationClusterID],
		Cluster: c.Object.GetLabels()[v1alpha1.LabelCluster],
	}
}

// Attempted returns the time of the last attempt, zero if there was none. A time
// that cannot be read still shows that there was one.
func Attempted(o client.Object) time.Time { return noted(o, AnnotationAttempt) }

// Landed reports whether no attempt before the last one can take effect any more.
func Landed(o client.Object, now time.Time) bool {
	t := noted(o, AnnotationUnanswered)
	return t.IsZero() || t.After(now) || now.Sub(t) >= inFlight
}

func noted(o client.Object, key string) time.Time {
	text, ok := o.GetAnnotations()[key]
	if !ok {
		return time.Time{}
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t
	}
	return time.Unix(1, 0)
}

func (c *Claim) stamp(record string) {
	if last, tried := c.Object.GetAnnotations()[AnnotationAttempt]; tried && !c.Note.answered && !c.stamped {
		c.annotate(AnnotationUnanswered, last)
	}
	c.stamped = true
	c.annotate(AnnotationAttempt, c.Now().UTC().Format(time.RFC3339Nano))
	if record != "" {
		c.annotate(AnnotationRecord, record)
	}
	c.recordPlatform()
}

func (c *Claim) annotate(key, value string) {
	a := c.Object.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a[key] = value
	c.Object.SetAnnotations(a)
}

// ownerKept refuses to continue without the owner that platform objects are tagged
// with: under a new one they would not be recognised.
func (c *Claim) ownerKept(owner string) error {
	if owner != "" {
		return nil
	}
	return &provider.Error{
		Kind: provider.Invalid, Reason: ReasonOwnerMissing, Op: "look after " + c.What,
		Err:  errors.New("the annotation " + v1alpha1.AnnotationOwnerID + " is missing"),
		Hint: "if it was removed, restore it from the label of that name on the machine; if another program created the machine, name it in the annotation " + v1alpha1.AnnotationAdopt,
	}
}

// patch writes a change of the metadata, unless another client was faster.
func (c *Claim) patch(ctx context.Context, change func()) error {
	base := c.Object.DeepCopyObject().(client.Object)
	change()
	if err := c.Client.Patch(ctx, c.Object, locked(base)); err != nil {
		return err
	}
	c.Note.replaced.Replace(base.GetResourceVersion(), c.Object.GetResourceVersion())
	return nil
}

func locked(base client.Object) client.Patch {
	return client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
}
