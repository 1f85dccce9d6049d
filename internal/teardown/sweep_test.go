// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// dirt is a platform with machines of several clusters.
type dirt struct {
	testing.TB
	*inmemory.Platform
	site inventory.Site
	kept inventory.Copies // as the last sweep saw them
}

func newDirt(t testing.TB, o inmemory.Options) *dirt {
	p := inmemory.New(o)
	return &dirt{TB: t, Platform: p, site: inventory.Site{Provider: p.Provider(v1alpha1.ProviderHarvester), Config: &v1alpha1.ProviderConfig{}, Ambient: true}}
}

// make puts machines of a cluster in place.
func (d *dirt) make(cluster, id string, n int) {
	d.Helper()
	platform, end, err := d.site.Connect(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	defer end()
	for i := range n {
		name := fmt.Sprintf("%s-%s-%d", cluster, id, i)
		ref := provider.MachineRef{Name: name, Owner: provider.Owner{ID: "owner-of-" + name, ClusterID: id, Cluster: cluster}}
		if _, err := platform.Machines.Create(d.Context(), provider.MachineSpec{MachineRef: ref, Role: v1alpha1.RoleWorker, CPU: 1, MemoryMB: 2048, DiskGB: 20}); err != nil {
			d.Fatal(err)
		}
	}
}

func (d *dirt) sweep(ctx context.Context, id string) (string, error) {
	l := &ledger{}
	_, err := sweepPlatform(ctx, d.site, provider.Owner{ClusterID: id, Cluster: "mgmt"}, time.Time{}, ui.NewReporter(io.Discard, io.Discard, "plain"), func(now inventory.Stock) error {
		l.record(now.Held)
		d.kept = now.Copies
		return nil
	})
	return l.line("found"), err
}

func (d *dirt) owners() map[string]int {
	out := map[string]int{}
	for _, m := range d.Machines() {
		out[m.Ref.Owner.ClusterID]++
	}
	return out
}

func TestSweepDeletesOneClusterWhateverThePlatformDoes(t *testing.T) {
	unavailable := &provider.Error{Kind: provider.Unavailable, Op: "ask", Err: errors.New("try later")}
	for reason, c := range map[string]struct {
		options inmemory.Options
		trouble func(*inmemory.Platform)
	}{
		"at once":              {inmemory.Options{}, func(*inmemory.Platform) {}},
		"by push":              {inmemory.Options{Push: true, DeleteDelay: 50 * time.Millisecond}, func(*inmemory.Platform) {}},
		"by polling":           {inmemory.Options{DeleteDelay: 50 * time.Millisecond}, func(*inmemory.Platform) {}},
		"after a settle":       {inmemory.Options{Settle: 200 * time.Millisecond}, func(*inmemory.Platform) {}},
		"throttled":            {inmemory.Options{}, func(p *inmemory.Platform) { p.Fail(inmemory.Delete, unavailable); p.Fail(inmemory.List, unavailable) }},
		"not connected":        {inmemory.Options{}, func(p *inmemory.Platform) { p.Fail(inmemory.Connect, unavailable) }},
		"answer lost":          {inmemory.Options{}, func(p *inmemory.Platform) { p.Lose(inmemory.Delete) }},
		"task fails after 200": {inmemory.Options{}, func(p *inmemory.Platform) { p.FailLate(inmemory.Delete) }},
		"login ends": {inmemory.Options{}, func(p *inmemory.Platform) {
			p.Fail(inmemory.Delete, &provider.Error{Kind: provider.Unauthorized, Op: "delete", Err: errors.New("token expired")})
		}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			d := newDirt(t, c.options)
			d.make("mgmt", "x", 5)
			d.make("mgmt", "y", 2)
			d.make("other", "z", 1)
			c.trouble(d.Platform)
			line, err := d.sweep(t.Context(), "x")
			if want := "found 10, deleted 10, left 0: 5 machines, 5 disks"; err != nil || line != want {
				t.Errorf("got  %s, %v\nwant %s", line, err, want)
			}
			if left := d.owners(); left["x"] != 0 || left["y"] != 2 || left["z"] != 1 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestSweepEndsAtWhatOnlyPeopleCanFix(t *testing.T) {
	d := newDirt(t, inmemory.Options{})
	d.make("mgmt", "x", 3)
	d.Refuse(&provider.Error{Kind: provider.Unauthorized, Op: "delete machine", Err: errors.New("forbidden")}, inmemory.Delete)
	line, err := d.sweep(t.Context(), "x")
	if provider.KindOf(err) != provider.Unauthorized || !strings.HasPrefix(line, "found 6, deleted 0, left 6") {
		t.Errorf("%s, %v", line, err)
	}
	d.Lift()
	if line, err := d.sweep(t.Context(), "x"); err != nil || !strings.HasPrefix(line, "found 6, deleted 6, left 0") {
		t.Errorf("%s, %v", line, err)
	}
}

func TestSweepCountsWhatWentBesideARefusal(t *testing.T) {
	d := newDirt(t, inmemory.Options{})
	d.make("mgmt", "x", 3)
	d.Platform.Fail(inmemory.Delete, &provider.Error{Kind: provider.Invalid, Op: "delete machine", Err: errors.New("it is protected")})
	line, err := d.sweep(t.Context(), "x")
	if want := "found 6, deleted 4, left 2: 3 machines, 3 disks"; provider.KindOf(err) != provider.Invalid || line != want {
		t.Errorf("got  %s, %v\nwant %s", line, err, want)
	}
}

func TestSweepLeavesAnotherClusterOfTheSameID(t *testing.T) {
	d := newDirt(t, inmemory.Options{})
	d.make("mgmt", "x", 2)
	d.make("copied", "x", 1)
	line, err := d.sweep(t.Context(), "x")
	if want := "found 4, deleted 4, left 0: 2 machines, 2 disks"; err != nil || line != want {
		t.Errorf("got  %s, %v\nwant %s", line, err, want)
	}
	if all := d.Machines(); len(all) != 1 || all[0].Ref.Owner.Cluster != "copied" {
		t.Errorf("left: %v", all)
	}
}

func TestSweepKeepsCopiesAndIsDoneWithoutThem(t *testing.T) {
	d := newDirt(t, inmemory.Options{})
	d.make("mgmt", "x", 2)
	if !d.Clone("mgmt-x-0", "forensic") || !d.Clone("mgmt-x-1", "restored") {
		t.Fatal("there is nothing to copy")
	}
	d.Remove("mgmt-x-1") // of which only the copy is left
	line, err := d.sweep(t.Context(), "x")
	if want := "found 2, deleted 2, left 0: 1 machine, 1 disk"; err != nil || line != want {
		t.Errorf("got  %s, %v\nwant %s", line, err, want)
	}
	if len(d.Sightings("forensic")) != 1 || len(d.Sightings("restored")) != 1 {
		t.Errorf("left: %v", d.Machines())
	}
	text := d.kept.Line()
	for _, want := range []string{"kept: ", "machine forensic", "machine restored", "not created by Butler"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.TrimSpace(want)) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}

func TestSweepDoesNotWaitForAnAnswerThatNeverComes(t *testing.T) {
	for _, op := range []inmemory.Op{inmemory.Delete, inmemory.Observe, inmemory.List} {
		t.Run(string(op), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDirt(t, inmemory.Options{})
				d.make("mgmt", "x", 2)
				d.Silence(op)
				platform, end, err := d.site.Connect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer end()
				cleanup := &sweep{
					platform: platform, owner: provider.Owner{ClusterID: "x", Cluster: "mgmt"},
					record: func(inventory.Stock) error { return nil }, gone: func(provider.Holding) {},
					stuck: func(error) { d.Lift() }, // that it is reported at all is what counts
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				if err := cleanup.run(ctx); err != nil || d.owners()["x"] != 0 {
					t.Errorf("%v; left: %v", err, d.owners())
				}
			})
		})
	}
}

func TestSweepWaitsForWhatMayBeListedLate(t *testing.T) {
	for reason, c := range map[string]struct{ quiet, want time.Duration }{
		"creation ended unknown":      {0, time.Minute},
		"creation ended just now":     {time.Nanosecond, time.Minute},
		"creation ended 40 s ago":     {40 * time.Second, 20 * time.Second},
		"creation ended an hour ago":  {time.Hour, 0},
		"creation ended a minute ago": {time.Minute, 0},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDirt(t, inmemory.Options{Settle: time.Minute})
				var quiet time.Time
				if began := time.Now(); c.quiet > 0 {
					time.Sleep(c.quiet) // of the test's own clock
					quiet = began
				}
				began := time.Now()
				_, err := sweepPlatform(t.Context(), d.site, provider.Owner{ClusterID: "x"}, quiet, ui.NewReporter(io.Discard, io.Discard, "plain"), func(inventory.Stock) error { return nil })
				if took := time.Since(began).Round(time.Second); err != nil || took != c.want {
					t.Errorf("%v after %s", err, took)
				}
			})
		})
	}
}

