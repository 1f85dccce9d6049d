// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"maps"
	"reflect"
	"slices"
)

// updateVM begins to change a VM. The spec of the request replaces that of the VM, if it is
// a change of the present one.
func updateVM(c *call) (any, error) {
	e, metadata := c.st.get(kindVM, c.params[0]), c.body.sub("metadata")
	switch {
	case e == nil:
		return nil, notFound(kindVM, c.params[0])
	case metadata.has("uuid") && metadata.str("uuid") != e.UUID:
		return nil, refusal{status: 422, kind: kindVM, reason: "ENTITY_NAME_UUID_MISMATCH", message: "metadata.uuid is not that of the entity."}
	case !metadata.has("spec_version"):
		return nil, invalid("metadata", "'spec_version' is a required property")
	case metadata.num("spec_version") != e.SpecVersion, c.pending(e), e.Deleting, !e.Exists:
		return nil, editConflict(kindVM)
	}
	next := *e
	next.Spec, next.Categories = c.body.sub("spec").copied(), maps.Clone(e.Categories)
	for _, check := range []func(*entity, object) error{c.checkVM, c.orderCategories, c.orderProject, c.orderOwner} {
		if err := check(&next, metadata); err != nil {
			return nil, err
		}
	}
	if err := checkChange(e, &next); err != nil {
		return nil, err
	}
	spec := next.Spec
	next.Spec = e.Spec // until the task has ended
	*e = next
	answer, err := c.accept(e, taskUpdate, spec)
	e.SpecVersion++
	e.Updated = c.now
	c.st.put(e)
	return answer, err
}

// checkChange refuses changes that cannot be carried out.
func checkChange(e, next *entity) error {
	old, r := e.resources(), next.resources()
	if next.Spec.sub("cluster_reference").str("uuid") != e.Spec.sub("cluster_reference").str("uuid") {
		return invalid("spec.cluster_reference", "The cluster of a VM cannot be changed")
	}
	if r.has("guest_customization") && !reflect.DeepEqual(r.sub("guest_customization").copied(), old.sub("guest_customization").copied()) {
		return invalid("spec.resources.guest_customization", "Guest customization can be set only when a VM is created")
	}
	var have, want []string
	for _, n := range old.subs("nic_list") {
		have = append(have, n.str("uuid")+n.sub("subnet_reference").str("uuid"))
	}
	for _, n := range r.subs("nic_list") {
		want = append(want, n.str("uuid")+n.sub("subnet_reference").str("uuid"))
	}
	if !slices.Equal(have, want) {
		return notSimulated("spec.resources.nic_list")
	}
	return nil
}

// applyUpdate carries a change out.
func (p *Prism) applyUpdate(t task) error {
	p.Lock()
	defer p.Unlock()
	e := p.st.get(kindVM, t.UUID)
	if e == nil {
		return failure("ENTITY_NOT_FOUND", "VM %s does not exist.", t.UUID)
	}
	p.auditGone(e) // it may lose disks
	err := p.change(e, t.Spec)
	if err == nil {
		err = p.bringPower(e)
	}
	return p.settle(e, err)
}

// change replaces the spec of a VM, with what the platform has added to the present one.
func (p *Prism) change(e *entity, spec object) error {
	old := e.resources()
	next := &entity{Kind: kindVM, UUID: e.UUID, Spec: spec}
	r := next.resources()
	if e.On && (r.num("memory_size_mib") < old.num("memory_size_mib") || max(r.num("num_sockets"), 1) < old.num("num_sockets") ||
		max(r.num("num_vcpus_per_socket"), 1) != old.num("num_vcpus_per_socket")) {
		return failure("INVALID_ARGUMENT", "The VM must be powered off to change its processors or reduce its memory.")
	}
	if err := keepDisks(old, r); err != nil {
		return err
	}
	if len(old.sub("guest_customization")) > 0 {
		r["guest_customization"] = old["guest_customization"]
	}
	r["nic_list"] = old["nic_list"]
	if err := p.complete(next); err != nil {
		return err
	}
	e.Spec = next.Spec
	return nil
}

// keepDisks has disks that are named by their UUID keep what they are. They can grow.
func keepDisks(old, r object) error {
	for _, d := range r.subs("disk_list") {
		id := d.str("uuid")
		if id == "" {
			continue
		}
		i := slices.IndexFunc(old.subs("disk_list"), func(o object) bool { return o.str("uuid") == id })
		if i < 0 {
			return failure("INVALID_ARGUMENT", "Disk %s does not exist.", id)
		}
		before := old.subs("disk_list")[i]
		size := d.num("disk_size_bytes")
		if size == 0 {
			size = d.num("disk_size_mib") << 20
		}
		if size < before.num("disk_size_bytes") {
			return failure("INVALID_ARGUMENT", "Disk %s cannot shrink.", id)
		}
		maps.Copy(d, before)
		if size > 0 { // an empty drive has none
			d["disk_size_bytes"], d["disk_size_mib"] = size, bytesToMiB(size)
		}
	}
	return nil
}
