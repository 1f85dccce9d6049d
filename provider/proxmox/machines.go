// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// machines implements provider.Machines.
type machines struct{ *platform }

var _ provider.Machines = machines{}

// lockClone is the lock of a VM that is being cloned.
const lockClone = "clone"

// vm is a VM of the driver, with its configuration.
type vm struct {
	resource
	mark
	settings settings
	// now is its status and tasks are its last ones, once they were read.
	now   current
	tasks []task
}

// fresh reports whether a VM was not started yet.
func (v vm) fresh() bool { _, found := words(v.settings["tags"])[wordNew]; return found }

// String names a VM for people.
func (v vm) String() string { return fmt.Sprintf("VM %d on %s", v.VMID, v.Node) }

// find returns the VM of a machine, nil if there is none. One that the listing has no name of
// yet may be it if its node has this one.
func (m machines) find(ctx context.Context, c *cluster, ref provider.MachineRef) (*vm, error) {
	v, err := m.findListed(ctx, c, ref)
	nameless := c.nameless()
	if err != nil || v != nil || len(nameless) == 0 {
		return v, err
	}
	now, err := m.named.Do(ctx, ref.Name)
	if err != nil {
		return nil, err
	}
	now = slices.Clone(now)
	return m.ownOf(ctx, c, ref, slices.DeleteFunc(now, func(r resource) bool { return !nameless[r.VMID] || r.Name != ref.Name }))
}

// findListed returns the VM of a machine if the listing shows which one it is: by its tags, or
// for one that has none yet by its name or by an ID that is derived from the owner. Then the
// description decides.
func (m machines) findListed(ctx context.Context, c *cluster, ref provider.MachineRef) (*vm, error) {
	for _, r := range c.byOwner[ref.Owner.ID] {
		if r.said.of(ref, r.VMID) {
			return m.read(ctx, c, *r, r.said)
		}
	}
	ids := m.candidates(ref.Owner.ID)
	var all []resource
	for _, r := range c.vms {
		if r.unmarked() && (r.Name == ref.Name || ids[r.VMID] && c.online(r.Node)) {
			all = append(all, r)
		}
	}
	return m.ownOf(ctx, c, ref, all)
}

// ownOf returns the VM of a machine among others, nil if it is none of them.
func (m machines) ownOf(ctx context.Context, c *cluster, ref provider.MachineRef, all []resource) (*vm, error) {
	for _, r := range all {
		v, err := m.read(ctx, c, r, r.said)
		if err != nil || v != nil && v.of(ref, r.VMID) {
			return v, err
		}
	}
	return nil, nil
}

// unmarked reports whether a VM has no tags of the driver, and may be a machine.
func (r resource) unmarked() bool { return r.Template == 0 && !r.said.original(r.VMID) }

// nameless are the VMs without tags that the listing has no name of.
func (c *cluster) nameless() map[number]bool {
	all := map[number]bool{}
	for _, r := range c.vms {
		if r.unmarked() && !r.named() && c.online(r.Node) {
			all[r.VMID] = true
		}
	}
	return all
}

// named reports whether the listing shows a name: for a VM without one, as during a clone, it
// shows the ID, and none before the first report.
func (r resource) named() bool { return r.Name != "" && r.Name != fmt.Sprintf("VM %d", r.VMID) }

// read reads the configuration of a VM, nil if it is gone. That of a node which is offline
// cannot be read: then a VM with tags has no settings.
func (m machines) read(ctx context.Context, c *cluster, r resource, k mark) (*vm, error) {
	if !c.online(r.Node) {
		if k.OwnerID == "" {
			return nil, provider.Unavailable.New("", provider.ReasonPlatformUnavailable, fmt.Errorf("VM %d is on node %s, which is offline", r.VMID, r.Node), "start the node; it is retried")
		}
		return &vm{resource: r, mark: k}, nil
	}
	s, err := m.readSettings(ctx, r.Node, r.VMID)
	if gone(err) {
		return nil, nil
	}
	for _, other := range []mark{marked(words(s["tags"])), described(s["description"])} {
		if k.OwnerID == "" || !k.original(r.VMID) && other.original(r.VMID) { // a template may have had tags
			k = other
		}
	}
	return &vm{resource: r, mark: k, settings: s}, err
}

