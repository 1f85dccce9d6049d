// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package step is the vocabulary of controllers that walk a visible list of steps: what
// blocks a step, what no retry fixes, and when to run the list again.
package step

import (
	"fmt"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/provider/errtext"
)

// Obstacle is what a step waits for. It has no times and no request ids, so
// that it changes only when the obstacle does.
type Obstacle struct {
	Reason  string
	Message string
	// Poll runs the step again soon: no event reports that the obstacle is gone.
	Poll bool
	// Urgent obstacles are not transient: they are reported before those that are.
	Urgent bool
}

// Failure is an error that no retry fixes; a changed spec may.
type Failure struct{ Reason, Message string }

func (f *Failure) Error() string { return f.Message }

// NoAnswer is the stable text of every way in which a peer can be silent.
const NoAnswer = "no answer in time"

// Stable is an error's text without what differs each time: the near end of a
// broken connection, and in which of several ways a peer did not answer.
func Stable(err error) string {
	text := err.Error()
	for _, silence := range []string{"no route to host", "i/o timeout", "connection timed out", "context deadline exceeded", "Client.Timeout exceeded"} {
		if strings.Contains(text, silence) {
			return NoAnswer
		}
	}
	return strings.Join(strings.Fields(errtext.Stable(err).Error()), " ")
}

// Because returns what an error adds to the fact that a peer does not answer:
// nothing, if it only says so.
func Because(err error) string {
	text := Stable(err)
	if strings.Contains(text, NoAnswer) || strings.Contains(text, "connection refused") {
		return ""
	}
	return ": " + text
}

// Joined is the first of several obstacles, with a count of the others. One
// that does not pass by itself comes before those that do.
func Joined(all []*Obstacle) *Obstacle {
	var first *Obstacle
	count := 0
	for _, o := range all {
		if o == nil {
			continue
		}
		count++
		if first == nil || o.Urgent && !first.Urgent {
			first = o
		}
	}
	if count < 2 {
		return first
	}
	counted := *first
	counted.Message += andMore(count - 1)
	return &counted
}

// Listed is the first of several, with a count of the others.
func Listed(all []string) string {
	if len(all) < 2 {
		return all[0]
	}
	return all[0] + andMore(len(all)-1)
}

func andMore(n int) string { return fmt.Sprintf(" (and %d more)", n) }

// PollAfter returns when to query again where no change is reported, after so long without
// one: soon while things move, ever less often while they do not. What took 20 seconds
// is seen within a quarter of one.
func PollAfter(still time.Duration) time.Duration {
	return min(max(still/80, 250*time.Millisecond), 5*time.Second)
}
