// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"net/http"
	"time"
)

// pretend answers a deletion with a task that fails later: nothing is carried out.
func (p *Prism) pretend(w http.ResponseWriter, r *http.Request) {
	p.Lock()
	defer p.Unlock()
	c := &call{Prism: p, request: p.read(r), st: p.st, now: time.Now()}
	who, err := c.authenticate(r)
	if err != nil {
		writeRefusal(w, err)
		return
	}
	e := p.st.get(kindVM, c.params[0])
	if e == nil {
		writeRefusal(w, notFound(kindVM, c.params[0]))
		return
	}
	id, err := p.beginFor(who.UUID, taskPretended, e, nil)
	if err != nil {
		writeRefusal(w, err)
		return
	}
	write(w, http.StatusAccepted, deletion(kindVM, id))
}

// copyVM creates a copy of a VM that is off, with disks and interfaces of its own.
func (p *Prism) copyVM(e *entity, id, name string) {
	now := time.Now()
	c := &entity{
		Kind: kindVM, UUID: id, Spec: e.Spec.copied(), Created: now, Updated: now, Categories: e.Categories, Owner: e.Owner, Project: e.Project,
		State: stateComplete, Exists: true, Copy: true,
	}
	c.Spec["name"] = name
	r := c.resources()
	r["power_state"], r["parent_reference"] = "OFF", reference(kindVM, e.UUID, e.name())
	for _, d := range r.subs("disk_list") {
		d["uuid"] = newUUID()
	}
	for _, n := range r.subs("nic_list") {
		n["uuid"], n["ip_endpoint_list"] = newUUID(), []any{}
		n["mac_address"] = mac(n.str("uuid"))
	}
	p.st.put(c)
}

// createConflict creates a VM of a name that is off, without an owner. Names are not unique:
// it is created even if the name is taken.
func (p *Prism) createConflict(name string) (remove func(), err error) {
	now := time.Now()
	e := &entity{
		Kind: kindVM, UUID: newUUID(), Created: now, Updated: now, State: stateComplete, Exists: true,
		Spec: object{"name": name, "cluster_reference": reference(kindCluster, p.cluster(), ""), "resources": object{"memory_size_mib": 1024}},
	}
	if err := p.complete(e); err != nil {
		return nil, err
	}
	p.st.put(e)
	return func() { p.st.remove(e) }, nil
}
