// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
)

// formation is what the nodes of one cluster share.
type formation struct {
	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, with each change
	talosCA map[string]pki.CA
	plane   *plane.Plane
	members map[string]*machine.EtcdMember
}

func newFormation() *formation {
	return &formation{
		changed: make(chan struct{}),
		talosCA: map[string]pki.CA{},
		members: map[string]*machine.EtcdMember{},
	}
}

func (f *formation) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

// await returns once done, which it calls under lock, says so.
func (f *formation) await(ctx context.Context, done func() bool) error {
	for {
		f.mu.Lock()
		ok, changed := done(), f.changed
		f.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// trust offers the Talos CA of a control plane that is on, as trustd does.
func (f *formation) trust(host string, ca pki.CA) { f.change(func() { f.talosCA[host] = ca }) }

func (f *formation) distrust(host string) { f.change(func() { delete(f.talosCA, host) }) }

// awaitTrust waits for a control plane that signs a worker's certificate.
func (f *formation) awaitTrust(ctx context.Context) (ca pki.CA, err error) {
	err = f.await(ctx, func() bool {
		for _, ca = range f.talosCA {
			return true
		}
		return false
	})
	return ca, err
}

// serve announces, or with nil withdraws, the cluster's API server.
func (f *formation) serve(p *plane.Plane) { f.change(func() { f.plane = p }) }

// awaitPlane waits until an API server runs that is not the one before.
func (f *formation) awaitPlane(ctx context.Context, before *plane.Plane) (p *plane.Plane, err error) {
	err = f.await(ctx, func() bool { p = f.plane; return p != nil && p != before })
	return p, err
}

func (f *formation) join(hostname, address string) {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(hostname + "/" + address))
	member := &machine.EtcdMember{
		Id:         hash.Sum64(),
		Hostname:   hostname,
		PeerUrls:   []string{"https://" + address + ":2380"},
		ClientUrls: []string{"https://" + address + ":2379"},
	}
	f.change(func() { f.members[hostname] = member })
}

func (f *formation) leave(hostname string) { f.change(func() { delete(f.members, hostname) }) }

// etcd lists the members; none means that etcd does not answer.
func (f *formation) etcd() []*machine.EtcdMember {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.plane == nil {
		return nil
	}
	var members []*machine.EtcdMember
	for _, m := range f.members {
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b *machine.EtcdMember) int { return cmp.Compare(a.GetHostname(), b.GetHostname()) })
	return members
}
