// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"

	"github.com/butlerdotdev/butler/provider"
)

func throttled(t *trial) {
	s := t.spec()
	lift := t.inject(Throttled)
	t.everyCall(s, provider.Unavailable)
	_, first := t.machines.Observe(t.ctx, s.MachineRef)
	_, second := t.machines.Observe(t.ctx, s.MachineRef)
	if first != nil && second != nil && first.Error() != second.Error() {
		t.errorf("the same trouble has two texts: %q and %q", first, second)
	}
	lift()
	t.nothing(s.Name)
	t.create(s)
}

func denied(t *trial) {
	s := t.spec()
	lift := t.inject(Denied)
	for _, err := range t.everyCall(s, provider.Unauthorized) {
		t.hinted("a denied call", err)
	}
	lift()
	t.nothing(s.Name)
	t.create(s)
}

// everyCall makes all calls, each of which must fail with the kind, at once.
func (t *trial) everyCall(s provider.MachineSpec, want provider.Kind) []error {
	calls := t.calls(s)
	var errs []error
	for _, name := range names(calls) {
		err := t.promptly(name, func() error { return calls[name](t.ctx) })
		t.refused(name, err, want)
		errs = append(errs, err)
	}
	return errs
}

func outOfCapacity(t *trial) {
	s := t.spec()
	lift := t.inject(NoCapacity)
	_, err := t.machines.Create(t.ctx, s)
	t.refused("create without capacity", err, provider.Exhausted)
	lift()
	t.create(s)
	t.await(s.MachineRef, complete()...)
	t.only(s.Name)
}

func missingImageOrNetwork(t *trial) {
	for _, what := range []string{"image", "network"} {
		change, ok := t.suite.Missing[what]
		if !ok {
			t.errorf("the suite names no missing %s", what)
			continue
		}
		t.invalid("missing "+what, change)
	}
}

func refusedFields(t *trial) {
	if len(t.suite.Refused) == 0 {
		t.errorf("the suite names no field that the platform refuses")
	}
	for _, field := range names(t.suite.Refused) {
		t.invalid(field, t.suite.Refused[field])
	}
}

// invalid demands that Connect or Create refuses the change, and makes nothing.
func (t *trial) invalid(what string, change Change) {
	c, s := t.config(), t.spec()
	change(&c, &s)
	p, err := t.tryConnect(c)
	if err == nil {
		_, err = p.Machines.Create(t.ctx, s)
	}
	t.refused(what, err, provider.Invalid)
	t.hinted(what, err)
	t.nothing(s.Name)
}

func contextCancelled(t *trial) {
	s := t.spec()
	over, cancel := context.WithCancel(t.ctx)
	cancel()
	calls := t.calls(s)
	for _, name := range names(calls) {
		t.refused(name+" with a context that is over", calls[name](over), provider.Unavailable)
	}
	t.nothing(s.Name)
	lift := t.inject(Silent)
	for _, name := range []string{"create", "delete", "observe"} {
		t.cancelledMidway(name, calls[name])
	}
	lift()
}

// cancelledMidway ends the context of a call that the platform does not answer.
func (t *trial) cancelledMidway(name string, call func(context.Context) error) {
	ctx, cancel := context.WithTimeout(t.ctx, t.suite.Interval)
	defer cancel()
	err := t.promptly(name+" with a context that ends", func() error { return call(ctx) })
	t.refused(name+" with a context that ends", err, provider.Unavailable)
}

func slowList(t *trial) {
	s := t.spec()
	t.create(s)
	t.await(s.MachineRef, complete()...)
	lift := t.inject(SlowList)
	ctx, cancel := context.WithTimeout(t.ctx, t.suite.Interval)
	defer cancel()
	err := t.promptly("list", func() error { _, err := t.machines.List(ctx, s.Owner); return err })
	t.refused("a list that was not answered in time", err, provider.Unavailable)
	lift()
	t.listed(s.Owner, s)
}
