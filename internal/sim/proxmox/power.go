// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// startGuest, stopGuest, shutdownGuest and rebootGuest begin tasks. Whether the VM can
// start is found out there.
func startGuest(c *call) (any, error)    { return c.power("qmstart") }
func stopGuest(c *call) (any, error)     { return c.power("qmstop") }
func shutdownGuest(c *call) (any, error) { return c.power("qmshutdown") }
func rebootGuest(c *call) (any, error)   { return c.power("qmreboot") }

// rootOnly are the parameters of power calls for root alone.
func rootOnly() []string {
	return []string{"skiplock", "stateuri", "migratedfrom", "migration_type", "migration_network", "targetstorage", "force-cpu", "keepActive"}
}

func (c *call) power(kind string) (any, error) {
	for _, name := range rootOnly() {
		if v := c.params[name]; v != "" && v != "0" && !c.isRoot() {
			return nil, wrongParam(name, "Only root may use this option.")
		}
	}
	if kind == "qmreboot" {
		g, err := c.guest()
		if err != nil {
			return nil, err
		}
		if !g.Running {
			return nil, fail("VM %s not running", g.id())
		}
	}
	return c.fork(kind, c.params["vmid"], c.params), nil
}

// guestOf returns the VM of a task on its node.
func (p *PVE) guestOf(t *task) (*guest, error) {
	g := p.st.guests.ByID[t.ID]
	if g == nil || g.Node != t.Node {
		return nil, fail("Configuration file 'nodes/%s/qemu-server/%s.conf' does not exist", t.Node, t.ID)
	}
	return g, nil
}

func endStart(p *PVE, t *task) error {
	g, err := p.guestOf(t)
	if err != nil {
		return err
	}
	if g.isTemplate() {
		return fail("you can't start a vm if it's a template")
	}
	if t.Params["skiplock"] != "1" {
		if err := g.checkLock(); err != nil {
			return err
		}
	}
	if g.Running {
		return fail("VM %s already running", g.id())
	}
	p.applyPending(g)
	if err := p.checkStart(t, g); err != nil {
		return err
	}
	if err := p.powerOn(g); err != nil {
		return err
	}
	p.started(g)
	p.Started(p.machine(g))
	return nil
}

// checkStart refuses a VM that QEMU cannot run.
func (p *PVE) checkStart(t *task, g *guest) error {
	for name, value := range g.Config {
		if strings.HasPrefix(name, "net") {
			parts, _ := parseOption("net", name, value)
			if bridge := parts["bridge"]; bridge != "" && !p.hasBridge(g.Node, bridge) {
				return fail("bridge '%s' does not exist", bridge)
			}
		}
		drive := parseDrive(name, value)
		if file := drive["file"]; inUse(name) && storageName(file) != "" && p.st.volumeAt(file, g.Node) == nil {
			return fail("volume '%s' does not exist", file)
		}
	}
	n := p.node(g.Node)
	_, full := p.Options.Faults.WithoutCapacity(g.name())
	if full || p.usedMemory(g.Node)+g.memory() > n.MemoryGB<<10 || !p.Hosts {
		t.print("kvm: cannot set up guest memory 'pc.ram': Cannot allocate memory")
		return errors.New("start failed: QEMU exited with code 1")
	}
	if g.cpus() > n.CPUs {
		return fail("MAX %d vcpus allowed per VM on this node", n.CPUs)
	}
	return nil
}

func (p *PVE) hasBridge(node, bridge string) bool {
	return slices.Contains(p.node(node).Bridges, bridge)
}

// usedMemory is that of the VMs that run on a node, in megabytes.
func (p *PVE) usedMemory(node string) (mb int) {
	for _, g := range p.st.guests.ByID {
		if g.Running && g.Node == node {
			mb += g.memory()
		}
	}
	return mb
}

// memory is that of a VM in megabytes.
func (g *guest) memory() int {
	if mb, err := strconv.Atoi(strings.TrimPrefix(g.Config["memory"], "current=")); err == nil {
		return mb
	}
	return 512
}

func (g *guest) cpus() int {
	count := func(name string) int {
		if v, err := strconv.Atoi(g.Config[name]); err == nil {
			return v
		}
		return 1
	}
	return count("cores") * count("sockets")
}

func endStop(p *PVE, t *task) error {
	g, err := p.guestOf(t)
	if err != nil {
		return err
	}
	if t.Params["skiplock"] != "1" {
		if err := g.checkLock(); err != nil {
			return err
		}
	}
	p.halt(g)
	return nil
}

func endReboot(p *PVE, t *task) error {
	g, err := p.guestOf(t)
	if err != nil {
		return err
	}
	if err := g.checkLock(); err != nil {
		return err
	}
	p.halt(g)
	p.applyPending(g)
	if err := p.powerOn(g); err != nil {
		return err
	}
	p.started(g)
	return nil
}

// halt powers a VM off. The lock is released meanwhile.
func (p *PVE) halt(g *guest) {
	if !g.Running {
		return
	}
	g.Running = false
	p.Unlock()
	p.Options.Datacenter.PowerOff(g.UUID)
	p.Lock()
	p.stopped(g)
}

