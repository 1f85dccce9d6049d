// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// Create clones the template, or continues with the VM that it finds: it is configured, its
// disk enlarged, then started. Each step is a task of the platform that is not awaited; while
// one is left the machine is Partial.
func (m machines) Create(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
	op := fmt.Sprintf("create machine %q on %s", s.Name, m.config)
	if err := refuseSpec(op, s); err != nil {
		return provider.Machine{}, err
	}
	c, err := m.seen.Do(ctx, s.Name)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	found, err := m.findListed(ctx, c, s.MachineRef)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	if found != nil {
		return m.advance(ctx, op, s, c, found)
	}
	if err := m.absenceSeen(ctx, op); err != nil {
		return provider.Machine{}, err
	}
	own, err := m.checkName(ctx, op, c, s.MachineRef)
	if err != nil {
		return provider.Machine{}, err
	}
	if own != nil {
		return m.advance(ctx, op, s, c, own)
	}
	r, t, err := m.underway(ctx, c, s.Owner.ID)
	if err != nil || r != nil && !t.failed() {
		return m.beingCloned(s.MachineRef, t), within(op, err)
	}
	a, err := m.attempt(ctx, op, c, s)
	if err != nil {
		return provider.Machine{}, err
	}
	if id, taken := m.overtaken(c, s, a); taken {
		return provider.Machine{Ref: s.MachineRef, State: provider.StatePartial, Message: fmt.Sprintf("VMID %d was taken after VMs were listed, and may be that of an earlier call", id)}, nil
	}
	return m.clone(ctx, op, s, c, a)
}

// overtaken returns an ID of the owner that was passed over although the listing has no VM of
// it. Without a record it may be the one that an earlier call clones to.
func (m machines) overtaken(c *cluster, s provider.MachineSpec, a attempt) (number, bool) {
	for n := range min(a.Number, probes) {
		if id := m.candidate(s.Owner.ID, n); s.Attempt == "" && !c.guests[id] {
			return id, true
		}
	}
	return 0, false
}

// checkName refuses a name that the VM of another owner has, on whatever node: names of nodes
// are unique in a cluster. It returns the VM of the machine if that has the name by now.
func (m machines) checkName(ctx context.Context, op string, c *cluster, ref provider.MachineRef) (*vm, error) {
	all, err := m.named.Do(ctx, ref.Name)
	if err != nil {
		return nil, within(op, err)
	}
	var taken error
	for _, r := range all {
		if r.Name != ref.Name {
			continue
		}
		v, err := m.read(ctx, c, r, r.said)
		if err != nil || v != nil && v.of(ref, r.VMID) {
			return v, within(op, err)
		}
		if v != nil {
			taken = provider.NameTaken(op, fmt.Sprintf("VM %d (%s) on %s", r.VMID, r.Name, r.Node), "machineName")
		}
	}
	return nil, taken
}

func (m machines) beingCloned(ref provider.MachineRef, t task) provider.Machine {
	return provider.Machine{Ref: ref, State: provider.StatePartial, Message: fmt.Sprintf("the VM is being cloned from template %s on %s", t.ID, t.Node)}
}

// clone clones the template, unless the attempt has done so already.
func (m machines) clone(ctx context.Context, op string, s provider.MachineSpec, c *cluster, a attempt) (provider.Machine, error) {
	defer m.creating.begin(a.VMID)()
	t, found, err := m.pending(ctx, a.Source.Node, a.VMID)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	switch found = found && t.UPID != a.After; {
	case found && t.running():
		return m.beingCloned(s.MachineRef, t), nil
	case found && t.failed():
		return m.failedClone(ctx, op, s, c, a, t)
	case found, c.guests[a.VMID]:
		return m.cloned(ctx, op, s, c, a)
	}
	var upid string
	err = m.Post(ctx, vmPath(a.Source.Node, a.Source.VMID)+"/clone", m.cloneRequest(s, a), &upid)
	if taken(err) {
		return m.cloned(ctx, op, s, c, a)
	}
	if err != nil {
		return provider.Machine{}, asked(within(op, err), a)
	}
	m.began(a.VMID, upid)
	return m.follow(ctx, op, s, c, a, upid)
}

// follow continues with a VM whose clone has ended at once.
func (m machines) follow(ctx context.Context, op string, s provider.MachineSpec, c *cluster, a attempt, upid string) (provider.Machine, error) {
	is := m.beingCloned(s.MachineRef, task{ID: fmt.Sprint(a.Source.VMID), Node: a.Source.Node})
	if t, known := m.look(ctx, a.Source.Node, upid); !known || t.running() || t.failed() {
		return is, nil
	}
	v, _ := m.read(ctx, c, resource{Type: typeVM, Node: a.Node, VMID: a.VMID}, mark{}) // else the next call looks for it
	if v == nil || v.settings["lock"] != "" || !v.of(s.MachineRef, a.VMID) {
		return is, nil
	}
	return (&build{machines: m, op: op, spec: s, seen: c, vm: v, is: is}).run(ctx)
}

