// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/google/uuid"
)

// createGuest begins to create a VM without a template.
func createGuest(c *call) (any, error) {
	id, _ := strconv.Atoi(c.params["vmid"])
	if !c.may(fmt.Sprintf("/vms/%d", id), "VM.Allocate") && !c.isRoot() {
		return nil, denied("")
	}
	for _, name := range []string{"archive", "pool", "storage", "live-restore", "ha-managed"} {
		if c.params[name] != "" {
			return nil, fail("the simulated platform does not have the parameter '%s'", name)
		}
	}
	if c.st.guests.ByID[c.params["vmid"]] != nil {
		return nil, fail("unable to create VM %d - VM %d already exists on node '%s'", id, id, c.st.guests.ByID[c.params["vmid"]].Node)
	}
	g := &guest{VMID: id, Node: c.at(), UUID: uuid.NewString(), Config: map[string]string{}, Pending: map[string]string{}, Owner: setOf(c.params)}
	for _, name := range c.changes() {
		if err := c.checkChange(g, name); err != nil {
			return nil, err
		}
	}
	if err := c.checkBridges(c.params); err != nil {
		return nil, err
	}
	g.Config = map[string]string{"lock": "create"}
	c.st.put(g)
	params := maps.Clone(c.params)
	params[asUser] = c.who
	return c.fork("qmcreate", c.params["vmid"], params), nil
}

// endCreate writes the configuration of a new VM.
func endCreate(p *PVE, t *task) error {
	c := p.taskCall(t)
	g, err := c.guest()
	if err != nil {
		return errors.New("unable to create VM: the configuration is gone")
	}
	g.Config = map[string]string{"smbios1": "uuid=" + g.UUID, "meta": fmt.Sprintf("creation-qemu=10.1.2,ctime=%d", t.Start.Unix())}
	if err := c.apply(g); err != nil {
		for _, v := range p.disksOf(g, true) {
			p.free(v)
		}
		p.drop(g)
		return fmt.Errorf("unable to create VM %d - %w", g.VMID, err)
	}
	if t.Params["start"] == "1" {
		p.begin(&task{Node: t.Node, Type: "qmstart", ID: t.ID, User: t.User})
	}
	return nil
}
