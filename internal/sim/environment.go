// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/boot"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/internal/sim/registry"
	"github.com/butlerdotdev/butler/internal/sim/talos"
)

// defaultSubnet is where machines live if no manifest says otherwise.
const defaultSubnet = "10.40.0.0/24"

// environment is what the machines of one simulator share.
type environment struct {
	network *network.Network
	// ca is the file with the authority of all servers.
	ca      string
	profile datacenter.Profile
	faults  *fault.Injector
	auditor *audit.Auditor
}

// openRegistry serves stand-ins for charts, if any are wanted, until end is called.
func (o Options) openRegistry(ctx context.Context, n *network.Network, faults *fault.Injector, a *front.Authority) (end func() error, err error) {
	if len(o.Setup.Seed.Artifacts) == 0 {
		return func() error { return nil }, nil
	}
	r, err := registry.Start(ctx, registry.Options{
		Authority: a, Network: n, Artifacts: o.Setup.Seed.Artifacts, Faults: faults, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	return r.Close, nil
}

// openDatacenter opens the machines: emulated nodes, or a command each.
func (o Options) openDatacenter(e environment) (*datacenter.Datacenter, error) {
	subnet, err := o.Setup.Seed.subnet()
	if err != nil {
		return nil, err
	}
	d := datacenter.Options{
		Dir: filepath.Join(o.Dir, "datacenter"), Network: e.network, Log: o.Log,
		Subnets: map[string]datacenter.Subnet{"": subnet}, Faults: e.faults,
		PoweredOn:  func(s datacenter.Spec, address netip.Addr) { e.auditor.PoweredOn(s.ID, s.Name, address) },
		PoweredOff: e.auditor.PoweredOff,
	}
	if o.Setup.BootCommand != "" {
		// A real machine takes the time that it takes.
		d.Boot = boot.Command{Line: o.Setup.BootCommand}.Boot
		err = openTo(e.network, subnet)
	} else {
		err = o.emulate(e, &d)
	}
	if err != nil {
		return nil, err
	}
	return datacenter.New(d)
}

// emulate has the machines boot emulated nodes.
func (o Options) emulate(e environment, d *datacenter.Options) error {
	controllers, err := o.controllers(e)
	if err != nil {
		return err
	}
	nodes := talos.New(talos.Options{
		Dir: filepath.Join(o.Dir, "clusters"), Executable: o.Executable, Network: e.network, Profile: e.profile, Log: o.Log,
		Faults: e.faults, Auditor: e.auditor, Controllers: controllers,
	})
	d.Boot, d.Removed, d.Profile = nodes.Boot, nodes.Removed, e.profile
	return nil
}

// controllers returns the command that runs a controller of this project on the
// simulated network, which it reaches by proxy: the executable itself.
func (o Options) controllers(e environment) (func(proxy string) []string, error) {
	executable := o.Executable
	if executable == "" {
		var err error
		if executable, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	return func(proxy string) []string {
		return []string{executable, "controller", "--network", proxy, "--ca", e.ca}
	}, nil
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
	out.NoDHCP = s.NoDHCP
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
