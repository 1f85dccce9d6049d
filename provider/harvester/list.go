// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

// The words for what a machine consists of.
const (
	partMachine = "machine"
	partDisk    = "disk"
	partSecret  = "secret"
)

// estate is all that Harvester holds for one owner.
type estate struct {
	owner  provider.Owner
	name   string
	vm     *kubevirtv1.VirtualMachine
	vmi    *kubevirtv1.VirtualMachineInstance
	parts  []provider.Part
	called bool // an object carries the cluster's name that is asked for
	blind  bool // Secrets could not be listed
}

// List reports every machine of the owner, also those of which only disks or
// cloud-init data are left. All of it is read with one request per kind, besides
// those for machines that are not up.
func (m *machines) List(ctx context.Context, owner provider.Owner) ([]provider.Machine, error) {
	op := "list machines on " + m.config
	if owner == (provider.Owner{}) {
		return nil, invalid(op, "OwnerMissing", nil, "name a request or a cluster")
	}
	all, err := m.estates(ctx, owner)
	if err != nil {
		return nil, apiError(op, err)
	}
	found := make([]provider.Machine, 0, len(all))
	for _, e := range all {
		one, err := m.seen(ctx, op, e)
		if err != nil {
			return nil, err
		}
		if one.State != provider.StateAbsent {
			found = append(found, one)
		}
	}
	return found, nil
}

// seen reports one machine of a list, as Observe would.
func (m *machines) seen(ctx context.Context, op string, e *estate) (provider.Machine, error) {
	ref := provider.MachineRef{Name: e.name, Owner: e.owner}
	one, err := m.stateOf(ctx, op, ref, e)
	if err != nil {
		return provider.Machine{}, err
	}
	if e.blind {
		if err := m.addSecret(ctx, op, ref, e); err != nil {
			return provider.Machine{}, err
		}
	}
	slices.SortFunc(e.parts, func(a, b provider.Part) int {
		return strings.Compare(rank(a)+a.Name, rank(b)+b.Name)
	})
	one.Parts = e.parts
	return one, nil
}

// addSecret looks for the Secret of one machine by its name, where Secrets may not
// be listed.
func (m *machines) addSecret(ctx context.Context, op string, ref provider.MachineRef, e *estate) error {
	secret, err := get(ctx, m, &corev1.Secret{ObjectMeta: m.meta(secretName(ref.Name))}, ref.Owner)
	if err != nil && !forbidden(err) {
		return apiError(op, err)
	}
	if err == nil && secret != nil {
		e.parts = append(e.parts, provider.Part{Kind: partSecret, Name: secret.Name})
	}
	return nil
}

func (m *machines) stateOf(ctx context.Context, op string, ref provider.MachineRef, e *estate) (provider.Machine, error) {
	if e.vm == nil {
		return m.remains(ctx, op, ref)
	}
	return m.examine(ctx, op, ref, e.vm, e.vmi)
}

// rank puts the machine before its disks, and those before its Secret.
func rank(p provider.Part) string {
	return map[string]string{partMachine: "0", partDisk: "1", partSecret: "2"}[p.Kind]
}

// estates collects labelled objects by the request that they were made for. By the
// ids Harvester selects; every object has them. By the name it is done here: what
// an older driver made may carry it on the machine alone.
func (m *machines) estates(ctx context.Context, owner provider.Owner) ([]*estate, error) {
	objects, blind, err := m.labelled(ctx, selector(owner))
	if err != nil {
		return nil, err
	}
	byOwner := map[string]*estate{}
	for _, o := range objects {
		id := o.GetLabels()[labelOwner]
		if id == "" {
			continue
		}
		if byOwner[id] == nil {
			byOwner[id] = &estate{blind: blind}
		}
		byOwner[id].add(o, owner.Cluster)
	}
	var all []*estate
	for _, id := range sortedKeys(byOwner) {
		if owner.Cluster == "" || byOwner[id].called {
			all = append(all, byOwner[id])
		}
	}
	return all, nil
}

func selector(owner provider.Owner) client.ListOption {
	match := client.MatchingLabels{}
	if owner.ID != "" {
		match[labelOwner] = owner.ID
	}
	if owner.ClusterID != "" {
		match[labelCluster] = owner.ClusterID
	}
	if len(match) == 0 {
		return client.HasLabels{labelOwner}
	}
	return match
}

// labelled reads what the selector matches: Secrets and disks first, so that the
// name of a machine comes from its VirtualMachine where there is one. Blind says
// that Secrets may not be listed: one that was made before its disks is not found
// then, except by its own request, which knows its name.
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

// add notes one object of the owner.
func (e *estate) add(o client.Object, cluster string) {
	e.called = e.called || o.GetLabels()[labelName] == cluster
	switch o := o.(type) {
	case *kubevirtv1.VirtualMachineInstance:
		e.vmi = o // it is no part: KubeVirt makes and removes it
		return
	case *kubevirtv1.VirtualMachine:
		e.vm = o
		e.name = o.Name
		e.parts = append(e.parts, provider.Part{Kind: partMachine, Name: o.Name})
	case *corev1.PersistentVolumeClaim:
		e.name = o.Labels[labelMachine]
		e.parts = append(e.parts, provider.Part{Kind: partDisk, Name: o.Name})
	case *corev1.Secret:
		e.name = o.Labels[labelMachine]
		e.parts = append(e.parts, provider.Part{Kind: partSecret, Name: o.Name})
	}
	name := e.owner.Cluster
	e.owner = ownerOf(o)
	if e.owner.Cluster == "" {
		e.owner.Cluster = name
	}
}
