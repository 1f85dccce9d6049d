// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package orphan

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestDecide(t *testing.T) {
	now, own := time.Unix(1_700_000_000, 0), time.Unix(1_600_000_000, 0)
	ours, theirs := "ours", "theirs"
	machine := func(id, cluster string) thing {
		return thing{v1alpha1.OrphanMachine, "vm", provider.Owner{ID: id, ClusterID: cluster, Cluster: "mgmt"}, 2}
	}
	known := func(id, cluster string, age time.Duration) v1alpha1.Orphan {
		return v1alpha1.Orphan{
			Kind: v1alpha1.OrphanMachine, ID: id, Name: "vm", ClusterID: cluster, Cluster: "mgmt", Parts: 2,
			FirstSeen: metav1.NewTime(now.Add(-age)),
		}
	}
	seenAs := func(kind v1alpha1.OrphanKind, id string, times int) map[key]sighting {
		return map[key]sighting{{kind, id}: {times, now.Add(-time.Minute), own.Add(-10 * time.Minute)}}
	}
	seen := func(id string, times int) map[key]sighting { return seenAs(v1alpha1.OrphanMachine, id, times) }
	copyOf := func(id string) thing {
		t := machine(id, ours)
		t.kind = v1alpha1.OrphanCopy
		return t
	}
	knownCopy := known("a", ours, time.Hour)
	knownCopy.Kind = v1alpha1.OrphanCopy
	type want struct{ Orphans, Appeared, Gone, Remove []string }
	a := []string{"a"}
	cases := map[string]struct {
		facts
		want want
	}{
		"nothing there": {facts{}, want{}},
		"seen once: not said yet": {
			facts{things: []thing{machine("a", ours)}}, want{}},
		"seen twice: said": {
			facts{things: []thing{machine("a", ours)}, seen: seen("a", 1)}, want{Orphans: a, Appeared: a}},
		"seen again: said once": {
			facts{things: []thing{machine("a", ours)}, seen: seen("a", 2), known: []v1alpha1.Orphan{known("a", ours, time.Hour)}},
			want{Orphans: a}},
		"a request owns it": {
			facts{things: []thing{machine("a", ours)}, seen: seen("a", 5), owned: map[string]bool{"a": true}}, want{}},
		"a request owns it again: gone": {
			facts{things: []thing{machine("a", ours)}, owned: map[string]bool{"a": true}, known: []v1alpha1.Orphan{known("a", ours, 0)}},
			want{Gone: a}},
		"a copy of what a request owns: said": {
			facts{things: []thing{copyOf("a")}, seen: seenAs(v1alpha1.OrphanCopy, "a", 1), owned: map[string]bool{"a": true}}, want{Orphans: a, Appeared: a}},
		"a copy: never deleted": {
			facts{remove: true, things: []thing{copyOf("a")}, seen: seenAs(v1alpha1.OrphanCopy, "a", 5), known: []v1alpha1.Orphan{knownCopy}}, want{Orphans: a}},
		"two machines of one owner, seen once: not said yet": {
			facts{things: []thing{machine("a", ours), machine("a", ours)}}, want{}},
		"gone from the platform": {
			facts{seen: seen("a", 5), known: []v1alpha1.Orphan{known("a", ours, 0)}}, want{Gone: a}},
		"another cluster's: not ours to judge": {
			facts{things: []thing{machine("a", theirs), machine("a", "")}, seen: seen("a", 5)}, want{}},
		"without a request's id: not ours to judge": {
			facts{things: []thing{machine("", ours)}, seen: seen("", 5)}, want{}},
		"its cluster could not be looked at: it stays": {
			facts{clusters: map[string]bool{ours: false}, known: []v1alpha1.Orphan{known("a", ours, time.Hour)}, remove: true},
			want{Orphans: a}},
		"its cluster could not be looked at: what was seen of it is nothing": {
			facts{clusters: map[string]bool{ours: false}, things: []thing{machine("a", ours)}, seen: seen("a", 5)}, want{}},
		"its cluster has gone elsewhere: forgotten, not gone": {
			facts{known: []v1alpha1.Orphan{known("a", theirs, time.Hour)}}, want{}},

		"grace is over, but deletion is not enabled": {
			facts{things: []thing{machine("a", ours)}, seen: seen("a", 5), known: []v1alpha1.Orphan{known("a", ours, time.Hour)}},
			want{Orphans: a}},
		"grace is over: delete": {
			facts{remove: true, things: []thing{machine("a", ours)}, seen: seen("a", 1), known: []v1alpha1.Orphan{known("a", ours, 10*time.Minute)}},
			want{Orphans: a, Remove: a}},
		"grace is not over": {
			facts{remove: true, things: []thing{machine("a", ours)}, seen: seen("a", 5), known: []v1alpha1.Orphan{known("a", ours, 10*time.Minute-1)}},
			want{Orphans: a}},
		"grace is over, but this process sees it for the first time": {
			facts{remove: true, things: []thing{machine("a", ours)}, known: []v1alpha1.Orphan{known("a", ours, time.Hour)}},
			want{Orphans: a}},
		"first said in this very sweep: not deleted with it": {
			facts{remove: true, grace: -1, things: []thing{machine("a", ours)}, seen: seen("a", 1)},
			want{Orphans: a, Appeared: a}},
		"a clock that was put forward: not deleted": {
			facts{remove: true, things: []thing{machine("a", ours)}, own: own.Add(-1), seen: seen("a", 5), known: []v1alpha1.Orphan{known("a", ours, time.Hour)}},
			want{Orphans: a}},
		"a clock that was put back: not deleted": {
			facts{remove: true, things: []thing{machine("a", ours)}, seen: seen("a", 5), known: []v1alpha1.Orphan{known("a", ours, -time.Hour)}},
			want{Orphans: a}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := c.facts
			f.now = now
			if f.own.IsZero() {
				f.own = own
			}
			if f.clusters == nil {
				f.clusters = map[string]bool{ours: true}
			}
			if f.grace == 0 {
				f.grace = 10 * time.Minute
			}
			d := decide(f)
			got := want{ids(d.orphans), ids(d.appeared), ids(d.gone), ids(d.remove)}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func ids(all []v1alpha1.Orphan) []string {
	var found []string
	for _, o := range all {
		found = append(found, o.ID)
	}
	return found
}

func TestTheFirstSightingIsKept(t *testing.T) {
	began := time.Unix(1_700_000_000, 0)
	f := facts{now: began, clusters: map[string]bool{"c": true}, things: []thing{{owner: provider.Owner{ID: "a", ClusterID: "c"}}}}
	for range 3 {
		d := decide(f)
		f.now, f.seen, f.known = f.now.Add(time.Minute), d.seen, d.orphans
	}
	if len(f.known) != 1 || !f.known[0].FirstSeen.Time.Equal(began) {
		t.Errorf("known is %+v, want first seen at %v", f.known, began)
	}
}

func TestTheStatusHoldsFiftyAndTheNumberAll(t *testing.T) {
	f := facts{now: time.Unix(1_700_000_000, 0), clusters: map[string]bool{"c": true}}
	for i := range 120 {
		f.things = append(f.things, thing{owner: provider.Owner{ID: fmt.Sprint(i), ClusterID: "c"}})
	}
	f.seen = decide(f).seen
	d := decide(f)
	if len(d.orphans) != v1alpha1.MaxOrphans || d.total != 120 || len(d.appeared) != v1alpha1.MaxOrphans {
		t.Errorf("%d of %d in the status, %d reported", len(d.orphans), d.total, len(d.appeared))
	}
}
