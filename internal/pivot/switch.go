// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// unknownOutcome ends a move when it is not known whether From is fenced. No controller
// acts on either plane until the move is run again.
type unknownOutcome struct{ error }

func (u *unknownOutcome) Unwrap() error { return u.error }

// fenceOff fences From, unless anything there has been written to since it was
// copied. This one write is the point of no return.
func (r *run) fenceOff(ctx context.Context) error {
	from, err := r.read(ctx)
	if err != nil {
		return err
	}
	if !maps.Equal(from.versions(), r.copied.versions()) {
		return errChanged
	}
	if err := r.checkStopped(ctx); err != nil {
		return err
	}
	cb := r.copied[r.bootstrapRef()]
	patch, err := annotate(cb, map[string]any{
		v1alpha1.AnnotationFenced: r.away(), v1alpha1.AnnotationEpoch: strconv.FormatInt(r.journal.Epoch, 10),
	})
	if err != nil {
		return err
	}
	r.progress("fencing " + r.from.Name)
	err = r.retry(ctx, func() error { return r.fenceOnce(ctx, cb, patch) })
	if err == nil || isFinal(err) {
		return err
	}
	return &unknownOutcome{fmt.Errorf("%w; it is not known whether that took effect: run the command again", err)}
}

// checkStopped returns an error if another process has started the controllers of From
// again.
func (r *run) checkStopped(ctx context.Context) error {
	var who string
	err := r.retry(ctx, func() (err error) {
		who, err = r.From.RunningController(ctx)
		return err
	})
	if err != nil || who == "" {
		return err
	}
	return finalf("another process has started %s of %s again; find and stop it, then run the command again", who, r.from.Name)
}

// fenceOnce looks what became of a write that was not answered by a plain yes or
// no. One that may still be on its way is overtaken by writing it again: both hold
// for the same version of the object.
func (r *run) fenceOnce(ctx context.Context, was *unstructured.Unstructured, patch client.Patch) error {
	err := r.refused("fence", r.from, was, r.from.Client.Patch(ctx, was.DeepCopy(), patch, fieldOwner))
	if err == nil || isFinal(err) {
		return err
	}
	now, failed := readBootstrap(ctx, r.from.Client, r.Bootstrap)
	switch {
	case failed != nil:
		return err
	case now != nil && now.GetAnnotations()[v1alpha1.AnnotationFenced] == r.away():
		return nil
	case now != nil && r.fencedByOther(now):
		return errOtherMove
	case now == nil || now.GetResourceVersion() != was.GetResourceVersion():
		return final{errChanged}
	}
	return err
}

// putInCharge takes the fence off To. There is no other way to go, so it is tried
// until To answers.
func (r *run) putInCharge(ctx context.Context) error {
	reached := false
	return r.retry(ctx, func() error {
		cb, err := readBootstrap(ctx, r.to.Client, r.Bootstrap)
		if err != nil {
			return err
		}
		if cb == nil || clusterID(cb) != r.clusterID {
			return finalf("%s has lost ClusterBootstrap %s after %s was fenced, so no plane is in charge; restore %s from a backup, or continue with %s by removing the fence there: kubectl -n %s annotate clusterbootstrap %s %s-",
				r.to.Name, r.Bootstrap, r.from.Name, r.to.Name, r.from.Name, r.Bootstrap.Namespace, r.Bootstrap.Name, v1alpha1.AnnotationFenced)
		}
		if !v1alpha1.Fenced(cb) {
			return nil
		}
		if !reached {
			if err := r.at(Switch); err != nil {
				return err
			}
			reached = true
			r.progress("putting " + r.to.Name + " in charge")
		}
		patch, err := annotate(cb, map[string]any{
			v1alpha1.AnnotationFenced: nil, v1alpha1.AnnotationPlane: r.to.Kind,
			v1alpha1.AnnotationEpoch: strconv.FormatInt(r.journal.Epoch, 10),
		})
		if err != nil {
			return err
		}
		return r.refused("put in charge", r.to, cb, r.to.Client.Patch(ctx, cb, patch, fieldOwner))
	})
}

// annotate is a patch of annotations that fails if the object is not as it was read.
func annotate(o *unstructured.Unstructured, annotations map[string]any) (client.Patch, error) {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": o.GetResourceVersion(), "annotations": annotations,
	}})
	return client.RawPatch(types.MergePatchType, data), err
}
