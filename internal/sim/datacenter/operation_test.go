// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// inserts are operations that take a minute, and fail for the target "none".
func inserts(t *testing.T, dir string) *datacenter.Operations {
	t.Helper()
	all, err := datacenter.OpenOperations(datacenter.OperationOptions{Dir: dir, Kinds: map[string]datacenter.OperationKind{
		"insert": {Takes: time.Minute, Do: func(_ context.Context, o datacenter.Operation) error {
			switch o.Target {
			case "none":
				return &datacenter.OperationError{Code: "ZONE_RESOURCE_POOL_EXHAUSTED", Message: "no room in " + string(o.Input)}
			case "odd":
				return errors.New("disk failure")
			}
			return nil
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.Close)
	return all
}

func begin(t *testing.T, all *datacenter.Operations, request, target string) datacenter.Operation {
	t.Helper()
	o, err := all.Begin(datacenter.Operation{Kind: "insert", RequestID: request, Target: target, Input: json.RawMessage(`"zone-a"`)})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOperationIsPendingUntilItsTimeHasPassed(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		all := inserts(t, dir)
		o := begin(t, all, "", "m")
		time.Sleep(59 * time.Second)
		if seen, known := all.Get(o.ID); !known || seen.Done() {
			t.Errorf("after 59 s: %+v", seen)
		}
		time.Sleep(2 * time.Second)
		if seen, _ := all.Get(o.ID); !seen.Done() || seen.Failure != nil {
			t.Errorf("after 61 s: %+v", seen)
		}
		if other := begin(t, all, "", "m"); other.ID == o.ID || len(all.List()) != 2 {
			t.Error("calls without a request ID are one operation")
		}
	})
}

func TestRequestIDReturnsTheSameOperationWithItsFailure(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		all := inserts(t, dir)
		first := begin(t, all, "r-1", "none")
		if again := begin(t, all, "r-1", "none"); again.ID != first.ID || again.Done() {
			t.Errorf("at once: %+v", again)
		}
		time.Sleep(2 * time.Minute)
		again := begin(t, all, "r-1", "none")
		if again.ID != first.ID || again.Failure == nil || again.Failure.Error() != `ZONE_RESOURCE_POOL_EXHAUSTED: no room in "zone-a"` {
			t.Errorf("after its failure: %+v", again)
		}
		if _, err := all.Begin(datacenter.Operation{Kind: "insert", RequestID: "r-1", Target: "other"}); !errors.Is(err, datacenter.ErrInUse) {
			t.Errorf("with another target: %v", err)
		}
		if _, err := all.Begin(datacenter.Operation{Kind: "upsert"}); !errors.Is(err, datacenter.ErrNotFound) {
			t.Errorf("of an unknown kind: %v", err)
		}
	})
}

func TestOperationsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		before := inserts(t, dir)
		failed := begin(t, before, "r-1", "odd")
		time.Sleep(90 * time.Second)
		pending := begin(t, before, "r-2", "m")
		time.Sleep(30 * time.Second)
		before.Close()

		after := inserts(t, dir)
		if seen, _ := after.Get(failed.ID); seen.Failure == nil || seen.Failure.Code != "INTERNAL_ERROR" {
			t.Errorf("the failed one: %+v", seen)
		}
		if again := begin(t, after, "r-2", "m"); again.ID != pending.ID || again.Done() {
			t.Errorf("the pending one: %+v", again)
		}
		time.Sleep(31 * time.Second) // of the minute, half had passed
		if seen, _ := after.Get(pending.ID); !seen.Done() || seen.Failure != nil {
			t.Errorf("the pending one later: %+v", seen)
		}
	})
}
