// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

func key(r fault.Resource, id string) string { return string(r) + " " + id }

// Seen records each object that exists, and again when it has changed. One
// without an owner, or a copy, is left out.
func (a *Auditor) Seen(o Object) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(key(o.Resource, o.ID))
	if o.OwnerID == "" || o.Copy {
		return
	}
	a.objects[key(o.Resource, o.ID)] = o
	a.names[key(o.Resource, o.Name)] = o.ClusterID
	if o.Resource == fault.Machine {
		a.owners.add(o.OwnerID, key(o.Resource, o.ID))
		a.clusters.add(o.ClusterID, key(o.Resource, o.ID))
		a.checkOwner(o)
		a.checkNumber(o)
	}
}

// forget takes an object out. It is called under lock.
func (a *Auditor) forget(key string) {
	o := a.objects[key]
	a.owners.remove(o.OwnerID, key)
	a.clusters.remove(o.ClusterID, key)
	delete(a.objects, key)
}

// index has the keys of machines by something that they share.
type index map[string]map[string]bool

func (x index) add(by, key string) {
	if x[by] == nil {
		x[by] = map[string]bool{}
	}
	x[by][key] = true
}

func (x index) remove(by, key string) {
	delete(x[by], key)
	if len(x[by]) == 0 {
		delete(x, by)
	}
}

// Gone records that an object does not exist any more.
func (a *Auditor) Gone(r fault.Resource, id string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(key(r, id))
}

// Left are the objects with an owner that are there, sorted.
func (a *Auditor) Left() (all []Object) {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sorted(maps.Keys(a.objects))
}

// sorted are the objects with these keys. It is called under lock.
func (a *Auditor) sorted(keys iter.Seq[string]) (all []Object) {
	for key := range keys {
		all = append(all, a.objects[key])
	}
	slices.SortFunc(all, func(a, b Object) int {
		return cmp.Or(
			cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.ClusterID, b.ClusterID),
			cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID),
		)
	})
	return all
}

// checkOwner complains of two machines with one owner.
func (a *Auditor) checkOwner(o Object) {
	if same := a.owners[o.OwnerID]; len(same) > 1 {
		a.report(OneOwner, "owner %s has %d machines: %s", o.OwnerID, len(same), identities(a.sorted(maps.Keys(same))))
	}
}

// checkNumber complains of more machines than the manifest has. One that is being
// deleted makes room for its successor.
func (a *Auditor) checkNumber(o Object) {
	desired, known := a.desired(o.Cluster)
	if !known || len(a.clusters[o.ClusterID]) <= desired.Machines {
		return
	}
	there := slices.DeleteFunc(a.sorted(maps.Keys(a.clusters[o.ClusterID])), func(o Object) bool { return o.Leaving })
	if len(there) > desired.Machines {
		a.report(WithinDesired, "cluster %s (%s) has %d machines, its manifest %d: %s",
			desired.Cluster, o.ClusterID, len(there), desired.Machines, identities(there))
	}
}

// Raise lets the clusters have at least as many machines as these: their manifests were changed.
// A number never falls, since machines that are removed exist for a while.
func (a *Auditor) Raise(desired []Desired) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.options.Desired = Raised(a.options.Desired, desired)
}

// Raised returns the larger of both numbers of machines for each cluster.
func Raised(known, wanted []Desired) []Desired {
	out := slices.Clone(wanted)
	for _, k := range known {
		i := slices.IndexFunc(out, func(d Desired) bool { return d.Cluster == k.Cluster })
		if i < 0 {
			out = append(out, k)
			continue
		}
		out[i].Machines = max(out[i].Machines, k.Machines)
	}
	return out
}

// desired is what is known of a cluster; without a name, of the only one.
func (a *Auditor) desired(cluster string) (Desired, bool) {
	all := a.options.Desired
	if cluster == "" && len(all) == 1 {
		return all[0], true
	}
	i := slices.IndexFunc(all, func(d Desired) bool { return d.Cluster == cluster })
	if i < 0 {
		return Desired{}, false
	}
	return all[i], true
}

func identities(objects []Object) string {
	var all []string
	for _, o := range objects {
		all = append(all, o.Name+" ("+o.ID+")")
	}
	return strings.Join(all, ", ")
}
