// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Labels that say whom an object on Harvester belongs to. Their names are those
// of the annotations on the request.
const (
	labelOwner   = v1alpha1.AnnotationOwnerID
	labelCluster = v1alpha1.AnnotationClusterID
	// labelMachine names the machine that a disk or Secret belongs to.
	labelMachine = v1alpha1.Group + "/machine"
)

// machines implements provider.Machines.
type machines struct {
	api    client.WithWatch
	place  v1alpha1.HarvesterSpec
	config string
}

func rootName(machine string) string { return machine + "-root" }

func diskName(machine string, i int) string { return machine + "-disk-" + strconv.Itoa(i+1) }

func secretName(machine string) string { return machine + "-cloudinit" }

// owned reports whether an object belongs to the owner.
func owned(o client.Object, owner provider.Owner) bool {
	return owner.ID != "" && o.GetLabels()[labelOwner] == owner.ID
}

func ownerOf(o client.Object) provider.Owner {
	return provider.Owner{ID: o.GetLabels()[labelOwner], ClusterID: o.GetLabels()[labelCluster]}
}

func (m *machines) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: m.place.Namespace, Name: name}
}

// get reads an object of ours; nil means that it is missing or somebody else's.
func get[T client.Object](ctx context.Context, m *machines, o T, owner provider.Owner) (T, error) {
	var none T
	err := m.api.Get(ctx, client.ObjectKeyFromObject(o), o)
	if err != nil {
		return none, client.IgnoreNotFound(err)
	}
	if !owned(o, owner) {
		return none, nil
	}
	return o, nil
}

// List reports every machine of the owner, also those of which only disks or
// cloud-init data are left.
func (m *machines) List(ctx context.Context, owner provider.Owner) ([]provider.Machine, error) {
	op := "list machines on " + m.config
	match := client.MatchingLabels{}
	if owner.ID != "" {
		match[labelOwner] = owner.ID
	}
	if owner.ClusterID != "" {
		match[labelCluster] = owner.ClusterID
	}
	if len(match) == 0 {
		return nil, invalid(op, "OwnerMissing", nil, "name a request or a cluster")
	}
	refs, err := m.refs(ctx, match)
	if err != nil {
		return nil, apiError(op, err)
	}
	found := make([]provider.Machine, 0, len(refs))
	for _, ref := range refs {
		one, err := m.Observe(ctx, ref)
		if err != nil {
			return nil, err
		}
		if one.State != provider.StateAbsent {
			found = append(found, one)
		}
	}
	return found, nil
}

// refs collects the machines that labelled objects belong to, by owner.
func (m *machines) refs(ctx context.Context, match client.MatchingLabels) ([]provider.MachineRef, error) {
	in := client.InNamespace(m.place.Namespace)
	vms, claims, secrets := &kubevirtv1.VirtualMachineList{}, &corev1.PersistentVolumeClaimList{}, &corev1.SecretList{}
	if err := m.api.List(ctx, vms, in, match); err != nil {
		return nil, err
	}
	if err := m.api.List(ctx, claims, in, match); err != nil {
		return nil, err
	}
	// Without the permission to list Secrets, one that was made before its disks
	// is not found here; its own request still finds it by name.
	if err := m.api.List(ctx, secrets, in, match); err != nil && !forbidden(err) {
		return nil, err
	}
	byOwner := map[string]provider.MachineRef{}
	note := func(o client.Object, name string) {
		byOwner[ownerOf(o).ID] = provider.MachineRef{Name: name, Owner: ownerOf(o)}
	}
	for i := range secrets.Items {
		note(&secrets.Items[i], secrets.Items[i].Labels[labelMachine])
	}
	for i := range claims.Items {
		note(&claims.Items[i], claims.Items[i].Labels[labelMachine])
	}
	for i := range vms.Items {
		note(&vms.Items[i], vms.Items[i].Name)
	}
	keys := slices.Sorted(maps.Keys(byOwner))
	refs := make([]provider.MachineRef, 0, len(keys))
	for _, k := range keys {
		refs = append(refs, byOwner[k])
	}
	return refs, nil
}

func sorted(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
