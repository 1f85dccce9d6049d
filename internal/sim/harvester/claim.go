// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	harvesterv1beta1 "github.com/butlerdotdev/butler/internal/sim/harvester/harvesterhci/v1beta1"
)

const imageAnnotation = "harvesterhci.io/imageId"

// claims plays the storage: a claim is bound as soon as its class and image exist.
// It has no PersistentVolume.
type claims struct {
	client.Client
	recorder events.EventRecorder
}

// Reconcile binds a claim, or says in an event why it stays pending.
func (r *claims) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	claim := &corev1.PersistentVolumeClaim{}
	if err := r.Get(ctx, request.NamespacedName, claim); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if claim.Status.Phase == corev1.ClaimBound || !claim.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	obstacle, err := r.obstacle(ctx, claim)
	if err != nil {
		return ctrl.Result{}, err
	}
	if obstacle != "" {
		r.recorder.Eventf(claim, nil, corev1.EventTypeWarning, "ProvisioningFailed", "Provision", "%s", obstacle)
		return ctrl.Result{}, nil // a watch brings the claim back
	}
	return ctrl.Result{}, r.bind(ctx, claim)
}

// obstacle is why a claim cannot be bound, in the storage's words.
func (r *claims) obstacle(ctx context.Context, claim *corev1.PersistentVolumeClaim) (string, error) {
	if claim.Spec.StorageClassName == nil || *claim.Spec.StorageClassName == "" {
		return "no persistent volumes available for this claim and no storage class is set", nil
	}
	class := &storagev1.StorageClass{}
	err := r.Get(ctx, client.ObjectKey{Name: *claim.Spec.StorageClassName}, class)
	if apierrors.IsNotFound(err) {
		return fmt.Sprintf("storageclass.storage.k8s.io %q not found", *claim.Spec.StorageClassName), nil
	}
	if err != nil || claim.Annotations[imageAnnotation] == "" {
		return "", err
	}
	image := &harvesterv1beta1.VirtualMachineImage{}
	err = r.Get(ctx, parseName(claim.Annotations[imageAnnotation]), image)
	if apierrors.IsNotFound(err) || err == nil && !isImported(image) {
		return fmt.Sprintf("virtualmachineimages.harvesterhci.io %q not found or not imported", claim.Annotations[imageAnnotation]), nil
	}
	return "", err
}

func (r *claims) bind(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	before := claim.DeepCopy()
	claim.Status.Phase = corev1.ClaimBound
	claim.Status.AccessModes = claim.Spec.AccessModes
	claim.Status.Capacity = claim.Spec.Resources.Requests
	return client.IgnoreNotFound(r.Status().Patch(ctx, claim, client.MergeFrom(before)))
}

// pending lists the claims that a new class or image may help.
func (r *claims) pending(ctx context.Context, _ client.Object) []reconcile.Request {
	list := &corev1.PersistentVolumeClaimList{}
	if err := r.List(ctx, list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list claims")
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if list.Items[i].Status.Phase != corev1.ClaimBound {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
