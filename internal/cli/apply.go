// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/manifest"
)

// try finds out whether the plane would take a manifest, without taking it.
func (o *operation) try(ctx context.Context, m *manifest.Manifest) error {
	cb, err := o.clusterOf(ctx, o.client)
	if err != nil {
		return err
	}
	if cb != nil && !cb.DeletionTimestamp.IsZero() {
		return fmt.Errorf("%s is being destroyed; finish that first: %s", o.name, o.command("destroy"))
	}
	for _, name := range m.Namespaces() {
		if err := o.put(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	err = errors.Join(o.put(ctx, m.Provider, client.DryRunAll), o.put(ctx, m.Cluster, client.DryRunAll))
	if err != nil {
		return &exit{exitUsage, err}
	}
	return nil
}

// apply brings the objects of a manifest to the plane.
func (o *operation) apply(ctx context.Context, m *manifest.Manifest) error {
	objects, err := o.objects(m)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := o.put(ctx, object); err != nil {
			return err
		}
	}
	return o.doubt(ctx, client.ObjectKeyFromObject(m.Cluster))
}

// doubt marks what an earlier run has found as not looked at yet, so that only
// what this run finds counts.
func (o *operation) doubt(ctx context.Context, key client.ObjectKey) error {
	cb := &v1alpha1.ClusterBootstrap{}
	if err := o.client.Get(ctx, key, cb); err != nil {
		return err
	}
	before := cb.DeepCopy()
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionFailed} {
		if meta.IsStatusConditionTrue(cb.Status.Conditions, kind) {
			meta.SetStatusCondition(&cb.Status.Conditions, metav1.Condition{
				Type: kind, Status: metav1.ConditionUnknown, Reason: "Checking", Message: "it is looked at again",
			})
		}
	}
	return o.client.Status().Patch(ctx, cb, client.MergeFrom(before))
}

// objects are those of the manifest, with the simulator's credentials in place
// of the user's if this is a rehearsal.
func (o *operation) objects(m *manifest.Manifest) ([]client.Object, error) {
	objects := []client.Object{m.Provider, m.Cluster}
	key, needed := m.CredentialsKey()
	if !needed {
		return objects, nil
	}
	secret := m.Secret
	if o.rehearsal {
		data, err := os.ReadFile(o.platform.Kubeconfig)
		if err != nil {
			return nil, err
		}
		name := "kubeconfig"
		if k := m.Provider.Spec.CredentialsRef.Key; k != "" {
			name = k
		}
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Data: map[string][]byte{name: data}}
	}
	return append([]client.Object{secret}, objects...), nil
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
