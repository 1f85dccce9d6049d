// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// AnnotationAttempt holds the time of the last attempt to create a machine. It is
// written before the platform is asked, so that no crash can hide an attempt.
const AnnotationAttempt = v1alpha1.Group + "/create-attempt"

func (r *Reconciler) finalizer() string { return v1alpha1.FinalizerMachineRequest(r.Type) }

func (r *Reconciler) claimed(request *v1alpha1.MachineRequest) bool {
	return controllerutil.ContainsFinalizer(request, r.finalizer())
}

// claim makes the request ours in one write: finalizer, owner and attempt. It
// reports whether the owner was minted by it; then nothing can exist so far.
func (p *pass) claim(ctx context.Context) (bool, error) {
	owner := p.request.Annotations[v1alpha1.AnnotationOwnerID]
	if p.claimed(p.request) {
		return false, p.ownerKept(owner)
	}
	minted, fresh := owner == "", attempt(p.request).IsZero()
	err := p.patch(ctx, func() {
		controllerutil.AddFinalizer(p.request, p.finalizer())
		if minted {
			p.annotate(v1alpha1.AnnotationOwnerID, uuid.NewString())
		}
		if fresh {
			p.stamp()
		}
	})
	p.facts.fresh = fresh && err == nil
	return minted, err
}

// attempt records that a machine is about to be created.
func (p *pass) attempt(ctx context.Context) error { return p.patch(ctx, p.stamp) }

func (p *pass) stamp() { p.annotate(AnnotationAttempt, p.clock().UTC().Format(time.RFC3339Nano)) }

func (p *pass) annotate(key, value string) {
	if p.request.Annotations == nil {
		p.request.Annotations = map[string]string{}
	}
	p.request.Annotations[key] = value
}

// ownerKept refuses to go on without the owner that machines are tagged with: a
// new one would make the machine a stranger.
func (p *pass) ownerKept(owner string) error {
	if owner != "" {
		return nil
	}
	return &provider.Error{
		Kind: provider.Invalid, Reason: reasonOwnerMissing,
		Op:   fmt.Sprintf("look after machine %q", p.request.Spec.MachineName),
		Err:  errors.New("the annotation " + v1alpha1.AnnotationOwnerID + " was removed"),
		Hint: "restore it from the machine's label on the platform",
	}
}

// patch writes a change of the metadata, unless somebody else was faster.
func (p *pass) patch(ctx context.Context, change func()) error {
	base := p.request.DeepCopy()
	change()
	lock := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	if err := p.Client.Patch(ctx, p.request, lock); err != nil {
		return err
	}
	p.note.replaced(base.ResourceVersion, p.request.ResourceVersion)
	return nil
}

// attempt returns the time of the last attempt, zero if there was none. A time
// that cannot be read still tells that there was one.
func attempt(request *v1alpha1.MachineRequest) time.Time {
	text, ok := request.Annotations[AnnotationAttempt]
	if !ok {
		return time.Time{}
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t
	}
	return time.Unix(1, 0)
}
