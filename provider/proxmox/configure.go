// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// advance takes the steps that are left with a VM that was cloned. Every step looks at what
// the VM has, so that it can be repeated.
func (m machines) advance(ctx context.Context, op string, s provider.MachineSpec, c *cluster, v *vm) (provider.Machine, error) {
	defer m.creating.begin(v.VMID)()
	is, err := m.report(ctx, c, s.MachineRef, v)
	if err != nil || is.State != provider.StatePartial {
		return is, within(op, err)
	}
	if is.ID == "" {
		if t, broken, err := m.brokenClone(ctx, c, v); err != nil || broken {
			return m.replace(ctx, op, v, is, t, err)
		}
	}
	if lock := v.settings["lock"]; lock != "" {
		return is, nil
	}
	b := &build{machines: m, op: op, spec: s, seen: c, vm: v, is: is}
	if v.fresh() && v.now.Status == "running" {
		return b.started(ctx)
	}
	if err := m.readTasksOf(ctx, v); err != nil {
		return provider.Machine{}, within(op, err)
	}
	if t, runs := busy(v.tasks); runs {
		is.Message = fmt.Sprintf("%s: task %s runs", v, t.Type)
		return is, nil
	}
	return b.run(ctx)
}

// brokenClone returns the clone of a VM that was not configured yet, if it has failed: the
// configuration is written after each disk, and may be that of half a VM.
func (m machines) brokenClone(ctx context.Context, c *cluster, v *vm) (newest task, failed bool, err error) {
	var nodes []string
	for _, n := range c.nodes {
		if c.online(n.Node) {
			nodes = append(nodes, n.Node)
		}
	}
	clones := make([]task, len(nodes))
	err = each(len(nodes), func(i int) (err error) {
		clones[i], _, err = m.pending(ctx, nodes[i], v.VMID)
		return err
	})
	for _, t := range clones {
		if t.UPID != "" && (newest.UPID == "" || t.before(newest) || t.Start > newest.Start && !newest.running()) {
			newest = t
		}
	}
	return newest, err == nil && newest.UPID != "" && newest.failed(), err
}

// replace removes half a VM, so that it is cloned again. Only root may remove its lock.
func (m machines) replace(ctx context.Context, op string, v *vm, is provider.Machine, t task, err error) (provider.Machine, error) {
	is.Message = fmt.Sprintf("the clone of %s has failed: %s", v, stable(t.Status))
	switch {
	case err != nil:
		return provider.Machine{}, within(op, err)
	case v.settings["lock"] != "":
		is.Message += fmt.Sprintf("; run qm unlock %d on %s: it is deleted then, and cloned again", v.VMID, v.Node)
		return is, nil
	}
	var upid string
	if err := m.destroy(ctx, v.Node, v.VMID, &upid); err != nil && !gone(err) {
		return provider.Machine{}, within(op, err)
	}
	is.Message += "; it is being deleted"
	return is, nil
}

// wantedSettings are those of a machine. Whatever else the template has is kept.
func (m machines) wantedSettings(op string, s provider.MachineSpec, v *vm, iso string) (map[string]string, error) {
	tags, err := tagsOf(op, s, attempt{VMID: v.VMID, Node: v.node})
	if err != nil {
		return nil, err
	}
	net, err := m.network(op, s, v.settings)
	if err != nil {
		return nil, err
	}
	tags[wordNew] = ""
	root, _ := v.settings.root()
	all := map[string]string{
		"cores": strconv.Itoa(int(s.CPU)), "sockets": "1", "cpu": cmp.Or(m.spec.CPUType, "host"), "memory": strconv.Itoa(int(s.MemoryMB)), "balloon": "0",
		"net0": net, "agent": "enabled=1", "onboot": "1", "serial0": "socket", "tags": joined(tags), root.slot: root.with("serial", "root").String(),
	}
	if v.settings["protection"] == "1" { // that of the template: the machine could not be deleted
		all["protection"] = "0"
	}
	m.extraDisks(s, v.settings, all)
	cloudInit(v.settings, m.spec.Storage, iso, all)
	if iso == "" { // it has the address otherwise
		addressSettings(s.Network, v.settings, all)
	}
	return all, nil
}

