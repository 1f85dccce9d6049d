// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"fmt"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// TestASilentPlatformDelaysNoOther lets all requests of one platform hang, in
// Connect or in Create, and creates a request of another one meanwhile.
func TestASilentPlatformDelaysNoOther(t *testing.T) {
	for _, op := range []inmemory.Op{inmemory.Connect, inmemory.Create} {
		t.Run(string(op), func(t *testing.T) {
			dead := inmemory.New(inmemory.Options{})
			dead.Silence(op)
			w := idleWorld(t, api, inmemory.New(inmemory.Options{Push: true}))
			w.others = map[string]*inmemory.Platform{"dead": dead}
			w.stop = w.start()
			defer dead.Lift() // before the manager waits for its workers
			w.configure()
			c := w.config(v1alpha1.ProviderHarvester)
			c.Name = "dead"
			w.must(w.Create(w.ctx, c))
			for i := range 40 {
				w.request(fmt.Sprintf("d-%d", i), func(r *v1alpha1.MachineRequest) { r.Spec.ProviderRef.Name = "dead" })
			}
			for i := range 3 {
				began := time.Now()
				w.phase(w.request(fmt.Sprintf("h-%d", i)), v1alpha1.MachineRunning)
				// A worker that waits for the other platform does so for seconds.
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("a request of the healthy platform took %s", took)
				}
			}
		})
	}
}

// TestCallsThatWaitDoNotTakeTurns holds the Create of many machines: all of them
// have to arrive.
func TestCallsThatWaitDoNotTakeTurns(t *testing.T) {
	w := newWorld(t, inmemory.Options{})
	w.configure()
	w.platform.Silence(inmemory.Create)
	defer w.platform.Lift()
	const machines = 100
	for i := range machines {
		w.request(fmt.Sprintf("m-%d", i))
	}
	w.must(await(func() error {
		if n := w.platform.Waiting(); n != machines {
			return fmt.Errorf("%d calls are under way, want %d", n, machines)
		}
		return nil
	}))
}
