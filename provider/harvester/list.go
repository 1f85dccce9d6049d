// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// List reports every machine of the owner, also those of which only disks, cloud-init
// data or copies are left. It costs one request per kind, however many machines
// there are and in whatever state.
func (m *machines) List(ctx context.Context, owner provider.Owner) ([]provider.Machine, error) {
	op := "list machines on " + m.config
	if err := provider.CheckOwner(op, owner); err != nil {
		return nil, err
	}
	objects, blind, err := m.labelled(ctx, selector(owner))
	if err != nil {
		return nil, apiError(op, err)
	}
	var found []provider.Machine
	for _, g := range provider.Assemble(objects, owner.Cluster) {
		found = append(found, m.listed(newOwnedObjects(g), blind))
	}
	return found, nil
}

func selector(owner provider.Owner) client.ListOption {
	if match := (tag.Style{}).Write(tag.Set{OwnerID: owner.ID, ClusterID: owner.ClusterID}); len(match) > 0 {
		return client.MatchingLabels(match)
	}
	return client.HasLabels{tag.OwnerID}
}

// labelled reads what the selector matches: Secrets and disks first, so that the
// owner is that of the VirtualMachine where there is one. Blind means
// that Secrets may not be listed.
func (m *machines) labelled(ctx context.Context, match client.ListOption) (all []provider.Object[client.Object], blind bool, err error) {
	secrets, claims := &corev1.SecretList{}, &corev1.PersistentVolumeClaimList{}
	vms, vmis := &kubevirtv1.VirtualMachineList{}, &kubevirtv1.VirtualMachineInstanceList{}
	in := client.InNamespace(m.spec.Namespace)
	for _, l := range []client.ObjectList{vms, claims} {
		if err := m.api.List(ctx, l, in, match); err != nil {
			return nil, false, err
		}
	}
	// Without the permission to list instances, no machine is known to run.
	if err := m.api.List(ctx, vmis, in, match); err != nil && !forbidden(err) {
		return nil, false, err
	}
	if err := m.api.List(ctx, secrets, in, match); err != nil {
		if blind = forbidden(err); !blind {
			return nil, false, err
		}
	}
	for _, l := range []client.ObjectList{secrets, claims, vms, vmis} {
		_ = meta.EachListItem(l, func(o runtime.Object) error {
			all = append(all, object(o.(client.Object)))
			return nil
		})
	}
	return all, blind, nil
}

// object is an object with what its labels say. An instance is no part of a machine:
// KubeVirt creates and removes it.
func object(o client.Object) provider.Object[client.Object] {
	out := provider.Object[client.Object]{Tags: tagsOf(o), Copy: !original(o), Part: partOf(o), Of: o}
	if _, instance := o.(*kubevirtv1.VirtualMachineInstance); instance {
		out.Part = provider.Part{}
	}
	return out
}

// listed reports one machine of a list, as Observe would.
func (m *machines) listed(o ownedObjects, blind bool) provider.Machine {
	if blind {
		o.inferSecret(m)
	}
	one := remnant(o.Ref, o.parts)
	if o.vm != nil {
		one = report(o.vm, o.Ref, o.vmi)
		if uncertain(one, o.vmi) {
			missing, waiting := o.claims(m)
			one = withParts(one, missing, waiting)
		}
	}
	one.Parts, one.Copies = o.Parts()
	return one
}
