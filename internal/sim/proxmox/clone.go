// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// allowClone needs the right to clone and to allocate the new ID. The platform does not say
// which of the latter's alternatives is missing.
func allowClone(c *call) error {
	if err := c.need("/vms/"+c.params["vmid"], "VM.Clone"); err != nil {
		return err
	}
	if !c.may("/vms/"+c.params["newid"], "VM.Allocate") {
		return denied("")
	}
	return nil
}

// cloneGuest begins to clone a VM.
func cloneGuest(c *call) (any, error) {
	if err := c.checkClone(); err != nil {
		return nil, err
	}
	if c.params["target"] == c.at() {
		delete(c.params, "target")
	}
	return c.fork("qmclone", c.params["vmid"], c.params), nil
}

// hasFeature says whether all disks of a VM can be cloned or copied, and which nodes see them.
func hasFeature(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	able := c.params["feature"] != "snapshot" && c.checkCopies(g, c.params["feature"] == "copy") == nil
	nodes := []string{g.Node}
	if shared, err := c.checkCloneAccess(g); err == nil && shared {
		nodes = nil
		for _, n := range c.seed.Nodes {
			nodes = append(nodes, n.Name)
		}
	}
	return map[string]any{"hasFeature": map[bool]int{true: 1}[able], "nodes": nodes}, nil
}

// checkClone refuses a clone before its task begins.
func (c *call) checkClone() error {
	target := c.params["target"]
	if target != "" && c.node(target) == nil {
		return fail("no such cluster node '%s'", target)
	}
	if c.params["pool"] != "" {
		return fail("pool '%s' does not exist", c.params["pool"])
	}
	if err := c.checkCloneStorage(target); err != nil {
		return err
	}
	g, err := c.guest()
	if err != nil {
		return err
	}
	if err := g.checkLock(); err != nil {
		return err
	}
	full := isFull(g, c.params)
	for _, name := range []string{"storage", "format"} {
		if c.params[name] != "" && !full {
			return fail("parameter '%s' not allowed for linked clones", name)
		}
	}
	if snapshot := c.params["snapname"]; snapshot != "" {
		return fail("snapshot '%s' does not exist", snapshot)
	}
	shared, err := c.checkCloneAccess(g)
	if err != nil {
		return err
	}
	if target != "" && target != c.at() && !shared {
		return fail("can't clone VM to node '%s' (VM uses local storage)", target)
	}
	return c.checkCopies(g, full)
}

// isFull reports whether a clone copies whole disks.
func isFull(g *guest, params map[string]string) bool {
	if full, said := params["full"]; said {
		return full == "1"
	}
	return !g.isTemplate()
}

func (c *call) checkCloneStorage(target string) error {
	name := c.params["storage"]
	if name == "" {
		return nil
	}
	s, err := c.storageFor(name, c.at())
	if err != nil {
		return err
	}
	if !s.has("images") {
		return wrongParam("storage", "storage '%s' does not support vm images", name)
	}
	if target == "" || target == c.at() {
		return nil
	}
	if _, err := c.storageFor(name, target); err != nil {
		return err
	}
	if !s.Shared {
		return fail("can't clone to non-shared storage '%s'", name)
	}
	return nil
}

// checkCloneAccess needs the right to use the storages and bridges of a VM, and reports
// whether all its disks are on shared storages.
func (c *call) checkCloneAccess(g *guest) (shared bool, err error) {
	shared = true
	for _, name := range slices.Sorted(maps.Keys(g.Config)) {
		drive := parseDrive(name, g.Config[name])
		storage := storageName(drive["file"])
		if !inUse(name) || storage == "" {
			continue
		}
		s := c.storage(storage)
		if s == nil {
			return false, fail("storage '%s' does not exist", storage)
		}
		shared = shared && s.Shared
		if isCDROM(drive) {
			continue
		}
		if c.params["storage"] != "" {
			storage = c.params["storage"]
		}
		if err := c.need("/storage/"+storage, "Datastore.AllocateSpace"); err != nil {
			return false, err
		}
	}
	return shared, c.checkBridges(g.Config)
}

