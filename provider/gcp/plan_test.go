// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"errors"
	"strings"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// TestRequestIDs: the same operation has the same one, another owner, zone or attempt
// another.
func TestRequestIDs(t *testing.T) {
	owner := provider.Owner{ID: "a"}
	seen := map[string]bool{}
	for _, id := range []string{
		requestID(owner, "z-a", 0), requestID(owner, "z-a", 1), requestID(owner, "z-b", 0), requestID(provider.Owner{ID: "b"}, "z-a", 0),
	} {
		if _, err := uuid.Parse(id); err != nil || seen[id] {
			t.Errorf("%s: %v, used before %t", id, err, seen[id])
		}
		seen[id] = true
	}
	if requestID(owner, "z-a", 0) != requestID(provider.Owner{ID: "a", Cluster: "renamed"}, "z-a", 0) {
		t.Error("the name of the cluster changes the request ID")
	}
	o := &computepb.Operation{ClientOperationId: new(requestID(owner, "z-a", 3)), Zone: new("https://x/projects/p/zones/z-a")}
	later := &computepb.Operation{ClientOperationId: new(requestID(owner, "z-a", 100_000)), Zone: o.Zone}
	if numberOf(o, owner) != 3 || numberOf(later, owner) != 100_000 || numberOf(o, provider.Owner{ID: "b"}) != -1 {
		t.Errorf("the operation is number %d", numberOf(o, owner))
	}
}

// TestFailedOperationsAreDefinite: the same request ID would get them back for ever.
func TestFailedOperationsAreDefinite(t *testing.T) {
	for code, want := range map[string]string{
		"ZONE_RESOURCE_POOL_EXHAUSTED": provider.ReasonCapacityExhausted, "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS": provider.ReasonCapacityExhausted,
		"QUOTA_EXCEEDED": provider.ReasonQuotaExceeded, "IP_SPACE_EXHAUSTED": provider.ReasonQuotaExceeded, "RESOURCE_ALREADY_EXISTS": provider.ReasonNameTaken,
		"PERMISSIONS_ERROR": provider.ReasonPermissionDenied, "INTERNAL_ERROR": provider.ReasonAttemptSpent, "RESOURCE_NOT_READY": provider.ReasonAttemptSpent,
		"RESOURCE_NOT_FOUND": provider.ReasonNotFound, "INVALID_USAGE": provider.ReasonPlatformRefused,
	} {
		o := &computepb.Operation{Error: &computepb.Error{Errors: []*computepb.Errors{{Code: &code, Message: new("said it")}}}}
		err := operationError("create", o)
		if provider.ReasonOf(err) != want || provider.KindOf(err) == provider.Unavailable || !strings.Contains(err.Error(), "said it") {
			t.Errorf("%s: %v is %s %s", code, err, provider.KindOf(err), provider.ReasonOf(err))
		}
	}
	if err := operationError("create", &computepb.Operation{Status: computepb.Operation_RUNNING.Enum()}); err != nil {
		t.Error(err)
	}
	if e := asked(spent("create", errors.New("x")), attempt{Type: "e2", Zone: "z"}); !strings.Contains(e.Error(), "e2 in z: x") {
		t.Error(e)
	}
}

