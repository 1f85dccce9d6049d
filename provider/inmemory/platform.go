// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package inmemory is a platform that lives in this process: a complete
// implementation of the provider contract for tests and benchmarks, which can
// fail on demand the way real platforms do.
package inmemory

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Options say how the platform behaves; the zero value answers at once.
type Options struct {
	// Identity is announced as Platform.Identity; by default each platform has one
	// of its own.
	Identity provider.Identity
	// Lifetime is announced as Platform.Lifetime.
	Lifetime provider.Lifetime
	// Settle is announced as Platform.Settle.
	Settle time.Duration
	// AddressDelay is the time from Create until the machine has an address.
	AddressDelay time.Duration
	// DeleteDelay is the time from Delete until the machine is gone.
	DeleteDelay time.Duration
	// Push announces changes; otherwise the platform must be polled.
	Push bool
	// Listing offers ObserveAll, which counts as a List.
	Listing bool
	// Wire lets every operation pass through the Transport of its connection;
	// Dial is the other end.
	Wire bool
	// ActiveDelay is the time from Ensure until a load balancer passes traffic; it has
	// its endpoint at once.
	ActiveDelay time.Duration
	// LoadBalancers offers load balancers; otherwise the capability is missing.
	LoadBalancers bool
	// NodeProviderIDs gives every machine an ID for its kubelet, as clouds do.
	NodeProviderIDs bool
	// Images and Networks are what exists; nil means that every name does. The
	// network is that of the ProviderConfig.
	Images, Networks []string
	// Plans lets every Create have a recorded attempt; after a stock-out it is another.
	Plans bool
	// NoNetworkData refuses network data, as clouds do.
	NoNetworkData bool
	// NoAddresses refuses addresses of the caller's choice, as clouds do.
	NoAddresses bool
}

// Platform holds machines by name. Its methods may be called at any time.
type Platform struct {
	options Options

	mu        sync.Mutex
	machines  map[string]*record
	balancers map[string]*balancer
	made      uint32
	faults    map[Op][]fault
	standing  map[Op]error
	silent    map[Op]chan struct{}
	calls     map[Op]int
	watchers  map[chan provider.MachineRef]struct{}
	agents    map[string]int
	accepted  string
	logins    int
	attempts  []string
	elsewhere *Platform
	moved     bool // connections that are open reach elsewhere too
	waiting   atomic.Int32
}

// record is a machine as the platform keeps it.
type record struct {
	// name is the machine's, ref what its tags say. They differ for a copy.
	name    string
	ref     provider.MachineRef
	spec    provider.MachineSpec
	number  uint32
	created time.Time
	deleted time.Time
	partial bool
	broken  string
	stopped string
	drained bool
	// unremovable lets the removal under way fail.
	unremovable bool
}

// New returns an empty platform.
func New(o Options) *Platform {
	if o.Identity == "" {
		o.Identity = provider.NewIdentity(provider.Mark{Name: "in-memory", Value: uuid.NewString()})
	}
	return &Platform{
		options:   o,
		machines:  map[string]*record{},
		balancers: map[string]*balancer{},
		faults:    map[Op][]fault{},
		standing:  map[Op]error{},
		silent:    map[Op]chan struct{}{},
		calls:     map[Op]int{},
		watchers:  map[chan provider.MachineRef]struct{}{},
		agents:    map[string]int{},
	}
}

// Provider returns a provider of the given type whose connections all reach this platform.
func (p *Platform) Provider(t v1alpha1.ProviderType) provider.Provider {
	return provider.Provider{Type: t, Connect: p.connect}
}

func (p *Platform) connect(ctx context.Context, c provider.Config) (provider.Platform, error) {
	p = p.answering()
	l := &link{p: p, config: c}
	const what = "connect to the in-memory platform"
	l.logIn()
	if err := l.reach(ctx, Connect, what); err != nil {
		return provider.Platform{}, err
	}
	done, err := p.begin(ctx, Connect, what)
	if err != nil {
		return provider.Platform{}, err
	}
	live := provider.Platform{Machines: &linkedMachines{l}, Identity: p.options.Identity, Identify: l.identify, Adopt: p.Adopt, Settle: p.options.Settle, Lifetime: p.options.Lifetime}
	if p.options.LoadBalancers {
		live.LoadBalancers = &linkedBalancers{l}
	}
	if p.options.Listing {
		live.ObserveAll = (&linkedMachines{l}).observeAll
	}
	if p.options.Plans {
		live.Plan = (&linkedMachines{l}).plan
	}
	if p.options.Push {
		live.Changes = p.changes
	}
	return live, done()
}

// report is what the platform says about a record at this moment.
func (p *Platform) report(r *record, now time.Time) provider.Machine {
	m := provider.Machine{Ref: r.ref, State: provider.StatePending, Message: "the machine has no address yet"}
	switch {
	case !r.deleted.IsZero():
		m.State, m.Message = provider.StateDeleting, ""
	case r.partial:
		m.State, m.Message = provider.StatePartial, "the machine has a disk only"
		return m
	case r.broken != "":
		m.State, m.Message = provider.StateBroken, r.broken
	case r.stopped != "":
		m.State, m.Message = provider.StateStopped, r.stopped
	case now.Sub(r.created) >= p.options.AddressDelay:
		m.State, m.Message = provider.StateRunning, ""
		m.Addresses = []netip.Addr{addressOf(r)}
	}
	m.ID, m.MAC, m.Disks = identifier(r.number), mac(r.number), disks(r)
	if p.options.NodeProviderIDs {
		m.NodeProviderID = "in-memory://" + m.ID
	}
	return m
}

// copied reports whether a machine carries the tags of another one.
func (r *record) copied() bool { return r.name != r.ref.Name }

// expire drops the records whose deletion has come to its end.
func (p *Platform) expire(now time.Time) {
	for name := range p.machines {
		p.drop(name, now)
	}
}
