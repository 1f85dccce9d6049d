// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package orphan

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// sightings is how often in a row something must be seen before it counts.
const sightings = 2

// thing is what the platform holds for one owner.
type thing struct {
	kind  v1alpha1.OrphanKind
	name  string
	owner provider.Owner
	parts int32
}

// key identifies a thing.
type key struct {
	kind v1alpha1.OrphanKind
	id   string
}

// sighting is how often in a row something was seen without a request, and when
// for the first time.
type sighting struct {
	times int
	first time.Time
	// since is first by the machine's own clock, which cannot be put forward.
	since time.Time
}

func keyOf(o v1alpha1.Orphan) key { return key{o.Kind, o.ID} }

// facts is all that a decision is made from.
type facts struct {
	now time.Time
	// own is now by the machine's own clock.
	own   time.Time
	grace time.Duration
	// remove says that orphans are to be deleted.
	remove bool
	// clusters are the ids that this plane is in charge of: true for one whose
	// things are all known, false for one that could not be looked at.
	clusters map[string]bool
	things   []thing
	// owned are the ids of all requests, read after the things.
	owned map[string]bool
	// known is what the status says, and seen what this process has seen before.
	known []v1alpha1.Orphan
	seen  map[key]sighting
}

// decision is what the status is to say, and what has changed about it.
type decision struct {
	orphans []v1alpha1.Orphan
	total   int // without copies
	seen    map[key]sighting
	// appeared and gone are to be reported, remove what may be deleted.
	appeared, gone, remove []v1alpha1.Orphan
}

// decide says what is an orphan. It never counts what carries no request's id or
// the id of a cluster that this plane is not in charge of. A copy counts although its
// id is a request's, and is never removed.
func decide(f facts) decision {
	d := decision{seen: map[key]sighting{}}
	before := map[key]v1alpha1.Orphan{}
	for _, o := range f.known {
		before[keyOf(o)] = o
	}
	for _, t := range f.things {
		if t.owner.ID != "" && f.clusters[t.owner.ClusterID] && (t.kind == v1alpha1.OrphanCopy || !f.owned[t.owner.ID]) {
			d.see(f, t, before)
		}
	}
	for _, o := range f.known {
		whole, here := f.clusters[o.ClusterID]
		switch {
		case here && !whole:
			d.orphans = append(d.orphans, o) // not known: it stays
		case here && d.seen[keyOf(o)].times == 0:
			d.gone = append(d.gone, o)
		}
	}
	d.limit(before)
	return d
}

// see counts one more sighting of a thing without a request.
func (d *decision) see(f facts, t thing, before map[key]v1alpha1.Orphan) {
	k := key{t.kind, t.owner.ID}
	if d.seen[k].times > 0 {
		return // two machines of one owner are one sighting
	}
	seen := f.seen[k]
	if seen.times++; seen.times == 1 {
		seen.first, seen.since = f.now, f.own
	}
	d.seen[k] = seen
	old, known := before[k]
	if !known && seen.times < sightings {
		return
	}
	o := v1alpha1.Orphan{
		Kind: t.kind, ID: t.owner.ID, Name: t.name, ClusterID: t.owner.ClusterID, Cluster: t.owner.Cluster, Parts: t.parts,
		FirstSeen: metav1.NewTime(seen.first).Rfc3339Copy(),
	}
	if known {
		o.FirstSeen = old.FirstSeen
	}
	d.orphans = append(d.orphans, o)
	if f.remove && t.kind != v1alpha1.OrphanCopy && known && seen.times >= sightings && f.over(o, seen) {
		d.remove = append(d.remove, o)
	}
}

// over reports whether the grace of an orphan is, by both clocks: one that was put
// forward ends no grace.
func (f facts) over(o v1alpha1.Orphan, seen sighting) bool {
	return f.now.Sub(o.FirstSeen.Time) >= f.grace && f.own.Sub(seen.since) >= f.grace
}

// limit keeps the oldest orphans, in an order that stays the same.
func (d *decision) limit(before map[key]v1alpha1.Orphan) {
	slices.SortFunc(d.orphans, func(a, b v1alpha1.Orphan) int {
		return cmp.Or(a.FirstSeen.Compare(b.FirstSeen.Time), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	for _, o := range d.orphans {
		if o.Kind != v1alpha1.OrphanCopy {
			d.total++
		}
	}
	d.orphans = d.orphans[:min(len(d.orphans), v1alpha1.MaxOrphans)]
	for _, o := range d.orphans {
		if _, known := before[keyOf(o)]; !known {
			d.appeared = append(d.appeared, o)
		}
	}
}