// underway returns a VM that a clone for the owner creates: it has neither name nor
// description before that has ended, but an ID that is derived from the owner, and the task
// is the driver's. One that has failed is returned if none runs.
func (m machines) underway(ctx context.Context, c *cluster, owner string) (half *resource, of task, err error) {
	for n := range probes {
		r := c.vm(m.candidate(owner, n))
		if r == nil || r.Lock != lockClone || r.said.OwnerID != "" {
			continue
		}
		t, found, err := m.pending(ctx, r.Node, r.VMID)
		if err != nil || found && !t.failed() {
			return r, t, err
		}
		if found && half == nil {
			half, of = r, t
		}
	}
	return half, of, nil
}

// unowned returns a VM that a clone of the driver creates for any owner: its ID may be one that
// the settings of an earlier time have given to this one.
func (m machines) unowned(ctx context.Context, c *cluster) (*resource, error) {
	for _, r := range c.vms {
		if r.Lock != lockClone || r.said.OwnerID != "" {
			continue
		}
		t, found, err := m.pending(ctx, r.Node, r.VMID)
		if err != nil || found && !t.failed() {
			return &r, err
		}
	}
	return nil, nil
}

// id is the ID of a machine: the node is the one that the VM was created on, also once it
// was migrated. Tags are in lower case.
func (m machines) id(k mark, c *cluster) string {
	node := k.node
	for _, n := range c.nodes {
		if strings.EqualFold(n.Node, k.node) {
			node = n.Node
		}
	}
	return fmt.Sprintf("proxmox://%s/qemu/%d", node, k.vmid)
}

// name is what Proxmox VE accepts as the name of a VM, and Kubernetes as that of a node.
var machineName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// mostDisks is how many disks the bus virtio takes beside the first one.
const mostDisks = 15

// refuseSpec refuses what a spec can say but Proxmox VE cannot do.
func refuseSpec(op string, s provider.MachineSpec) error {
	if err := provider.CheckSpec(op, s, v1alpha1.Group+"/vmid", v1alpha1.Group+"/node"); err != nil {
		return err
	}
	if !machineName.MatchString(s.Name) {
		return provider.Invalid.New(op, reasonName, fmt.Errorf("%q cannot be the name of a VM: it has lower-case letters, digits and dashes, and at most 63 characters", s.Name), "choose another name of the machine or of the cluster")
	}
	if len(s.ExtraDisks) > mostDisks {
		return provider.Invalid.New(op, provider.ReasonFieldUnsupported, fmt.Errorf("%d disks are requested besides the root disk, and the bus virtio has room for %d", len(s.ExtraDisks), mostDisks), "shorten extraDisks")
	}
	_, err := tagsOf(op, s, attempt{})
	return err
}

// tagsOf are the tags of a machine.
func tagsOf(op string, s provider.MachineSpec, a attempt) (map[string]string, error) {
	tags, err := tag.Proxmox().Labels(s.Labels)
	for w := range tags {
		if err == nil && strings.HasPrefix(w, "butler-") && !strings.HasPrefix(w, wordRole) && !strings.HasPrefix(w, "butler-cluster.") {
			err = errors.New("label " + w + ": names that begin with butler- are reserved")
		}
	}
	if err != nil {
		return nil, provider.Invalid.New(op, provider.ReasonFieldUnsupported, err, "correct spec.labels: tags of Proxmox VE are words of lower-case letters, digits, _, -, + and .")
	}
	for w := range tag.Proxmox().Write(s.Owner.Tags(s.Name)) {
		tags[w] = ""
	}
	tags[fmt.Sprintf("%s%d", wordVMID, a.VMID)] = ""
	tags[wordNode+strings.ToLower(a.Node)] = ""
	if s.Role != "" {
		tags[wordRole+string(s.Role)] = ""
	}
	return tags, nil
}
