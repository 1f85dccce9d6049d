// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inmemory

import (
	"context"
	"errors"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// Machines returns everything that exists, machines of other owners included.
func (p *Platform) Machines() []provider.Machine {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.expire(now)
	all := make([]provider.Machine, 0, len(p.machines))
	for _, r := range p.machines {
		all = append(all, p.report(r, now))
	}
	return all
}

// Sighting is a machine as an operator of the platform sees it.
type Sighting struct {
	provider.Machine
	Spec provider.MachineSpec
}

// Sightings returns every machine of that name.
func (p *Platform) Sightings(name string) []Sighting {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.expire(now)
	var found []Sighting
	for _, r := range p.machines {
		if r.name == name {
			found = append(found, Sighting{p.report(r, now), r.spec})
		}
	}
	return found
}

// Spec returns what the machine of that name was created from.
func (p *Platform) Spec(name string) (provider.MachineSpec, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.machines[name]
	if !ok {
		return provider.MachineSpec{}, false
	}
	return r.spec, true
}

// Calls returns how often op was called.
func (p *Platform) Calls(op Op) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[op]
}

// Waiting returns how many calls go unanswered at this moment.
func (p *Platform) Waiting() int { return int(p.waiting.Load()) }

// CreateConflict adds a machine of another owner, beside one of that name.
func (p *Platform) CreateConflict(ref provider.MachineRef) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.make(provider.MachineSpec{MachineRef: ref}, time.Now())
}

// Clone copies a machine with all its tags, as an operator of the platform might.
// It reports whether there is a machine of that name.
func (p *Platform) Clone(name, as string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	source, ok := p.machines[name]
	if !ok {
		return false
	}
	p.made++
	p.machines[p.key(as)] = &record{name: as, ref: source.ref, spec: source.spec, number: p.made, created: time.Now()}
	return true
}

// Adopt gives a machine without an owner to ref, if name and ID are its own.
func (p *Platform) Adopt(ctx context.Context, ref provider.MachineRef, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	op := "adopt machine " + ref.Name
	done, err := p.enter(ctx, Adopt, op)
	if err != nil {
		return err
	}
	r := p.machines[ref.Name]
	switch {
	case r == nil || identifier(r.number) != id:
		return provider.Invalid.New(op, provider.ReasonAdoptionRefused, errors.New("there is no such machine"), "correct name and ID")
	case r.ref.Owner.ID != "" && r.ref.Owner.ID != ref.Owner.ID:
		return provider.NameTaken(op, "the machine", "machineName")
	}
	r.ref = ref
	return done()
}

// Remove takes a machine away, as an operator of the platform might.
func (p *Platform) Remove(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.machines[name]; ok {
		delete(p.machines, name)
		p.announce(r.ref)
	}
}

// Break puts a machine out of order; an empty message repairs it.
func (p *Platform) Break(name, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.machines[name]; ok {
		r.broken = message
		p.announce(r.ref)
	}
}

// Stop switches a machine off for good; an empty message switches it on.
func (p *Platform) Stop(name, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.machines[name]; ok {
		r.stopped = message
		p.announce(r.ref)
	}
}

// Drain moves every machine to another host: each is off for a moment and comes back
// with its address.
func (p *Platform) Drain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.machines {
		r.created, r.drained = time.Now(), true
		p.announceAfter(r.ref, p.options.AddressDelay)
	}
}

// Drained reports whether the host of a machine was drained.
func (p *Platform) Drained(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.machines[name]
	return ok && r.drained
}

// CreateConflictingLoadBalancer adds a load balancer of another owner.
func (p *Platform) CreateConflictingLoadBalancer(ref provider.LoadBalancerRef) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	p.balancers[ref.Name] = &balancer{spec: provider.LoadBalancerSpec{LoadBalancerRef: ref}, number: p.made}
}

// Agents returns who has called since the last time, and how often.
func (p *Platform) Agents() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.agents
	p.agents = map[string]int{}
	return seen
}

// Accept revokes all credentials but those whose key kubeconfig has this value.
func (p *Platform) Accept(kubeconfig string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accepted = kubeconfig
}

// Expire ends all connections: callers have to connect again.
func (p *Platform) Expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.logins++
}

// changes pushes references until the context ends.
func (p *Platform) changes(ctx context.Context) <-chan provider.MachineRef {
	in, out := make(chan provider.MachineRef, 1<<14), make(chan provider.MachineRef)
	p.mu.Lock()
	p.watchers[in] = struct{}{}
	p.mu.Unlock()
	go func() {
		defer close(out)
		defer p.unwatch(in)
		forward(ctx, in, out)
	}()
	return out
}

func forward(ctx context.Context, in <-chan provider.MachineRef, out chan<- provider.MachineRef) {
	for {
		select {
		case <-ctx.Done():
			return
		case ref := <-in:
			select {
			case out <- ref:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (p *Platform) unwatch(in chan provider.MachineRef) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watchers, in)
}

// announce notifies the watchers; one that does not keep up misses a change.
func (p *Platform) announce(ref provider.MachineRef) {
	for w := range p.watchers {
		select {
		case w <- ref:
		default:
		}
	}
}

func (p *Platform) announceAfter(ref provider.MachineRef, d time.Duration) {
	if d == 0 {
		p.announce(ref)
		return
	}
	time.AfterFunc(d, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.announce(ref)
	})
}

// drop forgets the machine of that key if its deletion has come to its end.
func (p *Platform) drop(key string, now time.Time) {
	r := p.machines[key]
	if r == nil || r.deleted.IsZero() || now.Sub(r.deleted) < p.options.DeleteDelay {
		return
	}
	if r.unremovable {
		r.deleted, r.unremovable = time.Time{}, false
		return
	}
	delete(p.machines, key)
}
