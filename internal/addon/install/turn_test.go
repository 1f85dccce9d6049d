// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
)

// staff are workers that do nothing: network is ready, storage needs it and hosting needs
// storage; gitops needs the network alone.
func staff() *cluster {
	c := newCluster(newInstaller(Options{}, nil), "test")
	for key, needs := range map[string][]string{"network": nil, "storage": {"network"}, "hosting": {"storage"}, "gitops": {"network"}} {
		c.workers[key] = &worker{
			cluster: c, key: key, wake: make(chan struct{}, 1), log: slog.New(slog.DiscardHandler),
			wanted: addon.Addon{Key: key, Needs: needs}, state: State{Phase: v1alpha1.AddonPending},
		}
	}
	c.workers["network"].state.Phase = v1alpha1.AddonReady
	return c
}

func TestWhatOthersNeedIsAppliedFirst(t *testing.T) {
	for phase, want := range map[v1alpha1.AddonPhase][]string{
		v1alpha1.AddonPending: {"storage"}, v1alpha1.AddonInstalling: {"storage"},
		v1alpha1.AddonWaiting: nil, v1alpha1.AddonFailing: nil, v1alpha1.AddonReady: nil,
	} {
		c := staff()
		c.workers["storage"].state.Phase = phase
		if diff := cmp.Diff(want, c.before(c.workers["gitops"])); diff != "" {
			t.Errorf("while storage is %s: %s", phase, diff)
		}
		if first := c.before(c.workers["storage"]); first != nil {
			t.Errorf("storage, which is needed, lets %v go first", first)
		}
	}
}

func TestAnAddonIsNotHeldUpForLong(t *testing.T) {
	for reason, c := range map[string]struct {
		phase v1alpha1.AddonPhase
		want  time.Duration
	}{
		"the other one is applied":    {v1alpha1.AddonWaiting, time.Second},
		"the other one takes forever": {v1alpha1.AddonInstalling, courtesy},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all, began := staff(), time.Now()
				go func() {
					time.Sleep(time.Second)
					all.mu.Lock()
					defer all.mu.Unlock()
					all.workers["storage"].state.Phase = c.phase
					all.nextTurn()
				}()
				w := all.workers["gitops"]
				if !w.awaitTurn(context.Background(), task{generation: w.generation}) {
					t.Error("it is not applied")
				}
				if took := time.Since(began); took != c.want {
					t.Errorf("it waited for %s, want %s", took, c.want)
				}
				synctest.Wait()
			})
		})
	}
}
