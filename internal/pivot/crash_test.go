// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

var errKilled = errors.New("killed")

func TestEveryStageCanBeTheLastOfAProcess(t *testing.T) {
	for _, stage := range []Stage{Prepare, Copy, Verify, Switch, Retire, Done} {
		t.Run("out/"+string(stage), func(t *testing.T) {
			w := newFixture(t)
			before := essence(w.everything(local))
			w.crash(w.move(), stage)
			if got, want := w.inCharge(), holder(stage, "local", "cluster"); got != want {
				t.Errorf("in charge after the crash: %s, not %s", got, want)
			}
			if got, want := w.standing(local).Forward(), stage == Switch || stage == Retire; got != want {
				t.Errorf("forward is the way: %v", got)
			}
			w.run(w.move())
			w.expectMoved(before)
		})
		t.Run("back/"+string(stage), func(t *testing.T) {
			w := newFixture(t)
			w.run(w.move())
			before := essence(w.everything(cluster))
			w.crash(w.back(), stage)
			if got, want := w.inCharge(), holder(stage, "cluster", "local"); got != want {
				t.Errorf("in charge after the crash: %s, not %s", got, want)
			}
			if w.standing(local).Forward() {
				t.Error("the local plane takes itself for the one that was left")
			}
			w.run(w.back())
			if diff := cmp.Diff(before, essence(w.everything(local))); diff != "" {
				t.Error(diff)
			}
			if got := w.inCharge(); got != "local" {
				t.Errorf("in charge: %s", got)
			}
		})
	}
}

// holder is who is in charge when a move has ended after a stage.
func holder(s Stage, from, to string) string {
	switch s {
	case Switch:
		return "none"
	case Retire, Done:
		return to
	default:
		return from
	}
}

func (w *fixture) crash(m *Move, at Stage) {
	w.Helper()
	m.At = func(s Stage) error {
		if s == at {
			return errKilled
		}
		return nil
	}
	if stopped := w.stops(m); stopped.RolledBack || !errors.Is(stopped, errKilled) {
		w.Fatalf("not ended by a crash: %+v", stopped)
	}
	if slices.Contains(w.calls, "resume") {
		w.Error("controllers were set to work after a crash")
	}
}

// What an earlier try has left is made equal to what From has by now, even where
// that is another object.
func TestNextTryMakesEqualWhatTheLastOneLeft(t *testing.T) {
	w := newFixture(t)
	w.crash(w.move(), Verify)
	for i := range 2 {
		old := w.everything(local)[machineRef(i)]
		old.SetFinalizers(nil)
		w.must(local.Update(w.ctx, old))
		w.delete(local, machineRef(i))
	}
	successor := w.machine(1)
	successor.Spec.CPU = 8
	w.must(local.Create(w.ctx, successor, minter))
	keys := w.secret(system, "mgmt-talos-secrets", true)
	w.delete(local, ref{secretKind, system, keys.Name})
	keys.Data["key"] = []byte("another")
	w.must(local.Create(w.ctx, keys))
	w.delete(local, ref{secretKind, system, "mgmt-talosconfig"})
	before := essence(w.everything(local))
	w.run(w.move())
	w.expectMoved(before)
}

// A ClusterBootstrap on To that may not be changed into the one of From is
// recreated.
func TestBootstrapThatMayNotChangeIsReplaced(t *testing.T) {
	w := newFixture(t)
	w.crash(w.move(), Verify)
	old := w.everything(local)[bootstrapRef]
	old.SetFinalizers(nil)
	w.must(local.Update(w.ctx, old))
	w.delete(local, bootstrapRef)
	successor := w.apply(local, clusterBootstrap)
	w.must(unstructured.SetNestedField(successor.Object, "v1.9.3", "spec", "talos", "version"))
	successor.SetAnnotations(old.GetAnnotations())
	w.must(local.Update(w.ctx, successor))
	before := essence(w.everything(local))
	w.run(w.move())
	w.expectMoved(before)
}