// checkBridges needs the right to use the bridges of network devices.
func (c *call) checkBridges(config map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if !strings.HasPrefix(name, "net") {
			continue
		}
		parts, _ := parseOption("net", name, config[name])
		path := "/sdn/zones/localnetwork/" + parts["bridge"]
		if parts["tag"] != "" {
			path += "/" + parts["tag"]
		}
		if parts["bridge"] == "" || c.isRoot() {
			continue
		}
		if err := c.need(path, "SDN.Use"); err != nil {
			return err
		}
	}
	return nil
}

// checkCopies refuses an ID that is taken on the node, and disks that cannot be copied.
func (c *call) checkCopies(g *guest, full bool) error {
	if taken := c.st.guests.ByID[c.params["newid"]]; taken != nil && taken.Node == g.Node {
		return fail("unable to create VM %s: config file already exists", c.params["newid"])
	}
	for _, name := range slices.Sorted(maps.Keys(g.Config)) {
		drive := parseDrive(name, g.Config[name])
		if !inUse(name) || isCDROM(drive) && !isCloudinit(drive) {
			continue
		}
		v := c.st.volumeAt(drive["file"], g.Node)
		if v == nil {
			return fail("no such logical volume '%s'", drive["file"])
		}
		based := strings.Contains(v.ID, "base-"+g.id()+"-")
		if !full && !isCloudinit(drive) && (!based || !c.storage(v.Storage).links()) {
			return fail("Linked clone feature is not supported for '%s' (%s)", v.ID, name)
		}
	}
	return nil
}

func storageName(volid string) string {
	storage, _, found := strings.Cut(volid, ":")
	if !found || strings.HasPrefix(volid, "/") {
		return ""
	}
	return storage
}

// temporaryNote is the comment in the temporary file, which is read as a description.
const temporaryNote = " qmclone temporary file\n"

// beginClone repeats the checks under the locks of both VMs and reserves the ID: the
// configuration is a temporary file without a name until all disks are copied.
func beginClone(p *PVE, t *task) error {
	source := p.st.guests.ByID[t.ID]
	newID, _ := strconv.Atoi(t.Params["newid"])
	if source == nil || source.Node != t.Node {
		return fail("Configuration file 'nodes/%s/qemu-server/%s.conf' does not exist", t.Node, t.ID)
	}
	if err := source.checkLock(); err != nil {
		return err
	}
	taken := p.st.guests.ByID[t.Params["newid"]]
	switch {
	case taken != nil && taken.Temporary && p.cloningTo(taken.id(), t):
		return fail("can't lock file '/var/lock/qemu-server/lock-%d.conf' - got timeout", newID)
	case taken != nil && taken.Node == t.Node:
		return fail("unable to create VM %d: config file already exists", newID)
	case taken != nil:
		return fail("close (rename) atomic file '/etc/pve/nodes/%s/qemu-server/%d.conf' failed: File exists", t.Node, newID)
	}
	if p.seed.announcesClones() {
		t.print("creating a clone of VM %s with ID %d", t.ID, newID)
	}
	p.st.put(&guest{
		VMID: newID, Node: t.Node, UUID: uuid.NewString(), Config: map[string]string{"lock": "clone", "description": temporaryNote}, Pending: map[string]string{}, Temporary: true,
		Owner: setOf(t.Params),
	})
	return nil
}

// cloningTo reports whether another task on the node clones to an ID: it holds the lock file.
func (p *PVE) cloningTo(id string, except *task) bool {
	for _, t := range p.st.tasks.ByID {
		if t != except && t.running() && t.Type == "qmclone" && t.Node == except.Node && t.Params["newid"] == id {
			return true
		}
	}
	return false
}

