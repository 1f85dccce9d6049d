// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// The words for what a machine consists of.
const (
	partMachine = "machine"
	partDisk    = "disk"
	partSecret  = "secret"
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
	for _, e := range estates(objects, owner.Cluster) {
		e.blind = blind
		if one := m.listed(e); one.State != provider.StateAbsent || len(one.Copies) > 0 {
			found = append(found, one)
		}
	}
	return found, nil
}

func selector(owner provider.Owner) client.ListOption {
	if match := (tag.Style{}).Write(tag.Set{OwnerID: owner.ID, ClusterID: owner.ClusterID}); len(match) > 0 {
		return client.MatchingLabels(match)
	}
	return client.HasLabels{tag.OwnerID}
}

// labelled reads what the selector matches: Secrets and disks first, so that what a
// machine says of itself comes from its VirtualMachine where there is one. Blind says
// that Secrets may not be listed.
func (m *machines) labelled(ctx context.Context, match client.ListOption) (all []client.Object, blind bool, err error) {
	secrets, claims := &corev1.SecretList{}, &corev1.PersistentVolumeClaimList{}
	vms, vmis := &kubevirtv1.VirtualMachineList{}, &kubevirtv1.VirtualMachineInstanceList{}
	in := client.InNamespace(m.place.Namespace)
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
	for i := range secrets.Items {
		all = append(all, &secrets.Items[i])
	}
	for i := range claims.Items {
		all = append(all, &claims.Items[i])
	}
	for i := range vms.Items {
		all = append(all, &vms.Items[i])
	}
	for i := range vmis.Items {
		all = append(all, &vmis.Items[i])
	}
	return all, blind, nil
}

// listed reports one machine of a list, as Observe would.
func (m *machines) listed(e *estate) provider.Machine {
	ref := provider.MachineRef{Name: e.name, Owner: e.owner}
	if e.blind {
		e.inferSecret(m)
	}
	one := remnant(ref, e.parts)
	if e.vm != nil {
		one = report(e.vm, ref, e.vmi)
		if uncertain(one, e.vmi) {
			missing, waiting := e.claims(m)
			one = withParts(one, missing, waiting)
		}
	}
	one.Parts, one.Copies = e.shown()
	return one
}
