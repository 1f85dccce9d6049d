// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package datacenter is the one model of machines behind all simulated platforms:
// it powers them on and off and remembers their addresses. What a platform's API
// says about them is the façade's business.
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

	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Spec is what a platform knows of a machine when it powers it on.
type Spec struct {
	ID       string // unique and stable, fit for a file name; a UUID as a rule
	Name     string
	MAC      string // empty: made from the ID
	Network  string
	CPU      int
	MemoryMB int
	UserData []byte
	// NetworkData is the NoCloud network configuration that comes with the user data.
	NetworkData []byte
}

// Machine is a powered-on machine.
type Machine struct {
	Spec
	Address  netip.Prefix
	Gateway  netip.Addr
	StateDir string // its disk: kept over power-off, gone with Remove
	Host     *network.Host
}

// Boot is a machine's life: it runs while the machine is powered on. The end of ctx
// is the power switch; returning earlier means that the machine died.
type Boot func(ctx context.Context, m Machine) error

// Options are the parts of a datacenter. All but Log are needed.
type Options struct {
	Dir     string // leases and machine directories
	Network *network.Network
	Boot    Boot
	Subnets map[string]Subnet // by network name; "" serves every network without its own
	Log     *slog.Logger
}

// Datacenter holds machines. It is safe for concurrent use.
type Datacenter struct {
	options Options
	ctx     context.Context
	stop    context.CancelFunc
	died    chan string

	mu       sync.Mutex
	leases   *ledger
	machines map[string]*power
}

// power is one stretch of a machine being on.
type power struct {
	machine Machine
	off     context.CancelFunc
	done    chan struct{} // closed when Boot has returned
}

// New opens the datacenter in o.Dir with the leases given so far. No machine is on.
func New(o Options) (*Datacenter, error) {
	if o.Dir == "" || o.Network == nil || o.Boot == nil {
		return nil, errors.New("open datacenter: Dir, Network and Boot are needed")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	leases, err := openLedger(filepath.Join(o.Dir, "leases"), o.Subnets)
	if err != nil {
		return nil, fmt.Errorf("open datacenter: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Datacenter{
		options: o, ctx: ctx, stop: stop, died: make(chan string),
		leases: leases, machines: map[string]*power{},
	}, nil
}

// PowerOn starts the machine unless it is on, and returns it with its address. The
// same ID on the same network gets the same address each time, also after a restart
// of the process; the lease is on disk before PowerOn returns.
func (d *Datacenter) PowerOn(s Spec) (Machine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p, on := d.machines[s.ID]; on {
		return p.machine, nil
	}
	m, err := d.prepare(s)
	if err != nil {
		return Machine{}, fmt.Errorf("power on machine %q: %w", s.Name, err)
	}
	d.start(m)
	return m, nil
}

// Running returns the machine if it is on.
func (d *Datacenter) Running(id string) (Machine, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, on := d.machines[id]
	if !on {
		return Machine{}, false
	}
	return p.machine, true
}

// PowerOff ends the machine and returns when its Boot has returned. Disk and lease
// stay. A machine that is off stays so.
func (d *Datacenter) PowerOff(id string) {
	d.mu.Lock()
	p, on := d.machines[id]
	d.mu.Unlock()
	if !on {
		return
	}
	p.off()
	<-p.done
}

// Remove powers the machine off and deletes its disk and its lease. A machine that
// never existed is no error.
func (d *Datacenter) Remove(id string) error {
	if err := checkID(id); err != nil {
		return fmt.Errorf("remove machine: %w", err)
	}
	d.lockOff(id)
	defer d.mu.Unlock()
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

// Died delivers the ID of each machine whose Boot returned by itself. Someone has to
// read it; the machine is off before its ID arrives.
func (d *Datacenter) Died() <-chan string { return d.died }

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
	m := Machine{Spec: s, StateDir: d.stateDir(s.ID)}
	if err := os.MkdirAll(m.StateDir, 0o700); err != nil {
		return Machine{}, err
	}
	return m, d.connect(&m)
}

// connect attaches the machine under its leased address. A new lease goes round
// addresses that someone holds without one, as a careful DHCP server does.
func (d *Datacenter) connect(m *Machine) error {
	subnet, address, err := d.leases.get(m.ID, m.Network)
	if err != nil {
		return err
	}
	m.Gateway = subnet.gateway()
	if address.IsValid() {
		m.Address = netip.PrefixFrom(address, subnet.Prefix.Bits())
		m.Host, err = d.options.Network.Attach(address)
		return err
	}
	for address = range d.leases.free(subnet) {
		if m.Host, err = d.options.Network.Attach(address); err == nil {
			m.Address = netip.PrefixFrom(address, subnet.Prefix.Bits())
			return d.grant(m)
		}
	}
	return fmt.Errorf("no address of %v is free for network %q", subnet.Prefix, m.Network)
}

func (d *Datacenter) grant(m *Machine) error {
	err := d.leases.grant(lease{ID: m.ID, Network: m.Network, Address: m.Address.Addr()})
	if err != nil {
		m.Host.Detach()
	}
	return err
}

func (d *Datacenter) start(m Machine) {
	ctx, off := context.WithCancel(d.ctx)
	p := &power{machine: m, off: off, done: make(chan struct{})}
	d.machines[m.ID] = p
	d.options.Log.Info("machine powered on", "machine", m.Name, "id", m.ID, "address", m.Address)
	go d.run(ctx, p)
}

func (d *Datacenter) run(ctx context.Context, p *power) {
	err := d.options.Boot(ctx, p.machine)
	switchedOff := ctx.Err() != nil
	p.off()
	p.machine.Host.Detach()
	d.mu.Lock()
	delete(d.machines, p.machine.ID)
	d.mu.Unlock()
	close(p.done)
	if switchedOff {
		d.options.Log.Info("machine powered off", "machine", p.machine.Name, "id", p.machine.ID)
		return
	}
	d.options.Log.Warn("machine died", "machine", p.machine.Name, "id", p.machine.ID, "error", err)
	select {
	case d.died <- p.machine.ID:
	case <-d.ctx.Done():
	}
}

func (d *Datacenter) stateDir(id string) string {
	return filepath.Join(d.options.Dir, "machines", id)
}
