// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"strings"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/provider"
)

// mostRecord is how long the record of an attempt may be, in bytes.
const mostRecord = 1024

// attemptIsRecorded creates a machine with the record of its attempt. A platform without
// Plan has nothing to keep.
func attemptIsRecorded(t *trial) {
	if t.platform.Plan == nil {
		return
	}
	canary := uuid.NewString()
	s := t.spec()
	if t.suite.exercises("user data") {
		s.UserData = provider.Sensitive("#cloud-config\n# " + canary + "\n")
	}
	s.Attempt = t.plan(s)
	if again := t.plan(s); again != s.Attempt {
		t.errorf("the same machine is planned as %q and as %q", s.Attempt, again)
	}
	if len(s.Attempt) > mostRecord || strings.Contains(s.Attempt, canary) {
		t.errorf("the record has user data in it, or more than %d bytes: %q", mostRecord, s.Attempt)
	}
	t.create(s)
	t.await(s.MachineRef, complete()...)
	t.unreadableRecord()
}

// unreadableRecord demands that a record which Plan did not return creates nothing.
func (t *trial) unreadableRecord() {
	s := t.spec(func(s *provider.MachineSpec) { s.Attempt = "no record" })
	_, err := t.machines.Create(t.ctx, s)
	t.refused("create with a record that is none", err, provider.Invalid)
	t.nothing(s.Name)
}

// recorded has the record of its first attempt, on a platform that plans.
func (t *trial) recorded(s provider.MachineSpec) provider.MachineSpec {
	if t.platform.Plan != nil {
		s.Attempt = t.plan(s)
	}
	return s
}

// plan returns the record of the first attempt, which must succeed.
func (t *trial) plan(s provider.MachineSpec) string {
	record, err := t.platform.Plan(t.ctx, s, provider.Attempt{})
	t.heard.err(err)
	if err != nil || record == "" {
		t.fatalf("plan returns %q: %v", record, err)
	}
	return record
}
