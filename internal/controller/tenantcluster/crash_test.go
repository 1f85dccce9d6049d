// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"hash/fnv"
	"os"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/controller/crashtest"
)

// everything reports whether all points are tried, which make test-faults asks for.
func everything() bool { return os.Getenv("BUTLER_TEST_FAULTS") == "all" }

// TestDeathAtAnyWriteLeavesOneTenantAndThenNone kills the controller before and after each kind
// of write of a creation, an upgrade and a deletion; without BUTLER_TEST_FAULTS=all at some.
func TestDeathAtAnyWriteLeavesOneTenantAndThenNone(t *testing.T) {
	l, least := newLab(t, 1), 6
	l.gate.kills = func(point string) bool { return everything() || chosen(point) }
	if everything() {
		l, least = newLab(t, 2), 60
		l.gate.kills = func(string) bool { return true }
	}
	l.lead()
	l.report()
	if n := len(l.gate.deaths); n < least {
		t.Errorf("%d deaths, at least %d are meant", n, least)
	}
}

// chosen chooses one of nine points.
func chosen(point string) bool {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(point))
	return sum.Sum32()%9 == 0
}

// TestAnAPIServerInTroubleDelaysTenantsAndNoMore answers many requests with errors, late, or
// not at all.
func TestAnAPIServerInTroubleDelaysTenantsAndNoMore(t *testing.T) {
	if !everything() {
		t.Skip("make test-faults runs it")
	}
	l := newLab(t, 3)
	l.gate.overload = newOverload(crashtest.Seed(t), 6)
	l.lead()
	l.report()
	t.Log(l.gate.overload.errors)
	if len(l.gate.overload.errors) < 4 {
		t.Errorf("not all errors happened: %v", l.gate.overload.errors)
	}
}

// The lab must be able to find what it looks for.
func TestTheLabFindsASecondTenantWhereTheClaimIsLost(t *testing.T) {
	if !everything() {
		t.Skip("make test-faults runs it")
	}
	l := newLab(t, 1)
	l.gate.forget = true
	l.gate.kills = func(point string) bool { return strings.Contains(point, "after PATCH v1/namespaces") }
	l.lead()
	if !l.wrong() {
		t.Error("nothing was found")
	}
}
