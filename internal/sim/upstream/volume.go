// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// provisions is a program that gives claims of its driver a volume each, and removes those
// volumes whose claim is gone. Binding them is up to Kubernetes.
func provisions(driver string) func(context.Context, program) error {
	return func(ctx context.Context, p program) error {
		clients, err := kubernetes.NewForConfig(p.config)
		if err != nil {
			return err
		}
		changed := make(chan struct{}, 1)
		signal := func(any) {
			select {
			case changed <- struct{}{}:
			default:
			}
		}
		factory := informers.NewSharedInformerFactory(clients, 0)
		claims, existing := factory.Core().V1().PersistentVolumeClaims(), factory.Core().V1().PersistentVolumes()
		v := volumes{driver: driver, program: p, claims: claims.Lister(), existing: existing.Lister()}
		for _, informer := range []cache.SharedIndexInformer{claims.Informer(), existing.Informer()} {
			handler := cache.ResourceEventHandlerFuncs{AddFunc: signal, UpdateFunc: func(_, o any) { signal(o) }, DeleteFunc: signal}
			if _, err := informer.AddEventHandler(handler); err != nil {
				return err
			}
		}
		factory.StartWithContext(ctx)
		defer factory.Shutdown()
		v.follow(ctx, changed)
		return nil
	}
}

// provisionerAnnotation is by which Kubernetes asks a provisioner for the volume of a claim.
const provisionerAnnotation = "volume.kubernetes.io/storage-provisioner"

// volumes are those of one driver.
type volumes struct {
	program

	driver   string
	claims   corelisters.PersistentVolumeClaimLister
	existing corelisters.PersistentVolumeLister
}

func (v volumes) follow(ctx context.Context, changed <-chan struct{}) {
	for {
		var again <-chan time.Time
		if err := v.pass(ctx); err != nil {
			again = time.After(retry)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-again:
		}
	}
}

func (v volumes) pass(ctx context.Context) error {
	claims, err1 := v.claims.List(labels.Everything())
	existing, err2 := v.existing.List(labels.Everything())
	errs := []error{err1, err2}
	for _, c := range claims {
		if c.Annotations[provisionerAnnotation] == v.driver && c.Spec.VolumeName == "" && c.DeletionTimestamp == nil {
			errs = append(errs, v.provision(ctx, c))
		}
	}
	for _, pv := range existing {
		released := pv.Status.Phase == corev1.VolumeReleased && pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
		if released && pv.Spec.CSI != nil && pv.Spec.CSI.Driver == v.driver {
			errs = append(errs, client.IgnoreNotFound(v.Delete(ctx, pv.DeepCopy())))
		}
	}
	return errors.Join(errs...)
}

// provision creates the volume of a claim, under the name that real provisioners give it.
func (v volumes) provision(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	class := &storagev1.StorageClass{}
	if err := v.Get(ctx, client.ObjectKey{Name: *c.Spec.StorageClassName}, class); err != nil {
		return err
	}
	name := "pvc-" + string(c.UID)
	err := v.Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: c.Spec.Resources.Requests, AccessModes: c.Spec.AccessModes, VolumeMode: c.Spec.VolumeMode,
			StorageClassName: class.Name, PersistentVolumeReclaimPolicy: *class.ReclaimPolicy,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: v.driver, VolumeHandle: name}},
		},
	})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
