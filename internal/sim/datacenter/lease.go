// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// lease says which address a machine has. Its file is named after the machine.
type lease struct {
	ID      string     `json:"id"`
	Network string     `json:"network"`
	Address netip.Addr `json:"address"`
}

// ledger keeps leases on disk. It is not safe for concurrent use.
type ledger struct {
	subnets map[string]Subnet
	leases  *store[lease]
	taken   map[netip.Addr]string       // by whom
	next    map[netip.Prefix]netip.Addr // where to look for a free address
}

func openLedger(dir string, subnets map[string]Subnet) (*ledger, error) {
	leases, err := openStore[lease](dir)
	if err != nil {
		return nil, err
	}
	l := &ledger{
		subnets: map[string]Subnet{}, leases: leases,
		taken: map[netip.Addr]string{}, next: map[netip.Prefix]netip.Addr{},
	}
	for id, s := range subnets {
		if err := s.check(id); err != nil {
			return nil, err
		}
		l.subnets[id] = s
	}
	for _, held := range leases.byID {
		l.note(held)
	}
	return l, nil
}

// addSubnet adds a subnet and counts the leases that machines have there.
func (l *ledger) addSubnet(id string, s Subnet) error {
	if err := s.check(id); err != nil {
		return err
	}
	for other, there := range l.subnets {
		if other != id && other != "" && there.Prefix.Overlaps(s.Prefix) {
			return fmt.Errorf("subnet %q: %v overlaps with %v of subnet %q", id, s.Prefix, there.Prefix, other)
		}
	}
	l.subnets[id] = s
	for _, held := range l.leases.byID {
		l.note(held)
	}
	return nil
}

// get returns the subnet of a network and, if the machine has one there, its address.
func (l *ledger) get(id, network string) (Subnet, netip.Addr, error) {
	s, ok := l.subnets[network]
	if !ok {
		s, ok = l.subnets[""]
	}
	if !ok {
		return Subnet{}, netip.Addr{}, fmt.Errorf("the simulated datacenter has no subnet for network %q", network)
	}
	if held, ok := l.leases.get(id); ok && held.Network == network && s.leasable(held.Address) {
		return s, held.Address, nil
	}
	return s, netip.Addr{}, nil
}

// free yields addresses without a lease, the most recently released ones last.
func (l *ledger) free(s Subnet) iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		for a := range s.from(l.next[s.Prefix.Masked()]) {
			if l.taken[a] == "" && !yield(a) {
				return
			}
		}
	}
}

// holder is the machine that has the address.
func (l *ledger) holder(a netip.Addr) (id string, leased bool) {
	id, leased = l.taken[a]
	return id, leased
}

func (l *ledger) grant(granted lease) error {
	before := l.leases.byID[granted.ID]
	if err := l.leases.put(granted.ID, granted); err != nil {
		return fmt.Errorf("keep the lease of %v: %w", granted.Address, err)
	}
	delete(l.taken, before.Address)
	l.note(granted)
	return nil
}

func (l *ledger) release(id string) error {
	before := l.leases.byID[id]
	if err := l.leases.remove(id); err != nil {
		return fmt.Errorf("release the lease of machine %s: %w", id, err)
	}
	delete(l.taken, before.Address)
	return nil
}

func (l *ledger) note(held lease) {
	l.taken[held.Address] = held.ID
	for name, s := range l.subnets {
		in := name == held.Network || name == ""
		if at := s.Prefix.Masked(); in && at.Contains(held.Address) && !held.Address.Less(l.next[at]) {
			l.next[at] = held.Address.Next()
		}
	}
}

// checkID keeps an ID from naming anything but a file of its own.
func checkID(id string) error {
	if id == "" || strings.ContainsAny(id, `/\`) || strings.HasPrefix(id, ".") || !filepath.IsLocal(id) {
		return fmt.Errorf("%q is not an ID", id)
	}
	return nil
}

// macOf makes a MAC address with the prefix that KVM machines have.
func macOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return net.HardwareAddr{0x52, 0x54, 0x00, sum[0], sum[1], sum[2]}.String()
}

// writeDurably replaces a file such that a crash leaves the old or the new content.
func writeDurably(file string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // fails once renamed
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), file); err != nil {
		return err
	}
	return syncDir(filepath.Dir(file))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
