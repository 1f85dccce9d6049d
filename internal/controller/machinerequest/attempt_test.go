// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// TestAnAttemptIsRepeatedAsRecordedUntilItIsRefused: a stock-out is a definite refusal, a
// broken connection is none. No settle window passes between attempts that are refused.
func TestAnAttemptIsRepeatedAsRecordedUntilItIsRefused(t *testing.T) {
	w := newFixture(t, inmemory.Options{Plans: true})
	full := provider.Exhausted.New("create", provider.ReasonCapacityExhausted, errors.New("full"), "wait")
	w.platform.Fail(inmemory.Create, provider.Unavailable.New("create", provider.ReasonPlatformUnavailable, errors.New("lost"), "wait"))
	w.platform.Fail(inmemory.Create, full)
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	first, second := "attempt 0 of a", "attempt 1 of a"
	if diff := cmp.Diff([]string{first, first, second}, w.platform.Attempts()); diff != "" {
		t.Errorf("the attempts are\n%s", diff)
	}
	if got := request.Record(r); got != second {
		t.Errorf("the record is %q", got)
	}
}

// What a pass records twice before its only call is one attempt: its answer is known.
func TestAnAttemptThatIsRecordedTwiceHasItsAnswer(t *testing.T) {
	w := newFixture(t, inmemory.Options{Plans: true})
	w.Configure()
	r := w.request("one", func(r *v1alpha1.MachineRequest) {
		r.Annotations = map[string]string{v1alpha1.AnnotationOwnerID: "given"}
	})
	w.phase(r, v1alpha1.MachineRunning)
	if at, marked := r.Annotations[request.AnnotationUnanswered]; marked {
		t.Errorf("the attempt of %s counts as unanswered; annotations %v", at, r.Annotations)
	}
}
