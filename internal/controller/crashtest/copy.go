// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// copy copies the request as a tool for backups does, with its status. A request
// that has no owner id yet has nothing that a copy could share.
func (f *life) copy() error {
	o := f.current()
	if o == nil || o.GetAnnotations()[v1alpha1.AnnotationOwnerID] == "" {
		return nil
	}
	copied := o.DeepCopyObject().(client.Object)
	copied.SetName(f.name + "-copy")
	copied.SetUID("")
	copied.SetResourceVersion("")
	if f.Blind {
		annotations := copied.GetAnnotations()
		delete(annotations, v1alpha1.AnnotationClaimedBy)
		copied.SetAnnotations(annotations)
	}
	status := copied.DeepCopyObject().(client.Object)
	if err := f.api.Create(f.ctx, copied); err != nil {
		return err
	}
	status.SetUID(copied.GetUID())
	status.SetResourceVersion(copied.GetResourceVersion())
	if err := f.api.Status().Update(f.ctx, status); err != nil {
		return err
	}
	f.keep(status)
	return nil
}

// passCopy lets the reconciler look at the copy once, which is deleted then.
func (f *life) passCopy() error {
	if f.copied == nil {
		return nil
	}
	if _, err := f.reconcile(f.ctx, f.copied.DeepCopyObject().(client.Object)); err != nil {
		return fmt.Errorf("reconcile the copy: %w", err)
	}
	if f.copied == nil || !f.copied.GetDeletionTimestamp().IsZero() {
		return nil
	}
	o := f.copied.DeepCopyObject().(client.Object)
	f.points.note("the copy is deleted")
	if err := f.api.Delete(f.ctx, o); err != nil {
		return err
	}
	if err := f.api.Get(f.ctx, client.ObjectKeyFromObject(o), o); err != nil {
		f.copied = nil
		return client.IgnoreNotFound(err)
	}
	f.keep(o)
	return nil
}

func (f *life) keepCopy(o client.Object) {
	f.copied = o.DeepCopyObject().(client.Object)
	if !o.GetDeletionTimestamp().IsZero() && len(o.GetFinalizers()) == 0 {
		f.copied = nil
	}
}

// sharing finds the requests with an owner id, as an index of a cache does.
func (f *life) sharing(list client.ObjectList, opts []client.ListOption) error {
	if f.Blind {
		return nil
	}
	o := (&client.ListOptions{}).ApplyOptions(opts)
	if o.FieldSelector == nil || len(o.FieldSelector.Requirements()) != 1 {
		return fmt.Errorf("list %T: the lab has an index of owner ids alone", list)
	}
	if err := f.api.List(f.ctx, list, client.InNamespace(f.ns)); err != nil {
		return err
	}
	all, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	var found []runtime.Object
	for _, one := range all {
		if one.(client.Object).GetAnnotations()[v1alpha1.AnnotationOwnerID] == o.FieldSelector.Requirements()[0].Value {
			found = append(found, one)
		}
	}
	return meta.SetList(list, found)
}
