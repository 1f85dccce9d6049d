// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/provider"
)

// trial is one rule at work on one suite.
type trial struct {
	suite    Suite
	ctx      context.Context // of the one call that the trial lives for
	heard    *ear
	machines provider.Machines
	platform provider.Platform

	failures []string
	notes    []string
	cleanups []func()
}

// stop ends a rule whose further steps would make no sense.
type stop struct{}

func newTrial(ctx context.Context, s Suite) *trial {
	t := &trial{suite: s, heard: &ear{}}
	t.ctx = t.heard.context(ctx)
	return t
}

// run checks a rule and then removes what it made.
func (t *trial) run(r rule) {
	defer t.heard.listen()()
	defer t.tidy()
	defer func() {
		if got := recover(); got != nil && got != (stop{}) {
			panic(got)
		}
	}()
	t.platform = t.connect(t.config())
	t.machines = t.platform.Machines
	r.check(t)
}

func (t *trial) tidy() {
	for _, c := range slices.Backward(t.cleanups) {
		c()
	}
}

func (t *trial) errorf(format string, args ...any) {
	t.failures = append(t.failures, fmt.Sprintf(format, args...))
}

func (t *trial) fatalf(format string, args ...any) {
	t.errorf(format, args...)
	panic(stop{})
}

// config is a copy of the suite's that a rule may change.
func (t *trial) config() provider.Config {
	c := t.suite.Config
	c.ProviderConfig = c.DeepCopy()
	return c
}

// connect opens a connection that must work, and closes it in the end.
func (t *trial) connect(c provider.Config) provider.Platform {
	p, err := t.tryConnect(c)
	if err != nil {
		t.fatalf("connect: %v", err)
	}
	return p
}

func (t *trial) tryConnect(c provider.Config) (provider.Platform, error) {
	p, err := t.suite.Provider.Connect(t.ctx, c)
	t.heard.err(err)
	if err != nil {
		return p, err
	}
	if p.Close != nil {
		t.cleanups = append(t.cleanups, p.Close)
	}
	if p.Machines == nil {
		return p, errors.New("the platform has no Machines")
	}
	p.Machines = &overheard{p.Machines, t.heard}
	return p, nil
}

// spec is a machine of its own, which is removed when the rule has been checked.
func (t *trial) spec(change ...func(*provider.MachineSpec)) provider.MachineSpec {
	s := t.suite.Machine
	s.Labels, s.ExtraDisks = maps.Clone(s.Labels), slices.Clone(s.ExtraDisks)
	s.Name, s.Owner = newName(), newOwner()
	for _, f := range change {
		f(&s)
	}
	t.cleanups = append(t.cleanups, func() { t.discard(s.MachineRef) })
	return s
}

func newOwner() provider.Owner {
	return provider.Owner{ID: uuid.NewString(), ClusterID: uuid.NewString(), Cluster: newName()}
}

func newName() string {
	b := make([]byte, 5)
	_, _ = rand.Read(b) // never fails
	return "ct-" + hex.EncodeToString(b)
}
