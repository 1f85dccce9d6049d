// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// readOperations lists the operations on the instances of the keys, in all zones of the
// region, the oldest first.
func (p *platform) readOperations(ctx context.Context, keys []string) (all []*computepb.Operation, err error) {
	var names []string
	for _, k := range keys {
		_, name, _ := strings.Cut(k, "/")
		names = append(names, regexp.QuoteMeta(name))
	}
	slices.Sort(names)
	return p.zoneOperationsOn(ctx, "instances/("+strings.Join(slices.Compact(names), "|")+")")
}

// zoneOperationsOn lists the operations of all zones of the region on what a pattern
// matches.
func (p *platform) zoneOperationsOn(ctx context.Context, pattern string) (all []*computepb.Operation, err error) {
	ctx, end := p.bind(ctx)
	defer end()
	zones, err := p.allZones(ctx)
	if err != nil {
		return nil, err
	}
	for _, z := range zones {
		if lastOf(z.GetRegion()) != p.spec.Region {
			continue
		}
		request := &computepb.ListZoneOperationsRequest{Project: p.spec.ProjectID, Zone: z.GetName(), Filter: p.onTarget("zones/" + z.GetName() + "/" + pattern)}
		if err := gather(&all, p.zoneOperations.List(ctx, request).All()); err != nil {
			return nil, err
		}
	}
	return oldestFirst(all), nil
}

// onTarget selects the operations on what a pattern of paths in the project matches as a
// whole. The server in links depends on the endpoint.
func (p *platform) onTarget(pattern string) *string {
	return new(fmt.Sprintf(`targetLink eq ".*/projects/%s/%s"`, p.spec.ProjectID, pattern))
}

// gather adds all of a listing.
func gather[T any](all *[]T, list iter.Seq2[T, error]) error {
	for one, err := range list {
		if err != nil {
			return err
		}
		*all = append(*all, one)
	}
	return nil
}

func oldestFirst(all []*computepb.Operation) []*computepb.Operation {
	slices.SortStableFunc(all, func(a, b *computepb.Operation) int { return strings.Compare(a.GetInsertTime(), b.GetInsertTime()) })
	return all
}

// inserts returns the operations that create the instance of a machine, the oldest first.
func (m machines) inserts(ctx context.Context, ref provider.MachineRef) (mine []*computepb.Operation, err error) {
	all, err := m.begun.Do(ctx, key(ref))
	return insertsOf(all, ref), err
}

// insertsOf selects the operations that create the instance of a machine: their request IDs
// are derived from its owner.
func insertsOf(all []*computepb.Operation, ref provider.MachineRef) (mine []*computepb.Operation) {
	for _, o := range all {
		if o.GetOperationType() == opInsert && lastOf(o.GetTargetLink()) == ref.Name && numberOf(o, ref.Owner) >= 0 {
			mine = append(mine, o)
		}
	}
	return mine
}

// undone reports whether the last operation that creates the instance of a machine has
// succeeded, and every instance was deleted since by operations that have ended. After one
// that has failed another may be on its way.
func undone(all []*computepb.Operation, ref provider.MachineRef) bool {
	deleted := map[uint64]bool{}
	for _, o := range all {
		if o.GetOperationType() == opDelete && o.GetStatus() == computepb.Operation_DONE && !ended(o) {
			deleted[o.GetTargetId()] = true
		}
	}
	mine := insertsOf(all, ref)
	return len(mine) > 0 && deleted[mine[len(mine)-1].GetTargetId()] &&
		!slices.ContainsFunc(mine, func(o *computepb.Operation) bool { return !ended(o) && !deleted[o.GetTargetId()] })
}

// numberOf is the number of the attempt that an operation belongs to, -1 if it is none of
// the owner's.
func numberOf(o *computepb.Operation, owner provider.Owner) int {
	id, err := uuid.Parse(o.GetClientOperationId())
	if err != nil {
		return -1
	}
	number := int(binary.BigEndian.Uint32(id[12:]))
	if id.String() != requestID(owner, lastOf(o.GetZone()), number) {
		return -1
	}
	return number
}

// unspent returns the number of the first attempt that no operation has used up.
func (m machines) unspent(ctx context.Context, ref provider.MachineRef) (int, error) {
	mine, err := m.inserts(ctx, ref)
	if err != nil {
		return 0, err
	}
	next := 0
	for _, o := range mine {
		if number := numberOf(o, ref.Owner); ended(o) {
			next = max(next, number+1)
		}
	}
	return next, nil
}

// ended reports whether nothing can come of an operation: it has failed.
func ended(o *computepb.Operation) bool { return failureOf(o) != nil }

func failureOf(o *computepb.Operation) error {
	for _, e := range o.GetError().GetErrors() {
		return fmt.Errorf("%s: %s", e.GetCode(), e.GetMessage())
	}
	if o.GetStatus() == computepb.Operation_DONE && o.GetHttpErrorStatusCode() >= 400 {
		return errors.New(o.GetHttpErrorMessage())
	}
	return nil
}

// operationError maps the failure of an operation to a Kind. It is definite: the same
// request ID gets it again, so that what passes by itself makes another attempt.
func operationError(op string, o *computepb.Operation) error {
	failure := failureOf(o)
	if failure == nil {
		return nil
	}
	var codes []string
	for _, e := range o.GetError().GetErrors() {
		codes = append(codes, e.GetCode())
	}
	m, known := firstMeaning(codes...)
	if !known {
		m = cloud.Refused()
	}
	if m.Kind == provider.Unavailable {
		return spent(op, failure)
	}
	return m.Kind.New(op, m.Reason, failure, m.Hint)
}

// spent is the error of an attempt whose request ID creates nothing more.
func spent(op string, err error) error {
	return provider.Exhausted.New(op, provider.ReasonAttemptSpent, err, "it is retried as another attempt")
}
