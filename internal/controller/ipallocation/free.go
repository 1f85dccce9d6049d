// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"iter"
	"maps"
	"net/netip"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// noticeFor is how long an address counts as claimed that a refusal said so of: until then the
// watch has brought its claim, or the end of it.
const noticeFor = 10 * time.Second

// free has the free addresses of pools, as far as the claims say that it was given. It only
// helps to choose: an address that it holds for free may be claimed already. An operation takes
// logarithmic time, unless the pool has changed.
type free struct {
	mu      sync.Mutex
	claimed map[netip.Addr]bool      // by claims that the watch has brought
	noticed map[netip.Addr]time.Time // by claims that it may not have brought yet, and until when
	chosen  map[netip.Addr]bool      // by passes that have not claimed them yet
	spaces  map[types.NamespacedName]*described
}

// described is the space of a pool as it was described.
type described struct {
	pool  ipam.Pool
	space *ipam.Space
}

func newFree(claims []v1alpha1.AddressClaim) *free {
	f := &free{claimed: map[netip.Addr]bool{}, noticed: map[netip.Addr]time.Time{}, chosen: map[netip.Addr]bool{}, spaces: map[types.NamespacedName]*described{}}
	for i := range claims {
		f.add(&claims[i])
	}
	return f
}

// add takes note of a claim that the watch has brought.
func (f *free) add(c *v1alpha1.AddressClaim) {
	if a, err := netip.ParseAddr(c.Spec.Address); err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.claimed[a] = true
		f.hold(a)
	}
}

// notice takes note of a claim that was read apart from the watch. That may have brought its
// end already and would not do so again, so this counts for a while only.
func (f *free) notice(a netip.Addr, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noticed[a] = now.Add(noticeFor)
	f.hold(a)
}

// forget ends what was noticed too long ago. It returns whether something is left.
func (f *free) forget(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for a, until := range f.noticed {
		if !now.Before(until) {
			delete(f.noticed, a)
			f.give(a)
		}
	}
	return len(f.noticed) > 0
}

// remove takes note of the end of a claim.
func (f *free) remove(c *v1alpha1.AddressClaim) {
	if a, err := netip.ParseAddr(c.Spec.Address); err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.claimed, a)
		delete(f.noticed, a)
		f.give(a)
	}
}

// use runs a function on the space of a pool. What it returns is held for it until done is called.
func (f *free) use(name types.NamespacedName, p ipam.Pool, choose func(*ipam.Space) (ipam.Range, bool)) (r ipam.Range, ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	space, err := f.space(name, p)
	if err != nil {
		return r, false, err
	}
	if r, ok = choose(space); ok {
		for a := range r.All() {
			f.chosen[a] = true
			f.hold(a)
		}
	}
	return r, ok, nil
}

// done ends the choice of a range: from now on its claims say whether it is free.
func (f *free) done(r ipam.Range) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for a := range r.All() {
		delete(f.chosen, a)
		f.give(a)
	}
}

// space is that of a pool; it is computed again if the pool has changed.
func (f *free) space(name types.NamespacedName, p ipam.Pool) (*ipam.Space, error) {
	if known := f.spaces[name]; known != nil && reflect.DeepEqual(known.pool, p) {
		return known.space, nil
	}
	space, err := ipam.NewSpace(p)
	if err != nil {
		return nil, err
	}
	for _, all := range []iter.Seq[netip.Addr]{maps.Keys(f.claimed), maps.Keys(f.noticed), maps.Keys(f.chosen)} {
		for a := range all {
			space.Hold(ipam.Single(a))
		}
	}
	f.spaces[name] = &described{p, space}
	return space, nil
}

func (f *free) hold(a netip.Addr) {
	for _, d := range f.spaces {
		d.space.Hold(ipam.Single(a))
	}
}

// give makes an address free in the pools that have it, unless it is not.
func (f *free) give(a netip.Addr) {
	if _, noticed := f.noticed[a]; noticed || f.claimed[a] || f.chosen[a] {
		return
	}
	for _, d := range f.spaces {
		if d.pool.Prefix.Contains(a) && !d.space.Free(ipam.Single(a)) {
			_ = d.space.Release(ipam.Single(a)) // cannot fail: it is in the network and not free
		}
	}
}