// cloneRequest has the only marks that the call takes: name and description.
func (m machines) cloneRequest(s provider.MachineSpec, a attempt) map[string]any {
	r := map[string]any{"newid": a.VMID, "name": s.Name, "description": describe(s.Owner.Tags(s.Name), a.VMID, a.Node), "full": 0}
	if a.Full {
		r["full"], r["storage"] = 1, m.spec.Storage
	}
	if a.Node != a.Source.Node {
		r["target"] = a.Node
	}
	return r
}

// cloned looks at the VM that has the ID of an attempt: the listing may lack it. While its
// configuration is that of a clone which has not ended, it may be the machine's.
func (m machines) cloned(ctx context.Context, op string, s provider.MachineSpec, c *cluster, a attempt) (provider.Machine, error) {
	nodes := []string{a.Node, a.Source.Node}
	if r := c.vm(a.VMID); r != nil {
		nodes = append(nodes, r.Node)
	}
	for _, node := range nodes {
		v, err := m.read(ctx, c, resource{Type: typeVM, Node: node, VMID: a.VMID}, mark{})
		if err != nil {
			return provider.Machine{}, within(op, err)
		}
		if v != nil && v.of(s.MachineRef, a.VMID) {
			return m.advance(ctx, op, s, c, v)
		}
		if v != nil && v.settings.unfinished() {
			message := fmt.Sprintf("%s is locked (clone), and has no owner before that has ended; remove a stale lock with qm unlock %d", v, v.VMID)
			return provider.Machine{Ref: s.MachineRef, State: provider.StatePartial, Message: message}, nil
		}
	}
	return provider.Machine{}, spent(op, fmt.Errorf("VMID %d belongs to another VM, or the VM of an earlier call is gone", a.VMID))
}

// unfinished reports whether a clone has not written the configuration yet.
func (s settings) unfinished() bool {
	text := strings.TrimSpace(s["description"])
	return s["lock"] == lockClone && s["name"] == "" && (text == "" || text == temporaryNote)
}

// failedClone removes what a failed clone of this attempt has left, and reports why it failed.
func (m machines) failedClone(ctx context.Context, op string, s provider.MachineSpec, c *cluster, a attempt, t task) (provider.Machine, error) {
	left, err := m.removeDebris(ctx, op, s.MachineRef, c, map[number]bool{a.VMID: true})
	if err != nil || left != nil {
		return value(left), err
	}
	failure := fmt.Errorf("template %d could not be cloned to VM %d: %s", a.Source.VMID, a.VMID, stable(t.Status))
	if known, ok := meant(t.Status); ok && known.kind == provider.Exhausted {
		return provider.Machine{}, asked(provider.Exhausted.New(op, known.reason, failure, known.hint), a)
	}
	return provider.Machine{}, spent(op, failure)
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// asked adds to a refusal for want of capacity where it was asked for.
func asked(err error, a attempt) error {
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Kind == provider.Exhausted && e.Err != nil {
		e.Err = fmt.Errorf("node %s: %w", a.Node, e.Err)
	}
	return err
}

// checkBridge refuses a bridge that a node does not have. Where networks may not be read, the
// platform refuses the VM.
func (m machines) checkBridge(ctx context.Context, node string) error {
	has, known, err := m.hasBridge(ctx, node)
	if err != nil || has || !known {
		return err
	}
	return provider.Invalid.New("", provider.ReasonNetworkNotFound, fmt.Errorf("node %s has no bridge %s", node, m.spec.Bridge), "correct spec.proxmox.bridge, or create it on every node of spec.proxmox.nodes")
}

func (m machines) hasBridge(ctx context.Context, node string) (has, known bool, err error) {
	if m.spec.Bridge == "" {
		return true, true, nil
	}
	all, err := m.bridges.Get(ctx, node, func(ctx context.Context) (bridges, error) { return m.readBridges(ctx, node) })
	return slices.Contains(all.names, m.spec.Bridge), all.known, err
}

// bridges are those of a node, if they may be read.
type bridges struct {
	names []string
	known bool
}

func (p *platform) readBridges(ctx context.Context, node string) (b bridges, err error) {
	var all []struct {
		Name string `json:"iface"`
	}
	err = p.get(ctx, "/nodes/"+node+"/network", url.Values{"type": {"any_bridge"}}, &all)
	if forbidden(err) {
		return b, nil
	}
	for _, one := range all {
		b.names = append(b.names, one.Name)
	}
	b.known = err == nil
	return b, err
}
