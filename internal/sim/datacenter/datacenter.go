// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package datacenter is the one model behind all simulated platforms: machines that are
// powered on and off, subnets, addresses, load balancers and operations. They keep their
// state over restarts. How a platform's API shows them is the façade's business.
package datacenter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"

	"github.com/butlerdotdev/butler/internal/sim/cloudinit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Spec is what a platform knows of a machine when it powers it on.
type Spec struct {
	ID   string // unique and stable, fit for a file name; a UUID as a rule
	Name string
	// Ref is what the platform finds its object by, and Instance what it calls this run of
	// the machine. They have no meaning here.
	Ref, Instance string
	MAC           string // empty: made from the ID
	Network       string
	Zone          string // where subnets have none: those of regions span zones
	// Address is what the platform has assigned, in the network's prefix: its own DHCP server
	// offers it. Zero: a lease.
	Address  netip.Addr
	CPU      int
	MemoryMB int
	Image    string // name of the image that its disk was copied from; empty: unknown
	// Disks are in the order of their devices. None: one virtio disk of unknown size.
	Disks []Disk
	// Metadata is that of a cloud; nil: the machine has no metadata service, and user
	// data comes as on hardware or from a disk of the platform.
	Metadata *Metadata
	// ImagePlatform is what its image was built for, if it has no metadata service: nocloud or
	// openstack; empty: metal.
	ImagePlatform string
	UserData      []byte
	// NetworkData is the NoCloud network configuration that comes with the user data.
	NetworkData []byte
}

// Machine is a powered-on machine. It has neither Address nor Host before it is
// addressed. In a network without DHCP it may never have an address.
type Machine struct {
	Spec
	Address netip.Prefix
	Further []netip.Prefix // static ones besides Address
	Gateway netip.Addr     // that the guest has; zero: none
	// Platform is how the guest configures its interface by its NoCloud disk; nil: that does
	// not say.
	Platform *cloudinit.Interface
	Zone     string // its own, or that of its subnet
	StateDir string // its disk: kept over power-off, gone with Remove
	Host     *network.Host
	// Shared are the further addresses that the guest has on its interface.
	Shared []netip.Addr

	iface      cloudinit.Interface // that it has now
	addressed  chan struct{}
	hold       func(address netip.Addr, held bool)
	public     func() []netip.Addr
	configured func(cloudinit.Interface) (Machine, error)
}

// Addressed is closed when the machine has its address; Running then returns it.
func (m Machine) Addressed() <-chan struct{} { return m.addressed }

// Boot is a machine's life, from when it has its address, if its network gives it one, and
// as long as it is powered on. The end of ctx is the power switch, or with the cause ErrPowerLoss the plug;
// returning earlier means that the machine died, or with ErrShutdown that its guest has
// shut down cleanly.
type Boot func(ctx context.Context, m Machine) error

// ErrPowerLoss is why a machine ended that was killed, and not switched off.
var ErrPowerLoss = errors.New("the machine lost its power")

// The errors of calls that a platform refuses; others are defects of the simulator.
var (
	ErrNotFound  = errors.New("not found")
	ErrInUse     = errors.New("in use")
	ErrExhausted = errors.New("no address is free")
)

// ErrShutdown is why a machine ended whose guest has switched it off.
var ErrShutdown = errors.New("the guest has shut down")

// Options are the parts of a datacenter. Dir, Network, Boot and Subnets are needed.
type Options struct {
	Dir     string // leases and machine directories
	Network *network.Network
	Boot    Boot
	Subnets map[string]Subnet // by network name; "" serves every network without its own
	Profile Profile
	// Faults are what goes wrong with machines; nil: nothing.
	Faults *fault.Injector
	// Removed is called with the ID of each machine whose disk is gone.
	Removed func(id string)
	// PoweredOn, if set, is called for each machine that is switched on, with the address
	// that it gets, or asks for in vain; PoweredOff that it is off, however that came.
	PoweredOn  func(s Spec, address netip.Addr)
	PoweredOff func(id string)
	Log        *slog.Logger
}

// Datacenter holds machines. It is safe for concurrent use.
type Datacenter struct {
	options   Options
	ctx       context.Context
	stop      context.CancelFunc
	died      chan string
	addressed chan string

	mu       sync.Mutex
	leases   *ledger
	machines map[string]*power
	runs     map[string]Run // the last of each machine in this process
	statics  *statics
	balancing
}

// power is one stretch of a machine being on.
type power struct {
	machine Machine // with its address, whether or not that shows so far
	silent  bool    // without address so far
	shown   bool    // has had an address
	off     context.CancelCauseFunc
	done    chan struct{} // closed when Boot has returned
}

// view is the machine as others see it.
func (p *power) view() Machine {
	m := p.machine
	if p.silent {
		m.Address, m.Host, m.Further = netip.Prefix{}, nil, nil
	}
	return m
}

// showAddress has others know that the machine has an address, if it has. It is called under
// lock.
func (p *power) showAddress() {
	if !p.silent && !p.shown && p.machine.Address.IsValid() {
		p.shown = true
		close(p.machine.addressed)
	}
}