func joined(tags map[string]string) string {
	var all []string
	for w := range tags {
		all = append(all, w)
	}
	slices.Sort(all)
	return strings.Join(all, ";")
}

// network is the first interface: that of the template on the wanted bridge, with a hardware
// address that is derived from the owner, so that a reservation stays valid.
func (m machines) network(op string, s provider.MachineSpec, have settings) (string, error) {
	model, _, o := have.nic()
	if len(o.params) > 0 {
		o.params = slices.Clone(o.params[1:])
	}
	if m.spec.Bridge != "" {
		o = o.with("bridge", m.spec.Bridge)
	}
	if o.get("bridge") == "" {
		return "", provider.Invalid.New(op, provider.ReasonNetworkNotFound, errors.New("neither the ProviderConfig nor the template names a bridge"), "set spec.proxmox.bridge")
	}
	if m.spec.VLAN != 0 {
		o = o.with("tag", strconv.Itoa(int(m.spec.VLAN)))
	}
	first := option{params: [][2]string{{cmp.Or(model, "virtio"), macOf(s.Owner.ID)}}}
	return option{params: append(first.params, o.params...)}.String(), nil
}

// macOf derives a hardware address from the owner, with the prefix of Proxmox.
func macOf(owner string) string {
	sum := sha256.Sum256([]byte("net0 " + owner))
	return fmt.Sprintf("BC:24:11:%02X:%02X:%02X", sum[0], sum[1], sum[2])
}

// extraDisks adds the disks that are missing. They are on the bus virtio, whose serial numbers
// Talos sees.
func (m machines) extraDisks(s provider.MachineSpec, have settings, into map[string]string) {
	slot := 1
	for i, d := range s.ExtraDisks {
		serial := fmt.Sprintf("disk-%d", i+1)
		if slices.ContainsFunc(have.drives(), func(d drive) bool { return d.get("serial") == serial }) {
			continue
		}
		for have[fmt.Sprintf("virtio%d", slot)] != "" {
			slot++
		}
		into[fmt.Sprintf("virtio%d", slot)] = fmt.Sprintf("%s:%d,serial=%s", cmp.Or(d.StorageClass, m.spec.Storage), d.SizeGB, serial)
		slot++
	}
}

// cloudInit attaches the ISO image with user data, or else the drive that Proxmox VE writes
// itself, for name and addresses. A guest would take either of two.
func cloudInit(have settings, storage, iso string, into map[string]string) {
	slot, found := driveSlot(have, iso)
	switch {
	case iso != "":
		into[slot] = iso + ",media=cdrom"
	case !found:
		into[slot] = storage + ":cloudinit"
	}
}

// driveSlot returns where the cloud-init drive of a VM is, or else where there is room for it;
// empty means that there is none.
func driveSlot(have settings, iso string) (slot string, found bool) {
	for _, d := range have.drives() {
		if d.cloudinit() || iso != "" && d.first == iso {
			slot, found = d.slot, true
		}
	}
	for _, free := range []string{"ide2", "ide0", "sata5", "sata4"} {
		if slot == "" && (have[free] == "" || strings.HasPrefix(have[free], "none")) {
			slot = free
		}
	}
	return slot, found
}

// differing returns the settings that a VM does not have yet.
func (s settings) differing(wanted map[string]string) map[string]any {
	changes := map[string]any{}
	for name, value := range wanted {
		if !same(name, s[name], value) {
			changes[name] = value
		}
	}
	return changes
}

// same compares two values of a setting. Proxmox VE writes the parameters of a value, and
// tags, in an order of its own.
func same(name, have, want string) bool {
	a, b := parseOption(have), parseOption(want)
	switch {
	case name == "tags":
		return joined(words(have)) == joined(words(want))
	case name == "agent":
		return a.first == "1" || a.get("enabled") == "1"
	case have == "" || a.first != b.first:
		return false
	case name == ipConfig && len(a.params) != len(b.params): // a gateway or an address more is another network
		return false
	}
	return !slices.ContainsFunc(b.params, func(p [2]string) bool { return !strings.EqualFold(a.get(p[0]), p[1]) })
}