// flaky is a client whose writes can go wrong.
type flaky struct {
	mutex  sync.Mutex
	writes int
	// disturb says of each write, by its number, what it is answered with, and
	// whether it takes place all the same.
	disturb func(n int) (answer error, done bool)
}

var errLost = errors.New("connection reset by peer")

func (f *flaky) write(do func() error) error {
	f.mutex.Lock()
	f.writes++
	answer, done := f.disturb(f.writes)
	f.mutex.Unlock()
	if answer == nil {
		return do()
	}
	if done {
		if err := do(); err != nil {
			return err
		}
	}
	return answer
}

func (f *flaky) client(c client.WithWatch) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return f.write(func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return f.write(func() error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return f.write(func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return f.write(func() error { return c.Delete(ctx, o, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return f.write(func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
	})
}

// One answer in three is lost; which ones, changes from run to run, so that each is.
func TestAnswersThatAreLostChangeNothing(t *testing.T) {
	for side, from := range map[string]bool{"from": true, "to": false} {
		for offset := range 3 {
			t.Run(fmt.Sprint(side, offset), func(t *testing.T) {
				w := newFixture(t)
				before, lost := essence(w.everything(local)), 0
				f := &flaky{disturb: func(n int) (error, bool) {
					if n%3 == offset {
						lost++
						return errLost, true
					}
					return nil, false
				}}
				m := w.flawed(f, from)
				m.AnswerWithin = time.Minute
				w.run(m)
				w.expectMoved(before)
				if lost < 4 {
					t.Errorf("%d answers were lost only", lost)
				}
			})
		}
	}
}

// flawed is a move in which the client of one plane is a flaky one.
func (w *fixture) flawed(f *flaky, from bool) *Move {
	m := w.move()
	if from {
		m.From.(*side).plane.Client = f.client(local)
	} else {
		m.To.(*side).plane.Client = f.client(cluster)
	}
	return m
}

// A plane that takes no writes from some moment on stops the move. Before the
// switch it is taken back; in either case the next run ends it. There is a run for
// every stride-th write, until a move has fewer.
func TestPlaneThatDiesStopsTheMove(t *testing.T) {
	for side, from := range map[string]bool{"from": true, "to": false} {
		for n, reached := 1, true; reached; n += stride {
			t.Run(fmt.Sprint(side, n), func(t *testing.T) {
				w := newFixture(t)
				before := essence(w.everything(local))
				ctx, cancel := context.WithCancel(w.ctx)
				defer cancel()
				f := &flaky{disturb: func(i int) (error, bool) {
					if i < n {
						return nil, false
					}
					if s, err := Read(w.ctx, local, w.key); err == nil && s.Fenced != "" {
						cancel() // from there on a move continues to try
					}
					return errLost, false
				}}
				m := w.flawed(f, from)
				m.AnswerWithin = 50 * time.Millisecond
				_, err := m.Run(ctx)
				if reached = f.writes >= n; reached {
					w.expectStopped(err, before)
				} else if n < 10 {
					t.Errorf("a move writes %d times only", f.writes)
				}
				w.run(w.move())
				w.expectMoved(before)
			})
		}
	}
}

// expectStopped sees that a move that could not continue has left one plane in charge,
// or none and the way forward.
func (w *fixture) expectStopped(err error, before map[string]any) {
	w.Helper()
	stopped, ok := errors.AsType[*Stopped](err)
	switch {
	case !ok:
		w.Errorf("the move did not stop: %v", err)
	case stopped.RolledBack:
		w.expectBack(before)
		if !slices.Contains(w.calls, "resume") {
			w.Error("the controllers were not set to work again")
		}
	case stopped.Stage == Switch && w.inCharge() == "local":
		w.expectBack(before) // the fence was not taken, which no plane could know
	case w.standing(local).Fenced == "" || w.inCharge() == "both":
		w.Errorf("in charge: %s, after %v", w.inCharge(), err)
	}
}

func TestRollBackLeavesNothing(t *testing.T) {
	w := newFixture(t)
	before := essence(w.everything(local))
	m := w.move()
	m.At = func(s Stage) error {
		if s == Verify {
			w.platform = append(w.platform, Item{Kind: "machine", Name: "surprise", ID: "vm-9"})
		}
		return nil
	}
	stopped := w.stops(m)
	if !stopped.RolledBack || stopped.Stage != Verify {
		t.Errorf("stopped: %+v", stopped)
	}
	w.expectBack(before)
	w.expectHandedOver()
	if diff := cmp.Diff([]string{"quiesce", "resume"}, w.calls); diff != "" {
		t.Error(diff)
	}
	for _, c := range []client.Client{local, cluster} {
		if s := w.standing(c); s.Stage != RolledBack {
			t.Errorf("journal: %+v", s)
		}
	}
	w.run(w.move())
	w.expectMoved(before)
}

// What lay on the destination before a move stays there when it is taken back, and
// the fence says who is in charge.
func TestRollBackOfAMoveBackKeepsThePlaneThatWas(t *testing.T) {
	w := newFixture(t)
	w.run(w.move())
	before := essence(w.everything(cluster))
	m := w.back()
	m.At = func(s Stage) error {
		if s == Verify {
			w.platform = nil
		}
		return nil
	}
	if stopped := w.stops(m); !stopped.RolledBack {
		t.Errorf("stopped: %+v", stopped)
	}
	if got := w.inCharge(); got != "cluster" {
		t.Errorf("in charge: %s", got)
	}
	if diff := cmp.Diff(before, essence(w.everything(cluster))); diff != "" {
		t.Error(diff)
	}
	here := w.everything(local)
	for _, key := range []ref{bootstrapRef, {secretKind, system, "mgmt-kubeconfig"}, {secretKind, "elsewhere", "harvester"}} {
		if here[key] == nil {
			t.Errorf("%s is gone from the local plane", key)
		}
	}
	if s := w.standing(local); s.Fenced != "cluster mgmt is in charge; a move here for epoch 2 was rolled back" || s.Forward() {
		t.Errorf("local plane: %+v", s)
	}
}

func TestInterruptIsTakenBack(t *testing.T) {
	w := newFixture(t)
	before := essence(w.everything(local))
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	m := w.move()
	m.At = func(s Stage) error {
		if s == Verify {
			cancel()
		}
		return nil
	}
	_, err := m.Run(ctx)
	if stopped, ok := errors.AsType[*Stopped](err); !ok || !stopped.RolledBack || !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	w.expectBack(before)
	w.expectHandedOver()
	if diff := cmp.Diff([]string{"quiesce"}, w.calls); diff != "" {
		t.Errorf("controllers of a process that ends: %s", diff)
	}
}

// A cluster's own controllers do not end with the process that interrupts a move.
func TestInterruptLeavesAClusterWithItsControllers(t *testing.T) {
	w := newFixture(t)
	w.run(w.move())
	w.calls = nil
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	m := w.back()
	m.At = func(s Stage) error {
		if s == Copy {
			cancel()
		}
		return nil
	}
	if _, err := m.Run(ctx); err == nil {
		t.Error("the move was done")
	}
	if diff := cmp.Diff([]string{"quiesce", "resume"}, w.calls); diff != "" {
		t.Error(diff)
	}
}

// A journal names what a try was about to make; another client may have made it.
func TestRollBackLeavesWhatOthersHaveMadeMeanwhile(t *testing.T) {
	w := newFixture(t)
	w.crash(w.move(), Copy)
	refuseForeign := w.machine(0)
	refuseForeign.Annotations[v1alpha1.AnnotationClusterID] = "another"
	w.must(cluster.Create(w.ctx, refuseForeign, minter))
	if stopped := w.stops(w.move()); !stopped.RolledBack {
		t.Errorf("stopped: %+v", stopped)
	}
	if now := w.everything(cluster)[machineRef(0)]; now == nil || now.GetUID() != refuseForeign.UID {
		t.Errorf("the conflicting request became %v", now)
	}
}
