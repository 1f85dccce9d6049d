// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/boot"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/internal/sim/talos"
)

// defaultSubnet is where machines live if no manifest says otherwise.
const defaultSubnet = "10.40.0.0/24"

// openDatacenter opens the machines: emulated nodes, or a command each.
func (o Options) openDatacenter(n *network.Network, p datacenter.Profile, faults *fault.Course) (*datacenter.Datacenter, error) {
	subnet, err := o.Setup.Seed.subnet()
	if err != nil {
		return nil, err
	}
	d := datacenter.Options{
		Dir: filepath.Join(o.Dir, "datacenter"), Network: n, Log: o.Log,
		Subnets: map[string]datacenter.Subnet{"": subnet}, Hold: hold(faults),
	}
	if o.Setup.BootCommand != "" {
		// A real machine takes the time that it takes.
		d.Boot = boot.Command{Line: o.Setup.BootCommand}.Boot
		err = openTo(n, subnet)
	} else {
		world := talos.New(talos.Options{Dir: filepath.Join(o.Dir, "clusters"), Executable: o.Executable, Network: n, Profile: p, Log: o.Log})
		d.Boot, d.Removed, d.Profile = world.Boot, world.Removed, p
	}
	if err != nil {
		return nil, err
	}
	d.Boot = mortal(faults, d.Boot)
	return datacenter.New(d)
}

// openTo has machines, and the addresses that they may share, reached for real.
func openTo(n *network.Network, s datacenter.Subnet) error {
	err := n.Open(s.Prefix)
	for _, r := range s.Reserved {
		if r.From == r.To && !s.Prefix.Contains(r.From) {
			err = errors.Join(err, n.Open(netip.PrefixFrom(r.From, r.From.BitLen())))
		}
	}
	return err
}

// mortal lets machines fail at their start, or end by themselves later, as the
// fault plan has it.
func mortal(faults *fault.Course, next datacenter.Boot) datacenter.Boot {
	return func(ctx context.Context, m datacenter.Machine) error {
		if faults.Stillborn(m.Name) {
			return fmt.Errorf("machine %s fails at its start, as the fault plan has it", m.Name)
		}
		after, dies := faults.Death(m.Name)
		if !dies {
			return next(ctx, m)
		}
		life, cancel := context.WithTimeoutCause(ctx, after, datacenter.ErrPowerLoss)
		defer cancel()
		err := next(life, m)
		if life.Err() != nil {
			return fmt.Errorf("machine %s dies, as the fault plan has it", m.Name)
		}
		return err
	}
}

// hold keeps machines without an address, as the fault plan has it.
func hold(faults *fault.Course) func(datacenter.Spec) <-chan struct{} {
	return func(s datacenter.Spec) <-chan struct{} {
		d, held := faults.Addressless(s.Name)
		if !held {
			return nil
		}
		given := make(chan struct{})
		if d > 0 {
			time.AfterFunc(d, func() { close(given) })
		}
		return given
	}
}

func (s Seed) subnet() (out datacenter.Subnet, err error) {
	prefix := s.Subnet
	if prefix == "" {
		prefix = defaultSubnet
	}
	if out.Prefix, err = netip.ParsePrefix(prefix); err != nil {
		return out, fmt.Errorf("subnet of the machines: %w", err)
	}
	if s.Gateway != "" {
		if out.Gateway, err = netip.ParseAddr(s.Gateway); err != nil {
			return out, fmt.Errorf("gateway of the machines: %w", err)
		}
	}
	for _, r := range s.Reserved {
		from, err1 := netip.ParseAddr(r.Start)
		to, err2 := netip.ParseAddr(r.End)
		if err := errors.Join(err1, err2); err != nil {
			return out, fmt.Errorf("reserved addresses: %w", err)
		}
		out.Reserved = append(out.Reserved, datacenter.Range{From: from, To: to})
	}
	return out, nil
}
