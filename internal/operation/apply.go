// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
)

// CheckManifest finds out whether the plane would take a manifest, without taking it:
// some fields may not change once there are machines.
func (o *Operation) CheckManifest(ctx context.Context, m *manifest.Manifest, known *v1alpha1.ClusterBootstrap) error {
	if known != nil && !known.DeletionTimestamp.IsZero() {
		return failure.Usagef("%s is being destroyed; finish that first: %s", o.Name, o.Command("destroy"))
	}
	for _, name := range m.Namespaces() {
		if err := o.Put(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	if err := o.refuseForeign(ctx, m); err != nil {
		return err
	}
	var problems []manifest.Problem
	for _, object := range append(poolsOf(m), m.Provider, m.Cluster) {
		err := o.Put(ctx, object, client.DryRunAll)
		if err != nil && !apierrors.IsInvalid(err) {
			return err
		}
		problems = append(problems, refusals(m, object, err)...)
	}
	if known != nil && len(problems) > 0 {
		problems = append(problems, manifest.Problem{Message: fmt.Sprintf(
			"there is a cluster %s already, which it would change; if it is meant for another one, give that another name, or remove the first: %s", o.Name, o.Command("destroy"))})
	}
	if err := m.Refuse(problems...); err != nil {
		return failure.New(failure.Usage, err)
	}
	return nil
}

func poolsOf(m *manifest.Manifest) (out []client.Object) {
	for _, p := range m.Pools {
		out = append(out, p)
	}
	return out
}

// refusals are what an API server has against an object.
func refusals(m *manifest.Manifest, object client.Object, err error) (out []manifest.Problem) {
	all := failure.Refusals(err)
	if len(all) == 0 {
		return m.ProblemsIn(object, err)
	}
	for _, r := range all {
		if r.Field == "" {
			out = append(out, m.ProblemsIn(object, errors.New(r.Message))...)
		} else {
			out = append(out, m.At(object, r.Field, r.Message))
		}
	}
	return out
}

// Apply applies the objects of a manifest to the plane, and returns the
// generation of the cluster that is wanted now.
func (o *Operation) Apply(ctx context.Context, m *manifest.Manifest, secret *corev1.Secret) (generation int64, err error) {
	objects := append(poolsOf(m), m.Provider, m.Cluster)
	if secret != nil {
		objects = append([]client.Object{secret}, objects...)
	}
	for _, other := range m.Others {
		objects = append([]client.Object{other}, objects...)
	}
	for _, object := range objects {
		if err := o.Put(ctx, object); err != nil {
			return 0, err
		}
	}
	key := client.ObjectKeyFromObject(m.Cluster)
	if o.InCharge() == ClusterPlane {
		// Its own controllers work all the time: what they have found counts.
		cb := &v1alpha1.ClusterBootstrap{}
		err := o.Client().Get(ctx, key, cb)
		return cb.Generation, err
	}
	if err := o.markPlane(ctx, key); err != nil {
		return 0, err
	}
	return o.doubt(ctx, key)
}

// ReasonChecking is the reason of a condition that its controller has to check again.
const ReasonChecking = "Checking"

// concludes reports whether a run ends, or pivots, at a condition.
func concludes(c metav1.Condition) bool {
	switch c.Type {
	case v1alpha1.ConditionReady:
		return c.Status == metav1.ConditionTrue || c.Reason == bootstrap.ReasonReadyToPivot
	case v1alpha1.ConditionFailed:
		return c.Status == metav1.ConditionTrue
	}
	return false
}

// doubt marks what an earlier run has found as not looked at yet, so that only
// what this run finds counts. It returns the generation of the spec.
func (o *Operation) doubt(ctx context.Context, key client.ObjectKey) (int64, error) {
	cb := &v1alpha1.ClusterBootstrap{}
	if err := o.Client().Get(ctx, key, cb); err != nil {
		return 0, err
	}
	before := cb.DeepCopy()
	for _, c := range cb.Status.Conditions {
		if concludes(c) {
			meta.SetStatusCondition(&cb.Status.Conditions, metav1.Condition{
				Type: c.Type, Status: metav1.ConditionUnknown, Reason: ReasonChecking, Message: "it is being checked again",
			})
		}
	}
	return cb.Generation, o.Client().Status().Patch(ctx, cb, client.MergeFrom(before))
}

// Put applies an object on the server side: it is created, or made equal.
func (o *Operation) Put(ctx context.Context, object client.Object, options ...client.PatchOption) error {
	return put(ctx, o.Client(), object.DeepCopyObject().(client.Object), options...)
}

// put applies an object, which is then what the server has.
func put(ctx context.Context, c client.Client, object client.Object, options ...client.PatchOption) error {
	kind, err := c.GroupVersionKindFor(object)
	if err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	delete(content, "status")
	content["apiVersion"], content["kind"] = kind.GroupVersion().String(), kind.Kind
	data, err := json.Marshal(content)
	if err != nil {
		return err
	}
	options = append(options, client.FieldOwner(fieldOwner), client.ForceOwnership)
	err = c.Patch(ctx, object, client.RawPatch(types.ApplyPatchType, data), options...)
	if err != nil && !apierrors.IsInvalid(err) {
		return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
	}
	return err
}

// markPlane writes down that the ClusterBootstrap is on an operator's machine,
// from where it may move. It is no field of the manifest's.
func (o *Operation) markPlane(ctx context.Context, key client.ObjectKey) error {
	cb := &v1alpha1.ClusterBootstrap{}
	if err := o.Local.Get(ctx, key, cb); err != nil || cb.Annotations[v1alpha1.AnnotationPlane] != "" {
		return err
	}
	before := cb.DeepCopy()
	metav1.SetMetaDataAnnotation(&cb.ObjectMeta, v1alpha1.AnnotationPlane, v1alpha1.PlaneLocal)
	return o.Local.Patch(ctx, cb, client.MergeFrom(before), client.FieldOwner("butleradm-plane"))
}

// ReadyToPivot is a bootstrap with nothing left to do but to move.
func ReadyToPivot(cb *v1alpha1.ClusterBootstrap) bool {
	c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionReady)
	return c != nil && c.Reason == bootstrap.ReasonReadyToPivot && cb.Status.ObservedGeneration == cb.Generation &&
		cb.DeletionTimestamp.IsZero() && !v1alpha1.Fenced(cb) && !bootstrap.SelfHosted(cb)
}