// destroyGuest begins to delete a VM.
func destroyGuest(c *call) (any, error) {
	if c.params["skiplock"] == "1" && !c.isRoot() {
		return nil, wrongParam("skiplock", "Only root may use this option.")
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := checkDestroy(g); err != nil {
		return nil, err
	}
	return c.fork("qmdestroy", c.params["vmid"], c.params), nil
}

func checkDestroy(g *guest) error {
	if g.Config["protection"] == "1" {
		return fail("can't remove VM %s - protection mode enabled", g.id())
	}
	if g.Running {
		return fail("VM %s is running - destroy failed", g.id())
	}
	return nil
}

// endDestroy deletes a VM with its disks, and on request with those that its configuration
// does not name.
func endDestroy(p *PVE, t *task) error {
	g, err := p.guestOf(t)
	if err != nil {
		return err
	}
	if err := checkDestroy(g); err != nil {
		return err
	}
	if t.Params["skiplock"] != "1" {
		if err := g.checkLock(); err != nil {
			return err
		}
	}
	all := t.Params["destroy-unreferenced-disks"] == "1"
	for _, v := range p.disksOf(g, all) {
		if p.linked(v) {
			return fail("base volume '%s' is still in use by linked cloned", v.ID)
		}
	}
	for _, v := range p.disksOf(g, all) {
		if p.seed.Debris == "disks" {
			t.print("WARN: Could not remove disk '%s', check manually: can't lock file '/var/lock/pve-manager/pve-storage-%s' - got timeout", v.ID, v.Storage)
			continue
		}
		p.free(v)
	}
	if t.Params["purge"] == "1" {
		t.print("purging VM %s from related configurations..", g.id())
	}
	p.drop(g)
	return nil
}

// disksOf are the disks of a VM that its configuration names, or all.
func (p *PVE) disksOf(g *guest, all bool) (out []*volume) {
	named := map[string]bool{}
	for _, config := range []map[string]string{g.Config, g.Pending} {
		for name, value := range config {
			if isDrive(name) {
				named[parseDrive(name, value)["file"]] = true
			}
		}
	}
	for _, v := range p.st.volumes.All() {
		here := v.Node == "" || v.Node == g.Node
		if v.VMID == g.VMID && v.Content == "images" && here && (all || named[v.ID]) {
			out = append(out, v)
		}
	}
	return out
}

// drop removes a VM and its machine.
func (p *PVE) drop(g *guest) {
	p.st.guests.Remove(g.id())
	p.Options.Auditor.Gone(fault.Machine, g.UUID)
	if !p.Hosts || g.Copy {
		return
	}
	p.Unlock()
	err := p.Options.Datacenter.Remove(g.UUID)
	p.Lock()
	if err != nil {
		p.Options.Log.Error("remove the machine of a VM", "vmid", g.VMID, "err", err)
	}
}

// migrateGuest begins to move a VM to another node.
func migrateGuest(c *call) (any, error) {
	target := c.params["target"]
	if target == c.at() {
		return nil, wrongParam("target", "target is local node.")
	}
	n := c.node(target)
	if n == nil {
		return nil, fail("no such cluster node '%s'", target)
	}
	for _, name := range []string{"force", "migration_type", "migration_network"} {
		if c.params[name] != "" && !c.isRoot() {
			return nil, wrongParam(name, "Only root may use this option.")
		}
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := g.checkLock(); err != nil {
		return nil, err
	}
	if g.Running && c.params["online"] != "1" {
		return nil, fail("can't migrate running VM without --online")
	}
	for _, v := range c.disksOf(g, false) {
		if _, err := c.storageFor(v.Storage, target); err != nil {
			return nil, err
		}
	}
	return c.fork("qmigrate", c.params["vmid"], c.params), nil
}

func beginMigrate(p *PVE, t *task) error {
	g, err := p.guestOf(t)
	if err != nil {
		return err
	}
	if err := g.checkLock(); err != nil {
		return err
	}
	target := p.node(t.Params["target"])
	if target.Offline {
		return fail("migration aborted: Can't connect to destination address using public key")
	}
	for name, value := range g.Config {
		v := p.st.volumeAt(parseDrive(name, value)["file"], g.Node)
		local := v != nil && v.Node != ""
		if local && inUse(name) && (v.Content == "iso" || g.Running && t.Params["with-local-disks"] != "1") {
			return fail("migration aborted: can't migrate local disk '%s': can't live migrate attached local disks without with-local-disks option", v.ID)
		}
	}
	g.Config["lock"] = "migrate"
	p.st.put(g)
	return nil
}

func endMigrate(p *PVE, t *task) error {
	g, err := p.guestOf(t)
	if err != nil {
		return err
	}
	p.move(g, t.Params["target"])
	delete(g.Config, "lock")
	p.st.put(g)
	t.print("migration finished successfully")
	return nil
}

// move has a VM on another node, with its local disks.
func (p *PVE) move(g *guest, target string) {
	for _, v := range p.disksOf(g, true) {
		if v.Node != "" {
			p.st.volumes.Remove(v.key())
			p.Options.Auditor.Gone(v.resource(), v.key())
			v.Node = target
			p.st.volumes.Put(v.key(), v)
			p.auditVolume(v)
		}
	}
	g.Node = target
	p.st.put(g)
}

// makeTemplate begins to convert a VM into a template.
func makeTemplate(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if g.isTemplate() {
		return nil, fail("you can't convert a template to a template")
	}
	if g.Running {
		return nil, fail("you can't convert a VM to template if VM is running")
	}
	return c.fork("qmtemplate", c.params["vmid"], c.params), nil
}

func endTemplate(p *PVE, t *task) error {
	g, err := p.guestOf(t)
	if err != nil {
		return err
	}
	g.Config["template"] = "1"
	for name, value := range g.Config {
		drive := parseDrive(name, value)
		v := p.st.volumeAt(drive["file"], g.Node)
		if !inUse(name) || isCDROM(drive) || v == nil {
			continue
		}
		p.st.volumes.Remove(v.key())
		v.ID = strings.Replace(v.ID, fmt.Sprintf("vm-%d-", g.VMID), fmt.Sprintf("base-%d-", g.VMID), 1)
		p.st.volumes.Put(v.key(), v)
		drive["file"] = v.ID
		g.Config[name] = printDrive(name, drive)
	}
	p.st.put(g)
	return nil
}