// endClone copies the disks and writes the configuration.
func endClone(p *PVE, t *task) error {
	source, g := p.st.guests.ByID[t.ID], p.st.guests.ByID[t.Params["newid"]]
	if source == nil || g == nil || !g.Temporary {
		return errors.New("clone failed: the configuration is gone")
	}
	config, created, err := p.copyDisks(t, source, g)
	if err == nil && p.Options.Faults.FailsAtStart(t.Params["name"]) {
		err = errors.New("copy failed: command '/usr/bin/qemu-img convert -p -n -f raw -O raw' failed: exit code 1")
		if p.seed.Debris != "" {
			return p.leaveDebris(t, g, config, created, err)
		}
	}
	if err != nil {
		for _, v := range created {
			p.free(v)
		}
		p.drop(g)
		return fmt.Errorf("clone failed: %w", err)
	}
	if target := t.Params["target"]; target != "" {
		g.Node = target
	}
	g.Config, g.Temporary, g.Image = config, false, source.Image
	p.st.put(g)
	p.auditGuest(g)
	return nil
}

// leaveDebris is what a worker leaves that is killed: the volumes, or the volumes and the
// temporary configuration, or that which it writes after each disk.
func (p *PVE) leaveDebris(t *task, g *guest, config map[string]string, created []*volume, err error) error {
	if p.seed.Debris == "config" {
		config["lock"] = "clone"
		g.Config, g.Temporary = config, false
		p.st.put(g)
	}
	if p.seed.Debris == "volumes" {
		p.drop(g)
		for _, v := range created {
			v.Owner = setOf(t.Params)
			p.st.volumes.Put(v.key(), v)
			p.auditVolume(v)
		}
	}
	return fmt.Errorf("unexpected status: %w", err)
}

// copyDisks copies the disks of a VM and returns the configuration of the clone.
func (p *PVE) copyDisks(t *task, source, g *guest) (config map[string]string, created []*volume, err error) {
	full := isFull(source, t.Params)
	config = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(source.Config)) {
		value := source.Config[name]
		switch {
		case strings.HasPrefix(name, "unused") || name == "template" || name == "parent":
			continue
		case strings.HasPrefix(name, "net"):
			parts, _ := parseOption("net", name, value)
			parts["macaddr"] = randomMAC()
			value = printOption("net", parts)
		case inUse(name):
			drive := parseDrive(name, value)
			if isCDROM(drive) && !isCloudinit(drive) {
				break
			}
			v, err := p.copyDisk(t, source, g, drive, full)
			if err != nil {
				return nil, created, err
			}
			created = append(created, v)
			drive["file"], drive["size"] = v.ID, sizeText(v.Bytes)
			value = printDrive(name, drive)
		}
		config[name] = value
	}
	name := t.Params["name"]
	if name == "" {
		name = "Copy-of-VM-" + source.name()
	}
	config["name"], config["smbios1"] = name, "uuid="+g.UUID
	if text := t.Params["description"]; text != "" {
		config["description"] = text
	}
	return config, created, nil
}

// copyDisk copies one disk, wholly or as a difference.
func (p *PVE) copyDisk(t *task, source, g *guest, drive map[string]string, full bool) (*volume, error) {
	from := p.st.volumeAt(drive["file"], source.Node)
	if from == nil {
		return nil, fail("no such logical volume '%s'", drive["file"])
	}
	s := p.storage(from.Storage)
	if isCloudinit(drive) {
		return p.newCloudinit(g, s)
	}
	if name := t.Params["storage"]; full && name != "" {
		s = p.storage(name)
	}
	v := p.newVolume(g, s, "vm", from.Bytes)
	v.Image = from.Image
	t.print("create %s clone of drive (%s)", map[bool]string{true: "full", false: "linked"}[full], from.ID)
	if !full {
		v.Parent = from.ID
		if s.Type != "lvmthin" {
			v.ID = from.ID + "/" + strings.TrimPrefix(v.ID, s.Name+":")
		}
	}
	if err := p.alloc(v, s); err != nil {
		return v, err
	}
	if s.Type == "lvm" || s.Type == "lvmthin" {
		t.print(`  Logical volume "%s" created.`, strings.TrimPrefix(v.ID, s.Name+":"))
	}
	return v, nil
}
