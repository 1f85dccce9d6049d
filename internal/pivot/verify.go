// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// errChanged means that From has changed since it was copied. It is copied again, unless
// that happens each time.
var errChanged = errors.New("another process writes to the plane that is being moved; find and stop it, then run the command again")

// errDifferent means that To differs from From, or that the platform has changed.
var errDifferent = errors.New("the planes or the platform differ from the expected state")

// verify reads and compares both planes again, and compares the platform with its state
// after the old controllers had ended. It stores the report before anything depends on
// it.
func (r *run) verify(ctx context.Context) error {
	from, err := r.read(ctx)
	if err != nil {
		return err
	}
	if !maps.Equal(from.versions(), r.copied.versions()) {
		return errChanged
	}
	to, err := r.there(ctx, from)
	if err != nil {
		return err
	}
	left, err := r.left(ctx, from)
	if err != nil {
		return err
	}
	after, err := r.inventory(ctx)
	if err != nil {
		return err
	}
	report := r.report(from, to, left)
	report.Platform, report.Changes = len(after), changes(r.before, after)
	r.journal.Report = report
	if len(report.Differences)+len(report.Changes) > 0 {
		return finalf("%w: %s", errDifferent, some(slices.Concat(report.Differences, report.Changes)))
	}
	r.progress(report.String())
	return nil
}

// some are the first few of many.
func some(lines []string) string {
	const few = 5
	if len(lines) > few {
		return fmt.Sprintf("%s; and %d more", strings.Join(lines[:few], "; "), len(lines)-few)
	}
	return strings.Join(lines, "; ")
}

func (r *run) report(from, to, left set) *Report {
	out := &Report{
		Epoch: r.journal.Epoch, From: r.from.Name, To: r.to.Name, Objects: map[string]int{},
		Differences: []string{}, Changes: []string{},
	}
	t := r.transfer
	t.uids = uidsOf(from, to)
	for _, key := range from.refs() {
		o, live := from[key], to[key]
		out.Objects[key.Kind]++
		out.ProviderIDs += present(live, "providerID", "resourceID")
		out.Addresses += present(live, "ipAddress", "endpoint")
		if live == nil {
			out.Differences = append(out.Differences, fmt.Sprintf("%s is missing on %s", key, r.to.Name))
		} else if fields := t.unequal(o, live); len(fields) > 0 {
			out.Differences = append(out.Differences, fmt.Sprintf("%s differs in %s", key, strings.Join(fields, ", ")))
		}
	}
	for _, key := range left.refs() {
		out.Differences = append(out.Differences, fmt.Sprintf("%s is on %s only", key, r.to.Name))
	}
	return out
}

// present counts the one of some fields of a status that has a value.
func present(o *unstructured.Unstructured, fields ...string) int {
	if o == nil {
		return 0
	}
	for _, f := range fields {
		if text, _, _ := unstructured.NestedString(o.Object, "status", f); text != "" {
			return 1
		}
	}
	return 0
}

// changes are what the platform holds otherwise than before, one line each.
func changes(before, after []Item) []string {
	old, out := byName(before), []string{}
	now := byName(after)
	for _, key := range slices.Sorted(maps.Keys(now)) {
		switch was, ok := old[key]; {
		case !ok:
			out = append(out, key+" is new on the platform")
		case was != now[key]:
			out = append(out, key+" has changed on the platform")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if _, ok := now[key]; !ok {
			out = append(out, key+" is gone from the platform")
		}
	}
	return out
}

// byName returns items by kind, name and ID, for comparison.
func byName(items []Item) map[string]string {
	out := map[string]string{}
	for _, i := range items {
		addresses := slices.Sorted(slices.Values(i.Addresses))
		out[strings.TrimSpace(i.Kind+" "+i.Name+" "+i.ID)] = strings.Join(addresses, " ")
	}
	return out
}
