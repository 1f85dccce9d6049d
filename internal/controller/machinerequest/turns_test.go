// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// TestASilentPlatformDelaysNoOther lets all requests of one platform hang and creates
// requests of another one meanwhile. How fast those are depends on the load of the
// machine, so they are compared with requests of a controller that has no silent
// platform.
func TestASilentPlatformDelaysNoOther(t *testing.T) {
	const most = time.Second
	for _, op := range []inmemory.Op{inmemory.Connect, inmemory.Create, inmemory.Observe} {
		t.Run(string(op), func(t *testing.T) {
			alone := newFixture(t, inmemory.Options{Push: true})
			alone.Configure()
			beside, lift := besideSilent(t, op)
			defer lift() // before the manager waits for its workers
			for i := range 3 {
				name := fmt.Sprintf("h-%d", i)
				first, second := together(alone, beside, name)
				t.Logf("%s took %s, and %s without a silent platform", name, second.Round(time.Millisecond), first.Round(time.Millisecond))
				if late := second - first; late > most {
					t.Errorf("%s was delayed by %s, want at most %s", name, late, most)
				}
			}
		})
	}
}

// besideSilent is a fixture with a healthy platform, and with another one that does not
// answer this operation for 40 requests.
func besideSilent(t *testing.T, op inmemory.Op) (w *fixture, lift func()) {
	t.Helper()
	dead := inmemory.New(inmemory.Options{AddressDelay: time.Hour}) // it is observed soon
	dead.Silence(op)
	w = idleFixture(t, api, inmemory.New(inmemory.Options{Push: true}))
	w.others = map[string]*inmemory.Platform{"dead": dead}
	w.stop = w.start()
	w.Configure()
	c := w.Config(v1alpha1.ProviderHarvester)
	c.Name = "dead"
	w.Must(w.Create(w.Context(), c))
	for i := range 40 {
		w.request(fmt.Sprintf("d-%d", i), func(r *v1alpha1.MachineRequest) { r.Spec.ProviderRef.Name = "dead" })
	}
	w.Await(func() error {
		if dead.Waiting() == 0 {
			return errors.New("no call waits for the silent platform")
		}
		return nil
	})
	return w, dead.Lift
}

// together creates a request in two fixtures and returns how long each takes to run.
func together(a, b *fixture, name string) (first, second time.Duration) {
	a.Helper()
	began := time.Now()
	requests := map[*fixture]*v1alpha1.MachineRequest{a: a.request(name), b: b.request(name)}
	took := map[*fixture]time.Duration{}
	a.Await(func() error {
		for w, r := range requests {
			w.Must(w.read(r))
			if _, known := took[w]; !known && r.Status.Phase == v1alpha1.MachineRunning {
				took[w] = time.Since(began)
			}
		}
		if len(took) < 2 {
			return fmt.Errorf("%d of 2 requests run", len(took))
		}
		return nil
	})
	return took[a], took[b]
}

// TestCallsThatWaitDoNotTakeTurns holds the Create of many machines: all of them
// have to arrive.
func TestCallsThatWaitDoNotTakeTurns(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	w.platform.Silence(inmemory.Create)
	defer w.platform.Lift()
	const machines = 100
	for i := range machines {
		w.request(fmt.Sprintf("m-%d", i))
	}
	w.Await(func() error {
		if n := w.platform.Waiting(); n != machines {
			return fmt.Errorf("%d calls are under way, want %d", n, machines)
		}
		return nil
	})
}
