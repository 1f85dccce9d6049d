// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// backTo is the move from the cluster to the plane of one of two operators, each of
// whom has a copy of what the plane that was left has.
func (w *fixture) backTo(c client.Client) *Move {
	m := w.back()
	m.To.(*side).plane.Client = c
	return m
}

// inChargeOf are those of the planes that are in charge.
func (w *fixture) inChargeOf() (out []string) {
	w.Helper()
	for name, c := range map[string]client.Client{"local": local, "cluster": cluster, "other": other} {
		if w.standing(c).InCharge() {
			out = append(out, name)
		}
	}
	return out
}

// expectOneOf sees that exactly one plane is in charge after two moves: the one that a
// move has chosen, or else the one that both started from.
func (w *fixture) expectOneOf(from string, ended map[string]error) {
	w.Helper()
	want := from
	for name, err := range ended {
		if err == nil {
			want = name
		}
	}
	if got := w.inChargeOf(); len(got) != 1 || got[0] != want {
		w.Errorf("in charge: %v, not %s, after %v", got, want, ended)
	}
}

// Each of two operators may get to any stage before the other continues.
func TestTwoMovesAtAnyStageResultInOnePlane(t *testing.T) {
	for i, first := range []Stage{Prepare, Copy, Verify} {
		for j, second := range []Stage{Prepare, Copy, Verify, Switch} {
			if (i+j)%stride != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", first, second), func(t *testing.T) {
				w := newFixture(t)
				w.run(w.move())
				ours, theirs := w.backTo(local), w.backTo(other)
				var group sync.WaitGroup
				var failed error
				reached, ended := make(chan struct{}), make(chan struct{})
				theirs.From.(*side).quiesce, theirs.From.(*side).resume = nothing, nothing
				theirs.At = func(s Stage) error {
					if s == second {
						close(reached)
						<-ended
					}
					return nil
				}
				ours.At = func(s Stage) error {
					if s != first {
						return nil
					}
					group.Go(func() {
						_, failed = theirs.Run(w.ctx)
					})
					awaitEither(&group, reached)
					return nil
				}
				_, err := ours.Run(w.ctx)
				close(ended)
				group.Wait()
				w.expectOneOf("cluster", map[string]error{"local": err, "other": failed})
			})
		}
	}
}

func nothing(context.Context) error { return nil }

// awaitEither returns when a stage is reached, or the move has ended before it.
func awaitEither(group *sync.WaitGroup, reached <-chan struct{}) {
	over := make(chan struct{})
	go func() {
		group.Wait()
		close(over)
	}()
	select {
	case <-reached:
	case <-over:
	}
}

// Another operator's move may take place as a whole before anything that is asked of
// the journal or the ClusterBootstrap that both move from, and before any write there.
// There is a run for every stride-th, until a move has fewer.
func TestMoveThatTakesPlaceDuringAnotherResultsInOnePlane(t *testing.T) {
	for n, reached := 1, true; reached; n += stride {
		reached = false
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := newFixture(t)
			w.run(w.move())
			ours, theirs := w.backTo(local), w.backTo(other)
			var calls atomic.Int32
			var failed error
			ours.From.(*side).plane.Client = before(cluster, func() {
				if calls.Add(1) == int32(n) {
					_, failed = theirs.Run(w.ctx)
				}
			})
			_, err := ours.Run(w.ctx)
			if reached = calls.Load() >= int32(n); !reached {
				if n < 12 || err != nil {
					t.Errorf("a move calls %d times only: %v", calls.Load(), err)
				}
				failed = errors.New("not begun")
			}
			w.expectOneOf("cluster", map[string]error{"local": err, "other": failed})
			if err == nil && failed == nil {
				t.Error("both moves have reached their plane")
			}
			if stopped, ok := errors.AsType[*Stopped](err); ok && !errors.Is(err, errOtherMove) && stopped.RolledBack {
				t.Errorf("stopped: %v", err)
			}
		})
	}
}

// before is a client that does something before such a call.
func before(c client.WithWatch, do func()) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if kind := o.GetObjectKind().GroupVersionKind().Kind; kind == bootstrapKind || kind == "ConfigMap" {
				do()
			}
			return c.Get(ctx, key, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			do()
			return c.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			do()
			return c.Patch(ctx, o, p, opts...)
		},
	})
}