// New opens the datacenter in o.Dir with the leases given so far. No machine is on.
func New(o Options) (*Datacenter, error) {
	if o.Dir == "" || o.Network == nil || o.Boot == nil {
		return nil, errors.New("open datacenter: Dir, Network and Boot are needed")
	}
	o.Boot = withFaults(o.Faults, o.Boot)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.PoweredOn == nil {
		o.PoweredOn = func(Spec, netip.Addr) {}
	}
	if o.PoweredOff == nil {
		o.PoweredOff = func(string) {}
	}
	leases, err := openLedger(filepath.Join(o.Dir, "leases"), o.Subnets)
	if err != nil {
		return nil, fmt.Errorf("open datacenter: %w", err)
	}
	d := &Datacenter{
		options: o, died: make(chan string), addressed: make(chan string),
		leases: leases, machines: map[string]*power{}, runs: map[string]Run{},
	}
	d.ctx, d.stop = context.WithCancel(context.Background())
	if err := errors.Join(d.declareSubnets(), d.openStatics(), d.openBalancing()); err != nil {
		return nil, fmt.Errorf("open datacenter: %w", err)
	}
	if o.Faults != nil {
		d.checking.Go(d.followNetworkFaults)
	}
	return d, nil
}

// PowerOn starts the machine unless it is on, and returns it with its address, or
// without one if that comes later. One that is on takes Ref and Instance. The same ID on the same network gets the same
// address each time, also after a restart of the process; the lease is on disk before
// PowerOn returns.
func (d *Datacenter) PowerOn(s Spec) (Machine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p, on := d.machines[s.ID]; on {
		d.rename(p, s)
		return p.view(), nil
	}
	m, err := d.prepare(s)
	if err != nil {
		d.options.PoweredOff(s.ID)
		return Machine{}, fmt.Errorf("power on machine %q: %w", s.Name, err)
	}
	return d.start(m).view(), nil
}

// Running returns the machine if it is on.
func (d *Datacenter) Running(id string) (Machine, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, on := d.machines[id]
	if !on {
		return Machine{}, false
	}
	return p.view(), true
}

// PowerOff ends the machine and returns when its Boot has returned. Disk and lease
// stay. A machine that is off stays so.
func (d *Datacenter) PowerOff(id string) { d.end(id, nil) }

// Kill ends the machine, as if its Boot had returned, and returns when it has ended. A
// machine that is off stays so.
func (d *Datacenter) Kill(id string) { d.end(id, ErrPowerLoss) }

func (d *Datacenter) end(id string, cause error) {
	d.mu.Lock()
	p, on := d.machines[id]
	d.mu.Unlock()
	if !on {
		return
	}
	p.off(cause)
	<-p.done
}

// Remove powers the machine off and deletes its disk and its lease. A machine that
// never existed is no error.
func (d *Datacenter) Remove(id string) error {
	if err := checkID(id); err != nil {
		return fmt.Errorf("remove machine: %w", err)
	}
	if err := d.erase(id); err != nil {
		return err
	}
	if d.options.Removed != nil {
		d.options.Removed(id)
	}
	return nil
}

func (d *Datacenter) erase(id string) error {
	d.lockOff(id)
	defer d.mu.Unlock()
	delete(d.runs, id)
	if err := d.dissociateAll(id); err != nil {
		return err
	}
	if err := os.RemoveAll(d.stateDir(id)); err != nil {
		return fmt.Errorf("remove machine %s: %w", id, err)
	}
	return d.leases.release(id)
}

// lockOff returns with the lock held and the machine off.
func (d *Datacenter) lockOff(id string) {
	for {
		d.PowerOff(id)
		d.mu.Lock()
		if _, on := d.machines[id]; !on {
			return
		}
		d.mu.Unlock()
	}
}

// Died delivers the ID of each machine whose Boot returned by itself, or that was
// killed. Someone has to read it; the machine is off before its ID arrives.
func (d *Datacenter) Died() <-chan string { return d.died }

// Addressed delivers the ID of each machine that PowerOn returned without an address
// and that has one now, and of each whose addresses have changed.
func (d *Datacenter) Addressed() <-chan string { return d.addressed }

// Close powers every machine off and returns when all are.
func (d *Datacenter) Close() {
	d.stop()
	d.mu.Lock()
	var running []*power
	for _, p := range d.machines {
		running = append(running, p)
	}
	d.mu.Unlock()
	for _, p := range running {
		<-p.done
	}
	d.checking.Wait()
}

// prepare gives the machine its address, its place on the network and its disk.
func (d *Datacenter) prepare(s Spec) (Machine, error) {
	if err := checkID(s.ID); err != nil {
		return Machine{}, err
	}
	if err := d.ctx.Err(); err != nil {
		return Machine{}, errors.New("the datacenter is closed")
	}
	if s.MAC == "" {
		s.MAC = macOf(s.ID)
	}
	m := Machine{
		Spec: s, StateDir: d.stateDir(s.ID), addressed: make(chan struct{}),
		hold:   func(address netip.Addr, held bool) { d.hold(s.ID, address, held) },
		public: func() []netip.Addr { return d.publicOf(s.ID) },
	}
	if err := os.MkdirAll(m.StateDir, 0o700); err != nil {
		return Machine{}, err
	}
	if err := d.connect(&m); err != nil {
		return Machine{}, err
	}
	host := m.Host
	m.configured = func(i cloudinit.Interface) (Machine, error) { return d.reconfigure(s.ID, host, i) }
	return m, nil
}

func (d *Datacenter) stateDir(id string) string {
	return filepath.Join(d.options.Dir, "machines", id)
}
