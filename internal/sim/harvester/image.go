// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	harvesterv1beta1 "github.com/butlerdotdev/butler/internal/sim/harvester/harvesterhci/v1beta1"
)

const (
	imageFinalizer        = "wrangler.cattle.io/vm-image-controller"
	backingImageParameter = "backingImage"
	backendCDI            = "cdi"
	// imageSize is what every simulated image weighs; its content is never there.
	imageSize = 1 << 30
)

// images plays Harvester's image controller: an import is over at once.
type images struct{ client.Client }

// Reconcile imports an image or removes its storage class with it.
func (r *images) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	image := &harvesterv1beta1.VirtualMachineImage{}
	if err := r.Get(ctx, request.NamespacedName, image); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !image.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.remove(ctx, image)
	}
	return ctrl.Result{}, r.imported(ctx, image)
}

// imported brings storage class and status into being. Both are written once: the
// class is found in the status from then on.
func (r *images) imported(ctx context.Context, image *harvesterv1beta1.VirtualMachineImage) error {
	if image.Status.StorageClassName != "" && isImported(image) {
		return nil
	}
	class, err := r.provide(ctx, image)
	if err != nil {
		return err
	}
	controllerutil.AddFinalizer(image, imageFinalizer)
	image.Status = importedStatus(image.Spec.URL, class, time.Now())
	return describe("update", image, r.Update(ctx, image))
}

// provide returns the class of volumes of an image, and creates one for a backing image.
// An image that CDI keeps has the class that it is stored in: a volume of it is empty
// unless CDI fills it.
func (r *images) provide(ctx context.Context, image *harvesterv1beta1.VirtualMachineImage) (string, error) {
	if image.Spec.Backend == backendCDI {
		return image.Spec.TargetStorageClassName, nil
	}
	class, err := r.class(ctx, image)
	if err != nil {
		return "", err
	}
	return class.Name, add(ctx, r, class)
}

// class prefers one in the form of older releases, longhorn-<image>, over the
// present form, lh-<uid>.
func (r *images) class(ctx context.Context, image *harvesterv1beta1.VirtualMachineImage) (*storagev1.StorageClass, error) {
	legacy := &storagev1.StorageClass{}
	err := r.Get(ctx, client.ObjectKey{Name: "longhorn-" + image.Name}, legacy)
	if err == nil && legacy.Parameters[backingImageParameter] == image.Namespace+"-"+image.Name {
		legacy.ResourceVersion = ""
		return legacy, nil
	}
	return imageClass("lh-"+string(image.UID), "vmi-"+string(image.UID)), client.IgnoreNotFound(err)
}

func (r *images) remove(ctx context.Context, image *harvesterv1beta1.VirtualMachineImage) error {
	if !controllerutil.ContainsFinalizer(image, imageFinalizer) {
		return nil
	}
	if name := image.Status.StorageClassName; name != "" && image.Spec.Backend != backendCDI {
		class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := r.Delete(ctx, class); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete the class of image %s: %w", image.Name, err)
		}
	}
	controllerutil.RemoveFinalizer(image, imageFinalizer)
	return client.IgnoreNotFound(r.Update(ctx, image))
}

func isImported(image *harvesterv1beta1.VirtualMachineImage) bool {
	for _, c := range image.Status.Conditions {
		if c.Type == harvesterv1beta1.ImageImported {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func importedStatus(url, class string, now time.Time) harvesterv1beta1.ImageStatus {
	at := now.UTC().Format(time.RFC3339)
	done := func(kind string) harvesterv1beta1.Condition {
		return harvesterv1beta1.Condition{Type: kind, Status: corev1.ConditionTrue, LastUpdateTime: at, LastTransitionTime: at}
	}
	return harvesterv1beta1.ImageStatus{
		AppliedURL: url, Progress: 100, Size: imageSize, VirtualSize: imageSize, StorageClassName: class,
		Conditions: []harvesterv1beta1.Condition{done(harvesterv1beta1.ImageInitialized), done(harvesterv1beta1.ImageImported)},
	}
}