func TestAMachineIsUndoneByTheDeletionOfAllItsInstances(t *testing.T) {
	ref := provider.MachineRef{Name: "m", Owner: provider.Owner{ID: "a"}}
	operation := func(kind string, status computepb.Operation_Status, target uint64, number int) *computepb.Operation {
		return &computepb.Operation{
			OperationType: &kind, Status: status.Enum(), TargetId: &target, TargetLink: new("x/instances/m"),
			Zone: new("x/zones/z-a"), ClientOperationId: new(requestID(ref.Owner, "z-a", number)),
		}
	}
	done, running := computepb.Operation_DONE, computepb.Operation_RUNNING
	insert, remove := operation(opInsert, done, 1, 0), operation(opDelete, done, 1, 0)
	failed := operation(opInsert, done, 2, 1)
	failed.Error = &computepb.Error{Errors: []*computepb.Errors{{Code: new("ZONE_RESOURCE_POOL_EXHAUSTED")}}}
	for reason, c := range map[string]struct {
		all  []*computepb.Operation
		want bool
	}{
		"no operation is known":        {nil, false},
		"deleted":                      {[]*computepb.Operation{insert, remove}, true},
		"deleted, and one has failed":  {[]*computepb.Operation{failed, insert, remove}, true},
		"the last one has failed":      {[]*computepb.Operation{insert, remove, failed}, false},
		"all have failed":              {[]*computepb.Operation{failed}, false},
		"not deleted":                  {[]*computepb.Operation{insert}, false},
		"being deleted":                {[]*computepb.Operation{insert, operation(opDelete, running, 1, 0)}, false},
		"another instance was deleted": {[]*computepb.Operation{insert, operation(opDelete, done, 9, 0)}, false},
		"another one is being created": {[]*computepb.Operation{insert, remove, operation(opInsert, running, 3, 1)}, false},
	} {
		if got := undone(c.all, ref); got != c.want {
			t.Errorf("%s: undone %t", reason, got)
		}
	}
}

func TestNamesOfMachinesAndParts(t *testing.T) {
	long := strings.Repeat("a", 63)
	for name, want := range map[string]bool{"a": true, "mgmt-cp-0": true, long: true, "": false, "0-cp": false, "Mgmt": false, "mgmt-": false, "a.b": false, long + "a": false} {
		if err := checkName("x", name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	regional := balancers{&platform{spec: v1alpha1.GCPSpec{Region: "europe-west3"}}}
	for _, part := range []string{diskName(long, 12), partName(long), portName(long, 50000), partName("1-cp-lb"), regional.firewallName(long)} {
		if checkName("x", part) != nil {
			t.Errorf("%q is no name", part)
		}
	}
	if portOf(portName(long, 50000)) != 50000 || portName(long, 1) == portName(long[:62]+"b", 1) {
		t.Error("names of ports")
	}
}

func TestTypesThatCannotMigrate(t *testing.T) {
	for name, want := range map[string]string{"e2-standard-4": "MIGRATE", "n2-standard-8": "MIGRATE", "g2-standard-4": "TERMINATE", "a2-highgpu-1g": "TERMINATE", "c3-standard-192-metal": "TERMINATE"} {
		if got := maintenance(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestRangesOfClients(t *testing.T) {
	got, err := ipv4Ranges([]string{"10.1.2.3/8", "192.0.2.0/24", "10.0.0.0/8"})
	if err != nil || strings.Join(got, " ") != "10.0.0.0/8 192.0.2.0/24" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ipv4Ranges([]string{"2001:db8::/32"}); provider.ReasonOf(err) != provider.ReasonFieldUnsupported {
		t.Error(err)
	}
}

// TestZonesOfOthersMayBeUnreachable: nothing of a region is elsewhere.
func TestZonesOfOthersMayBeUnreachable(t *testing.T) {
	p := &platform{spec: v1alpha1.GCPSpec{Region: "europe-west3"}}
	lost := &computepb.Warning{Code: new("UNREACHABLE")}
	for scope, want := range map[string]bool{"zones/europe-west3-a": true, "regions/europe-west3": true, "global": true, "zones/europe-west30-a": false, "zones/asia-east1-a": false} {
		if err := p.unreachable(scope, lost); (err != nil) != want {
			t.Errorf("%s: %v", scope, err)
		}
	}
}

func TestDisksOfOtherInstancesAreHeld(t *testing.T) {
	for holder, users := range map[string][]string{"": {"x/instances/m"}, "rescue": {"x/instances/m", "x/instances/rescue"}} {
		if got := heldBy(&computepb.Disk{Users: users}, "m"); got != holder {
			t.Errorf("%v: held by %q", users, got)
		}
	}
}
