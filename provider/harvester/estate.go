// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// estate is all that Harvester holds under the labels of one machine.
type estate struct {
	owner  provider.Owner
	name   string
	vm     *kubevirtv1.VirtualMachine
	vmi    *kubevirtv1.VirtualMachineInstance
	parts  []client.Object // disks and Secrets
	copies []client.Object
	called bool // an object carries the cluster's name that is asked for
	blind  bool // Secrets could not be listed
}

// estates groups labelled objects by the machine that they were created for, or
// copied from. Harvester selects by the ids, which every object has. The cluster's
// name is compared here: what an older driver made may carry it on the machine alone.
func estates(objects []client.Object, cluster string) []*estate {
	byMachine := map[string]*estate{}
	for _, o := range objects {
		l := o.GetLabels()
		if l[tag.OwnerID] == "" {
			continue
		}
		key := l[tag.OwnerID] + "/" + l[tag.Machine]
		if byMachine[key] == nil {
			byMachine[key] = &estate{name: l[tag.Machine]}
		}
		byMachine[key].add(o, cluster)
	}
	var all []*estate
	for _, key := range sortedKeys(byMachine) {
		if cluster == "" || byMachine[key].called {
			all = append(all, byMachine[key])
		}
	}
	return all
}

// add notes one object of the machine.
func (e *estate) add(o client.Object, cluster string) {
	e.called = e.called || o.GetLabels()[tag.Cluster] == cluster
	vm, isMachine := o.(*kubevirtv1.VirtualMachine)
	vmi, isInstance := o.(*kubevirtv1.VirtualMachineInstance)
	switch {
	case isInstance:
		if original(o) {
			e.vmi = vmi // it is no part: KubeVirt makes and removes it
		}
		return
	case !original(o):
		e.copies = append(e.copies, o)
		if e.owner.ID != "" {
			return
		}
	case isMachine:
		e.vm = vm
	default:
		e.parts = append(e.parts, o)
	}
	name := e.owner.Cluster
	e.owner = provider.OwnerOf(tagsOf(o))
	if e.owner.Cluster == "" {
		e.owner.Cluster = name
	}
}

// claims is machines.claims from what was listed. A disk or Secret that the driver
// did not create carries no labels of ours and is taken to exist.
func (e *estate) claims(m *machines) (missing, waiting string) {
	if e.vm.Spec.Template == nil {
		return "", ""
	}
	for _, v := range e.vm.Spec.Template.Spec.Volumes {
		o := m.behind(v)
		if o == nil {
			continue
		}
		there := e.find(o)
		if there == nil && e.creates(o) {
			return describe(o), ""
		}
		if c, ok := there.(*corev1.PersistentVolumeClaim); ok && c.Status.Phase == corev1.ClaimPending && waiting == "" {
			waiting = unprovisioned(c)
		}
	}
	return "", waiting
}

// find returns the listed object of this kind and name.
func (e *estate) find(o client.Object) client.Object {
	for _, p := range slices.Concat(e.parts, e.copies) {
		if partOf(p) == partOf(o) {
			return p
		}
	}
	return nil
}

// creates reports whether the driver gives such an object of the machine this name.
func (e *estate) creates(o client.Object) bool {
	o.SetLabels(map[string]string{tag.Machine: e.name})
	return original(o)
}

// inferSecret adds the Secret that the other objects of the machine refer to, where
// Secrets may not be listed: a VirtualMachine that refers to it, else a disk that is
// not being deleted. One that was created before its disks is not found then, except
// by its own request, which knows its name.
func (e *estate) inferSecret(m *machines) {
	secret := &corev1.Secret{ObjectMeta: m.meta(secretName(e.name))}
	referred := slices.ContainsFunc(e.parts, func(p client.Object) bool {
		return p.GetAnnotations()[annotationSecret] == secret.Name && p.GetDeletionTimestamp().IsZero()
	})
	if e.vm != nil && e.vm.Spec.Template != nil {
		referred = slices.ContainsFunc(e.vm.Spec.Template.Spec.Volumes, func(v kubevirtv1.Volume) bool {
			o := m.behind(v)
			return o != nil && partOf(o) == partOf(secret)
		})
	}
	if referred {
		e.parts = append(e.parts, secret)
	}
}

// shown are the parts and the copies for people, machines first.
func (e *estate) shown() (parts, copies []provider.Part) {
	if e.vm != nil {
		parts = append(parts, partOf(e.vm))
	}
	for _, o := range e.parts {
		parts = append(parts, partOf(o))
	}
	for _, o := range e.copies {
		copies = append(copies, partOf(o))
	}
	for _, all := range [][]provider.Part{parts, copies} {
		slices.SortFunc(all, func(a, b provider.Part) int { return strings.Compare(rank(a)+a.Name, rank(b)+b.Name) })
	}
	return parts, copies
}

// rank puts the machine before its disks, and those before its Secret.
func rank(p provider.Part) string {
	return map[string]string{partMachine: "0", partDisk: "1", partSecret: "2"}[p.Kind]
}
