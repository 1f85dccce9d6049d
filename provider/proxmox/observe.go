// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Observe looks for the VM in the listing of the cluster, then reads its configuration and
// status, and its addresses from the guest agent.
func (m machines) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	op := fmt.Sprintf("observe machine %q on %s", ref.Name, m.config)
	c, err := m.seen.Do(ctx, ref.Name)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	v, err := m.find(ctx, c, ref)
	if err != nil {
		return provider.Machine{}, within(op, err)
	}
	if v != nil {
		is, err := m.report(ctx, c, ref, v)
		return is, within(op, err)
	}
	r, t, err := m.underway(ctx, c, ref.Owner.ID)
	switch {
	case err != nil:
		return provider.Machine{}, within(op, err)
	case r != nil && !t.failed(): // it may have ended since the listing
		return m.beingCloned(ref, t), nil
	case r != nil:
		return provider.Machine{Ref: ref, State: provider.StatePartial, Message: fmt.Sprintf("the clone of VM %d on %s has failed and left parts: %s", r.VMID, r.Node, stable(t.Status))}, nil
	}
	if err := m.absenceSeen(ctx, op); err != nil {
		return provider.Machine{}, err
	}
	return m.leftISO(ctx, op, ref)
}

// leftISO reports a machine of which at most its user data is left.
func (m machines) leftISO(ctx context.Context, op string, ref provider.MachineRef) (provider.Machine, error) {
	left, unread, err := m.isosOf(ctx, ref)
	if err == nil && len(left) > 0 {
		return provider.Machine{Ref: ref, State: provider.StatePartial, Message: left[0].VolID + " exists, but no VM"}, nil
	}
	return provider.Machine{Ref: ref, State: provider.StateAbsent, Message: unreadText(unread)}, within(op, err)
}

// current is what the node itself says about a VM.
type current struct {
	Status string `json:"status"`
	QMP    string `json:"qmpstatus"`
	Lock   string `json:"lock"`
	Name   string `json:"name"`
	PID    number `json:"pid"`
}

func (m machines) readStatus(ctx context.Context, v *vm) error {
	return m.get(ctx, vmPath(v.Node, v.VMID)+"/status/current", nil, &v.now)
}

// report returns the state of a VM. It is complete when it has been started: that is the last
// step, after which the tag of a new VM is removed.
func (m machines) report(ctx context.Context, c *cluster, ref provider.MachineRef, v *vm) (provider.Machine, error) {
	is := provider.Machine{Ref: ref, State: provider.StatePartial}
	if v.settings == nil {
		is.ID, is.State, is.Message = m.id(v.mark, c), provider.StatePending, fmt.Sprintf("%s cannot be reached: the node is offline", v)
		return is, nil
	}
	if marked(words(v.settings["tags"])).original(v.vmid) { // those of a template are of another VM
		is.ID = m.id(v.mark, c)
	}
	if lock := v.settings["lock"]; lock == lockClone || lock != "" && is.ID == "" {
		is.Message = fmt.Sprintf("%s is locked (%s)", v, lock)
		return is, nil
	}
	if is.ID == "" {
		is.Message = v.String() + " is not configured yet"
		return is, nil
	}
	if v.now.Status == "" {
		if err := m.readStatus(ctx, v); err != nil {
			return provider.Machine{}, err
		}
	}
	_, is.MAC, _ = v.settings.nic()
	is.Disks = disksOf(v.settings)
	switch on := v.now.Status == "running"; {
	case v.fresh() && on:
		is.Message = v.String() + " is being started"
		return is, nil
	case v.fresh():
		return m.unstarted(ctx, v, is)
	case !on:
		return off(v, is), nil
	}
	return m.running(ctx, v, is)
}

// unstarted reports a VM that was not started yet, and why.
func (m machines) unstarted(ctx context.Context, v *vm, is provider.Machine) (provider.Machine, error) {
	err := m.readTasksOf(ctx, v)
	is.Message = v.String() + " is not started yet"
	if t, found := last(v.tasks, taskStart); found && t.failed() {
		is.Reason, is.Message = failureReason(t), fmt.Sprintf("%s could not be started: %s", v, stable(t.Status))
	}
	return is, err
}

// failureReason is why a task of a new VM has failed, by its last words.
func failureReason(t task) string {
	known, _ := meant(t.Status)
	return cmp.Or(known.reason, provider.ReasonStartFailed)
}

// off reports a VM that has run.
func off(v *vm, is provider.Machine) provider.Machine {
	is.State, is.Message = provider.StateStopped, v.String()+" is off"
	if v.now.Lock != "" {
		is.State, is.Message = provider.StatePending, fmt.Sprintf("%s is off and locked (%s)", v, v.now.Lock)
	}
	return is
}

func (m machines) running(ctx context.Context, v *vm, is provider.Machine) (provider.Machine, error) {
	is.State, is.NodeProviderID = provider.StatePending, is.ID
	if v.now.QMP != "" && v.now.QMP != "running" {
		is.Message = fmt.Sprintf("%s is %s", v, v.now.QMP)
		return is, nil
	}
	addresses, err := m.addresses(ctx, v)
	if err != nil {
		return provider.Machine{}, err
	}
	if is.Addresses = addresses; len(addresses) > 0 {
		is.State = provider.StateRunning
		return is, nil
	}
	is.Reason = provider.ReasonNoAddress
	is.Message = v.String() + " runs without an address; its guest agent reports it: the template needs the extension qemu-guest-agent, and the network a DHCP server"
	return is, nil
}

// addresses are those that the guest agent reports for the first interface, which is found by
// its hardware address; else those of the cloud-init drive. A guest without an agent is no
// error.
func (m machines) addresses(ctx context.Context, v *vm) ([]netip.Addr, error) {
	var said struct {
		Result []struct {
			MAC       string `json:"hardware-address"`
			Addresses []struct {
				Address string `json:"ip-address"`
			} `json:"ip-addresses"`
		} `json:"result"`
	}
	err := m.get(ctx, vmPath(v.Node, v.VMID)+"/agent/network-get-interfaces", nil, &said)
	if err != nil && !silentAgent(err) {
		return nil, err
	}
	_, mac, _ := v.settings.nic()
	var texts []string
	for _, i := range said.Result {
		for _, a := range i.Addresses {
			if strings.EqualFold(i.MAC, mac) {
				texts = append(texts, a.Address)
			}
		}
	}
	if found := provider.Addresses(texts...); len(found) > 0 {
		return found, nil
	}
	reserved := parseOption("ip," + v.settings["ipconfig0"])
	return provider.Addresses(reserved.get("ip"), reserved.get("ip6")), nil
}

// silentAgent reports whether a guest agent does not answer: it is not installed, not started
// or not enabled.
func silentAgent(err error) bool {
	return strings.Contains(strings.ToLower(err.Error()), "guest agent") || strings.Contains(err.Error(), "guest-network-get-interfaces") || strings.Contains(err.Error(), "is not running")
}

// disksOf are the disks whose serial number Talos sees: those of the bus virtio.
func disksOf(s settings) (all []v1alpha1.MachineDisk) {
	for _, d := range s.drives() {
		if serial := d.get("serial"); serial != "" && strings.HasPrefix(d.slot, "virtio") {
			all = append(all, v1alpha1.MachineDisk{Name: serial, Serial: serial})
		}
	}
	return all
}
