// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestCallsThatWaitShareTheNextRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked [][]string
		b := NewBatch(3, func(_ context.Context, keys []string) (int, error) {
			time.Sleep(time.Second)
			asked = append(asked, slices.Clone(keys))
			return len(asked), nil
		})
		var wait sync.WaitGroup
		call := func(key string, want int) {
			wait.Go(func() {
				if got, err := b.Do(t.Context(), key); err != nil || got != want {
					t.Errorf("%s is answered by request %d, want %d: %v", key, got, want, err)
				}
			})
			synctest.Wait()
		}
		call("a", 1)
		for _, k := range []string{"b", "c", "d"} {
			call(k, 2)
		}
		call("e", 3)
		wait.Wait()
		if len(asked) != 3 || len(asked[1]) != 3 {
			t.Errorf("the requests were %v", asked)
		}
	})
}

func TestRequestsBeginApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		b := NewBatch(9, func(context.Context, []string) (int, error) { asked++; return asked, nil }).Apart(time.Minute)
		start := time.Now()
		if _, err := b.Do(t.Context(), "a"); err != nil || time.Since(start) > 0 {
			t.Errorf("the first call waits for %v: %v", time.Since(start), err)
		}
		var wait sync.WaitGroup
		for range 5 {
			wait.Go(func() {
				if got, err := b.Do(t.Context(), "b"); err != nil || got != 2 || time.Since(start) != time.Minute {
					t.Errorf("a later call is answered by request %d after %v: %v", got, time.Since(start), err)
				}
			})
			synctest.Wait()
			time.Sleep(time.Second)
		}
		wait.Wait()
	})
}

func TestARequestThatTakesLongIsFollowedByARest(t *testing.T) {
	for name, c := range map[string]struct{ takes, next time.Duration }{
		"short":   {10 * time.Millisecond, 50 * time.Millisecond}, // Apart is longer
		"long":    {100 * time.Millisecond, 400 * time.Millisecond},
		"longest": {time.Second, time.Second + mostRest},
	} {
		synctest.Test(t, func(t *testing.T) {
			var began []time.Duration
			start := time.Now()
			b := NewBatch(9, func(context.Context, []string) (int, error) {
				began = append(began, time.Since(start))
				time.Sleep(c.takes)
				return 0, nil
			}).Apart(50 * time.Millisecond).Resting(3)
			for range 2 {
				if _, err := b.Do(t.Context(), "a"); err != nil {
					t.Error(err)
				}
			}
			if began[1] != c.next {
				t.Errorf("%s: the second request begins after %v, want %v", name, began[1], c.next)
			}
		})
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBatch(3, func(ctx context.Context, _ []string) (int, error) {
			<-ctx.Done() // no answer before the request is given up
			return 0, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := b.Do(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if _, err := b.Do(ctx, "a"); err == nil {
			t.Error("a call that has ended is sent")
		}
		time.Sleep(batchTimeout)
	})
}

func TestWhatWasReadIsKeptBriefly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRecent[int](time.Minute)
		reads := 0
		get := func(key string, err error) (int, error) {
			return r.Get(t.Context(), key, func(context.Context) (int, error) { reads++; return reads, err })
		}
		if _, err := get("a", errors.New("x")); err == nil {
			t.Error("a failure is not returned")
		}
		first, _ := get("a", nil)
		again, _ := get("a", nil)
		other, _ := get("b", nil)
		time.Sleep(time.Minute)
		later, _ := get("a", nil)
		if first != 2 || again != 2 || other != 3 || later != 4 {
			t.Errorf("read as %d, %d, %d, %d", first, again, other, later)
		}
	})
}
