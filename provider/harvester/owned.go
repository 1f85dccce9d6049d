// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// ownedObjects are what Harvester holds under the labels of one machine.
type ownedObjects struct {
	provider.Group[client.Object]
	vm    *kubevirtv1.VirtualMachine
	vmi   *kubevirtv1.VirtualMachineInstance
	parts []client.Object // disks and Secret
}

func newOwnedObjects(g provider.Group[client.Object]) ownedObjects {
	all := ownedObjects{Group: g}
	for _, o := range g.Objects {
		switch of := o.Of.(type) {
		case *kubevirtv1.VirtualMachine:
			all.vm = of
		case *kubevirtv1.VirtualMachineInstance:
			all.vmi = of
		default:
			all.parts = append(all.parts, of)
		}
	}
	return all
}

// claims is machines.claims from what was listed. A disk or Secret that the driver
// did not create carries no labels of ours and is taken to exist.
func (all *ownedObjects) claims(m *machines) (missing, waiting string) {
	missing, waiting, _ = m.examineParts(all.vm, func(o client.Object) (client.Object, error) {
		if there := all.find(o); there != nil || all.creates(o) {
			return there, nil
		}
		return o, nil
	}, unprovisioned)
	return missing, waiting
}

// find returns the listed object of this kind and name.
func (all *ownedObjects) find(wanted client.Object) client.Object {
	for _, o := range slices.Concat(all.Objects, all.Copies) {
		if o.Part == partOf(wanted) {
			return o.Of
		}
	}
	return nil
}

// creates reports whether the driver gives such an object of the machine this name.
func (all *ownedObjects) creates(o client.Object) bool {
	o.SetLabels(map[string]string{tag.Machine: all.Ref.Name})
	return original(o)
}

// inferSecret adds the Secret that the other objects of the machine refer to, where
// Secrets may not be listed: a VirtualMachine that refers to it, else a disk that is
// not being deleted. One that was created before its disks is not found then, except
// by its own request, which knows its name.
func (all *ownedObjects) inferSecret(m *machines) {
	secret := &corev1.Secret{ObjectMeta: m.meta(secretName(all.Ref.Name))}
	referred := slices.ContainsFunc(all.parts, func(p client.Object) bool {
		return p.GetAnnotations()[annotationSecret] == secret.Name && p.GetDeletionTimestamp().IsZero()
	})
	if all.vm != nil && all.vm.Spec.Template != nil {
		referred = m.refersTo(all.vm, secret)
	}
	if referred {
		all.parts = append(all.parts, secret)
		all.Objects = append(all.Objects, provider.Object[client.Object]{Part: partOf(secret), Of: secret})
	}
}
