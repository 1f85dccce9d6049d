// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/config/crd"
)

// fieldManagers are those that commands write with.
var fieldManagers = []string{"butleradm", "butler-pivot", "butler-bootstrap"}

// Release deletes what is left of the cluster in its namespace, and gives that free. No
// controller acts on it: what a platform holds stays. Namespace, kinds and policies stay.
func Release(ctx context.Context, o Options) error {
	config, err := Reach(ctx, o)
	if err != nil {
		return err
	}
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	found, err := api.CoreV1().Namespaces().Get(ctx, o.Namespace, metav1.GetOptions{})
	if err != nil {
		return ignoreMissing(err)
	}
	if held, _ := o.holder(found); !held {
		return nil
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := errors.Join(o.empty(ctx, objects), o.freeAddresses(ctx, config)); err != nil {
		return fmt.Errorf("give %s free: %w", o, err)
	}
	_, err = api.CoreV1().Namespaces().Patch(ctx, o.Namespace, types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+annotationClaim+`":null}}}`), metav1.PatchOptions{})
	return ignoreMissing(err)
}

// empty deletes the objects of this project's kinds, and what commands have written
// beside them.
func (o Options) empty(ctx context.Context, api metadata.Interface) error {
	kinds, err := namespacedKinds()
	if err != nil {
		return err
	}
	for _, k := range kinds {
		if err := o.remove(ctx, api, k, func(metav1.PartialObjectMetadata) bool { return true }); err != nil {
			return err
		}
	}
	for _, resource := range []string{"secrets", "configmaps"} {
		if err := o.remove(ctx, api, schema.GroupVersionResource{Version: "v1", Resource: resource}, isWritten); err != nil {
			return err
		}
	}
	lease := schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	return o.remove(ctx, api, lease, func(l metav1.PartialObjectMetadata) bool { return l.Name == leaseName })
}

// freeAddresses deletes the claims of addresses that were allocated in the namespace. No
// controller would end their rest.
func (o Options) freeAddresses(ctx context.Context, config *rest.Config) error {
	all, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	api := all.Resource(v1alpha1.GroupVersion().WithResource("addressclaims"))
	claims, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return ignoreMissing(err)
	}
	for _, c := range claims.Items {
		if n, _, _ := unstructured.NestedString(c.Object, "spec", "allocationRef", "namespace"); n != o.Namespace {
			continue
		}
		if err := ignoreMissing(api.Delete(ctx, c.GetName(), metav1.DeleteOptions{})); err != nil {
			return err
		}
	}
	return nil
}

func (o Options) remove(ctx context.Context, api metadata.Interface, kind schema.GroupVersionResource, which func(metav1.PartialObjectMetadata) bool) error {
	all, err := api.Resource(kind).Namespace(o.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return ignoreMissing(err)
	}
	for _, item := range all.Items {
		if !which(item) {
			continue
		}
		if err := removeOne(ctx, api.Resource(kind).Namespace(o.Namespace), item); err != nil {
			return err
		}
	}
	return nil
}

// removeOne deletes an object without its finalizers: no controller acts on it.
func removeOne(ctx context.Context, api metadata.ResourceInterface, item metav1.PartialObjectMetadata) error {
	if len(item.Finalizers) > 0 {
		_, err := api.Patch(ctx, item.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if ignoreMissing(err) != nil {
			return err
		}
	}
	return ignoreMissing(api.Delete(ctx, item.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &item.UID}}))
}

// isWritten reports whether commands or controllers of this project have created an
// object.
func isWritten(o metav1.PartialObjectMetadata) bool {
	return o.Annotations[v1alpha1.AnnotationClusterID] != "" || slices.ContainsFunc(o.ManagedFields, func(f metav1.ManagedFieldsEntry) bool {
		return slices.Contains(fieldManagers, f.Manager)
	})
}

// namespacedKinds are the kinds of this project that have a namespace.
func namespacedKinds() (out []schema.GroupVersionResource, err error) {
	all, err := crd.All()
	for _, d := range all {
		if d.Spec.Scope == apiextensionsv1.NamespaceScoped {
			out = append(out, schema.GroupVersionResource{Group: d.Spec.Group, Version: d.Spec.Versions[0].Name, Resource: d.Spec.Names.Plural})
		}
	}
	return out, err
}

func ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
