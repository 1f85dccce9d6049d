// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// SeedVariable is the environment variable that repeats a random test.
const SeedVariable = "BUTLER_TEST_SEED"

// Sampled returns how many of all a test tries: some, or each with BUTLER_TEST_FAULTS=all,
// which make test-faults sets.
func Sampled[T any](all []T, some int) []T {
	if os.Getenv("BUTLER_TEST_FAULTS") == "all" {
		return all
	}
	return all[:some]
}

// Seed returns the seed of the environment or a new one, and prints it.
func Seed(tb testing.TB) uint64 {
	tb.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(SeedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			tb.Fatalf("%s: %v", SeedVariable, err)
		}
	}
	tb.Logf("repeat with %s=%d", SeedVariable, seed)
	return seed
}

// Report fails the test for every violation, and if fewer lives were led or
// fewer points passed than the test is about.
func (l *Lab) Report(tb testing.TB, lives, points int) {
	tb.Helper()
	tb.Logf("%d lives, %d points", l.Lives, l.Points)
	if l.Lives < lives || l.Points < points {
		tb.Errorf("%d lives with %d points; at least %d and %d are meant", l.Lives, l.Points, lives, points)
	}
	for i, sentence := range l.Violations {
		if i == 10 {
			tb.Fatalf("and %d more", len(l.Violations)-i)
		}
		tb.Error(sentence)
	}
}
