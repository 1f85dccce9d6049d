// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"errors"
	"hash/fnv"
	"os"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/crashtest"
)

// everything reports whether all points are tried, which make test-faults asks for.
func everything() bool { return os.Getenv("BUTLER_TEST_FAULTS") == "all" }

// TestDeathAtAnyWriteLeavesOneTenantAndThenNone kills the controller before and after each kind
// of write of a creation, an upgrade and a deletion; without BUTLER_TEST_FAULTS=all at some.
func TestDeathAtAnyWriteLeavesOneTenantAndThenNone(t *testing.T) {
	tenants, least := 1, 6
	if everything() {
		tenants, least = 2, 60
	}
	l := newLab(t, tenants)
	l.gate.kills = func(point string) bool { return everything() || isChosen(point) }
	l.lead()
	l.report()
	if n := len(l.gate.deaths); n < least {
		t.Errorf("%d deaths, at least %d are meant", n, least)
	}
}

// isChosen chooses one of nine points.
func isChosen(point string) bool {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(point))
	return sum.Sum32()%9 == 0
}

// TestAnAPIServerInTroubleDelaysTenantsAndNoMore answers many requests with errors, late, or
// not at all; without BUTLER_TEST_FAULTS=all fewer of them, of one tenant.
func TestAnAPIServerInTroubleDelaysTenantsAndNoMore(t *testing.T) {
	tenants, oneOf, least := 1, 12, 2
	if everything() {
		tenants, oneOf, least = 3, 6, 4
	}
	l := newLab(t, tenants)
	l.gate.overload = newOverload(crashtest.Seed(t), oneOf)
	l.lead()
	l.report()
	t.Log(l.gate.overload.errors)
	if len(l.gate.overload.errors) < least {
		t.Errorf("too few kinds of errors happened: %v", l.gate.overload.errors)
	}
}

// The lab must be able to find what it looks for: here a client takes the id of a cluster away.
func TestTheLabFindsASecondID(t *testing.T) {
	l := newLab(t, 1)
	defer l.live()()
	tc := l.named(l.names[0])
	l.Must(l.Create(t.Context(), tc))
	l.until(tc, func(tc *v1alpha1.TenantCluster) bool { return tc.Status.TenantNamespace != "" })
	l.Await(func() error {
		if l.idOf(tc.Name) == "" {
			return errors.New("the id was not seen")
		}
		return nil
	})
	l.change(tc, func(tc *v1alpha1.TenantCluster) { delete(tc.Annotations, v1alpha1.AnnotationClusterID) })
	l.Await(func() error {
		if !l.wrong() {
			return errors.New("nothing was found")
		}
		return nil
	})
	l.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Annotations[v1alpha1.AnnotationClusterID] = l.idOf(tc.Name) })
	l.Must(l.Delete(t.Context(), tc))
	l.Gone(tc)
}