func TestSweepGivesUpWhenItsTimeIsOver(t *testing.T) {
	d := newDirt(t, inmemory.Options{})
	d.make("mgmt", "x", 2)
	d.Refuse(&provider.Error{Kind: provider.Unavailable, Op: "delete machine", Err: errors.New("try later")}, inmemory.Delete)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errTimedOut)
	defer cancel()
	line, err := d.sweep(ctx, "x")
	if want := "found 4, deleted 0, left 4: 2 machines, 2 disks"; !errors.Is(err, errTimedOut) || line != want {
		t.Errorf("ended with %s, %v", line, err)
	}
	if left := d.owners()["x"]; left != 2 {
		t.Errorf("%d are left", left)
	}
}

// BenchmarkDestroy deletes machines without a plane on a platform that takes a
// moment for each.
func BenchmarkDestroy(b *testing.B) {
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				d := newDirt(b, inmemory.Options{Push: true, DeleteDelay: 20 * time.Millisecond})
				d.make("mgmt", "x", n)
				b.StartTimer()
				if line, err := d.sweep(b.Context(), "x"); err != nil {
					b.Fatal(line, err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*n), "s/machine")
		})
	}
}

// errTimedOut is the cause of a context that the time of a command has ended.
var errTimedOut = errors.New("timed out")
