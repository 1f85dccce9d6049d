// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

// audited are the kinds that a machine is made of here.
func audited() map[fault.Resource]client.Object {
	return map[fault.Resource]client.Object{
		fault.Machine: &kubevirtv1.VirtualMachine{},
		fault.Disk:    &corev1.PersistentVolumeClaim{},
		fault.Secret:  &corev1.Secret{},
	}
}

// recordObjects reports all objects, and their ends, to the auditor.
func (h *Harvester) recordObjects(ctx context.Context, m manager.Manager) error {
	var problems []error
	for resource, kind := range audited() {
		informer, err := m.GetCache().GetInformer(ctx, kind)
		if err == nil {
			_, err = informer.AddEventHandler(h.recorder(resource))
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (h *Harvester) recorder(r fault.Resource) cache.ResourceEventHandler {
	seen := func(object any) {
		if o, ok := object.(client.Object); ok {
			h.options.Auditor.Seen(described(r, o))
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    seen,
		UpdateFunc: func(_, object any) { seen(object) },
		DeleteFunc: func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			if o, ok := object.(client.Object); ok {
				h.options.Auditor.Gone(r, string(o.GetUID()))
			}
		},
	}
}

func described(r fault.Resource, o client.Object) audit.Object {
	return audit.Object{
		Resource: r, ID: string(o.GetUID()), Name: o.GetName(), Leaving: !o.GetDeletionTimestamp().IsZero(),
		Copy: o.GetAnnotations()[copyAnnotation] != "",
	}.Tagged(tag.Style{}, o.GetLabels())
}
