// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

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

// try finds out whether the plane would take a manifest, without taking it:
// some fields may not change once there are machines.
func (o *operation) try(ctx context.Context, m *manifest.Manifest, known *v1alpha1.ClusterBootstrap) error {
	if known != nil && !known.DeletionTimestamp.IsZero() {
		return failure.Usagef("%s is being destroyed; finish that first: %s", o.Name, o.Command("destroy"))
	}
	for _, name := range m.Namespaces() {
		if err := o.put(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	var problems []manifest.Problem
	for _, object := range []client.Object{m.Provider, m.Cluster} {
		err := o.put(ctx, object, client.DryRunAll)
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

// refusals are what an API server has against an object.
func refusals(m *manifest.Manifest, object client.Object, err error) (out []manifest.Problem) {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Details == nil {
		return m.Told(object, err)
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		message := repeated.ReplaceAllString(cause.Message, "")
		if strings.HasPrefix(cause.Field, "<") { // the object as a whole
			out = append(out, m.Told(object, errors.New(message))...)
		} else {
			out = append(out, m.At(object, cause.Field, message))
		}
	}
	return out
}

// repeated is how an API server begins, with the refused value. That is in the
// file; it may be long, or a credential.
var repeated = regexp.MustCompile(`^Invalid value: (?:(?:"(?:[^"\\]|\\.)*"|\{.*\}|-?\d+): )?`)

// apply brings the objects of a manifest to the plane, and returns the
// generation of the cluster that is wanted now.
func (o *operation) apply(ctx context.Context, m *manifest.Manifest, secret *corev1.Secret) (generation int64, err error) {
	objects := []client.Object{m.Provider, m.Cluster}
	if secret != nil {
		objects = append([]client.Object{secret}, objects...)
	}
	for _, other := range m.Others {
		objects = append([]client.Object{other}, objects...)
	}
	for _, object := range objects {
		if err := o.put(ctx, object); err != nil {
			return 0, err
		}
	}
	key := client.ObjectKeyFromObject(m.Cluster)
	if o.client != o.local {
		// Its own controllers work all the time: what they have found counts.
		cb := &v1alpha1.ClusterBootstrap{}
		err := o.client.Get(ctx, key, cb)
		return cb.Generation, err
	}
	if err := o.markPlane(ctx, key); err != nil {
		return 0, err
	}
	return o.doubt(ctx, key)
}

// reasonChecking is that of a condition that somebody else has to look at again.
const reasonChecking = "Checking"

// concludes tells a condition at which a run ends, or moves the plane.
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
func (o *operation) doubt(ctx context.Context, key client.ObjectKey) (int64, error) {
	cb := &v1alpha1.ClusterBootstrap{}
	if err := o.client.Get(ctx, key, cb); err != nil {
		return 0, err
	}
	before := cb.DeepCopy()
	for _, c := range cb.Status.Conditions {
		if concludes(c) {
			meta.SetStatusCondition(&cb.Status.Conditions, metav1.Condition{
				Type: c.Type, Status: metav1.ConditionUnknown, Reason: reasonChecking, Message: "it is looked at again",
			})
		}
	}
	return cb.Generation, o.client.Status().Patch(ctx, cb, client.MergeFrom(before))
}

// put applies an object on the server's side: it is made, or made equal.
func (o *operation) put(ctx context.Context, object client.Object, options ...client.PatchOption) error {
	kind, err := o.client.GroupVersionKindFor(object)
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
	options = append(options, client.FieldOwner("butleradm"), client.ForceOwnership)
	target := object.DeepCopyObject().(client.Object)
	err = o.client.Patch(ctx, target, client.RawPatch(types.ApplyPatchType, data), options...)
	if err != nil && !apierrors.IsInvalid(err) {
		return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
	}
	return err
}
