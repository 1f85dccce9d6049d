// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inmemory

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Observe reports what the platform holds for the owner.
func (p *Platform) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done, err := p.enter(ctx, Observe, "observe machine "+ref.Name)
	if err != nil {
		return provider.Machine{}, err
	}
	absent := provider.Machine{Ref: ref, State: provider.StateAbsent}
	now := time.Now()
	p.drop(ref.Name, now)
	r := p.machines[ref.Name]
	if p.hidden() || r == nil || !r.belongs(ref) {
		return absent, done()
	}
	return p.report(r, now), done()
}

// Create creates the machine, or completes a partial one.
func (p *Platform) Create(ctx context.Context, spec provider.MachineSpec) (provider.Machine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	op := fmt.Sprintf("create machine %q", spec.Name)
	p.attempts = append(p.attempts, spec.Attempt)
	done, err := p.enter(ctx, Create, op)
	if err != nil {
		return provider.Machine{}, err
	}
	if err := errors.Join(p.refuse(op, spec), p.note(op, spec)); err != nil {
		return provider.Machine{}, err
	}
	now := time.Now()
	p.drop(spec.Name, now)
	r := p.machines[spec.Name]
	switch {
	case r == nil:
		r = p.make(spec, now)
	case !r.belongs(spec.MachineRef):
		return provider.Machine{}, provider.NameTaken(op, "a machine", "machineName")
	case r.partial:
		r.partial = false
		p.announce(r.ref)
	}
	return p.report(r, now), done()
}

// Delete begins the removal of the machine.
func (p *Platform) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done, err := p.enter(ctx, Delete, "delete machine "+ref.Name)
	if err != nil {
		return provider.Machine{}, err
	}
	now := time.Now()
	p.drop(ref.Name, now)
	r := p.machines[ref.Name]
	if p.hidden() || r == nil || !r.belongs(ref) {
		return provider.Machine{Ref: ref, State: provider.StateAbsent}, done()
	}
	if r.deleted.IsZero() {
		r.deleted, r.unremovable = now, p.take(Delete, failLate)
		p.announceAfter(r.ref, p.options.DeleteDelay)
	}
	return p.report(r, now), done()
}

// List reports all machines of the owner.
func (p *Platform) List(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done, err := p.enter(ctx, List, "list machines")
	if err != nil {
		return nil, err
	}
	if err := provider.CheckOwner("list machines", o); err != nil {
		return nil, err
	}
	now := time.Now()
	p.expire(now)
	return p.list(o, now), done()
}

// ObserveAll reports all machines that have an owner.
func (p *Platform) ObserveAll(ctx context.Context) ([]provider.Machine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done, err := p.enter(ctx, List, "list machines")
	if err != nil {
		return nil, err
	}
	now := time.Now()
	p.expire(now)
	var found []provider.Machine
	for _, r := range p.machines {
		if r.ref.Owner.ID != "" && !r.copied() && !p.hidden() {
			found = append(found, p.report(r, now))
		}
	}
	return found, done()
}

// list is all machines of the owner. The copies of a machine are listed with it, or
// with an absent one.
func (p *Platform) list(o provider.Owner, now time.Time) []provider.Machine {
	var found []provider.Machine
	copies := map[provider.MachineRef][]provider.Part{}
	for _, r := range p.machines {
		switch {
		case !r.ref.Owner.Matches(o):
		case r.copied():
			copies[r.ref] = append(copies[r.ref], parts(r)...)
		default:
			m := p.report(r, now)
			m.Parts = parts(r)
			found = append(found, m)
		}
	}
	for i := range found {
		found[i].Copies = copies[found[i].Ref]
		delete(copies, found[i].Ref)
	}
	for ref, all := range copies {
		found = append(found, provider.Machine{Ref: ref, State: provider.StateAbsent, Copies: all})
	}
	return found
}

// belongs reports whether a machine is what was created for ref.
func (r *record) belongs(ref provider.MachineRef) bool {
	return r.ref.Owner.ID == ref.Owner.ID && !r.copied()
}

func (p *Platform) make(spec provider.MachineSpec, now time.Time) *record {
	p.made++
	r := &record{name: spec.Name, ref: spec.MachineRef, spec: spec, number: p.made, created: now, partial: p.take(Create, stayPartial)}
	if p.take(Create, failLate) {
		r.broken = "the platform's task failed: no host could start the machine"
	}
	p.machines[p.key(spec.Name)] = r
	p.announceAfter(r.ref, p.options.AddressDelay)
	return r
}

// key is the name, or one of its own for a further machine of that name.
func (p *Platform) key(name string) string {
	if _, taken := p.machines[name]; taken {
		return fmt.Sprintf("%s (%d)", name, p.made)
	}
	return name
}

// parts are the objects of a machine; half a machine is a disk.
func parts(r *record) []provider.Part {
	disks := []provider.Part{{Kind: provider.PartDisk, Name: r.name + "-root"}}
	if r.partial {
		return disks
	}
	for i := range r.spec.ExtraDisks {
		disks = append(disks, provider.Part{Kind: provider.PartDisk, Name: fmt.Sprintf("%s-disk-%d", r.name, i+1)})
	}
	return append([]provider.Part{{Kind: provider.PartMachine, Name: r.name}}, disks...)
}

// disks have their names as serial numbers.
func disks(r *record) []v1alpha1.MachineDisk {
	all := []v1alpha1.MachineDisk{{Name: "root", Serial: "root"}}
	for i := range r.spec.ExtraDisks {
		name := fmt.Sprintf("disk-%d", i+1)
		all = append(all, v1alpha1.MachineDisk{Name: name, Serial: name})
	}
	return all
}

func identifier(n uint32) string { return fmt.Sprintf("machine-%d", n) }

func mac(n uint32) string {
	return fmt.Sprintf("52:54:00:%02x:%02x:%02x", byte(n>>16), byte(n>>8), byte(n))
}

func address(n uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

// addressOf is the address that was asked for, else one of the platform's choice.
func addressOf(r *record) netip.Addr {
	if n := r.spec.Network; n != nil {
		return n.Address.Addr()
	}
	return address(r.number)
}
