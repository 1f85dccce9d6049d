// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// changesArePushed looks at machines only when the platform pushes something, as the
// reconciler does: what is not pushed is not noticed. A platform that is polled has
// nothing to keep.
func changesArePushed(t *trial) {
	c := t.config()
	g := &gate{dial: c.Transport.Dial}
	c.Transport.DialContext = g.open
	p := t.connect(c)
	if p.Changes == nil {
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	pushed := p.Changes(ctx)
	s := t.spec()
	t.create(s)
	t.noticed(pushed, "that a machine runs", s.MachineRef, func(m provider.Machine) bool { return m.State == provider.StateRunning })
	t.noticesDeletion(pushed, s.MachineRef)
	t.noticesGap(pushed, g)
	cancel()
	t.ends(pushed)
}

// noticesDeletion deletes a machine and demands that its end is pushed.
func (t *trial) noticesDeletion(pushed <-chan provider.MachineRef, ref provider.MachineRef) {
	if err := t.remove(ref); err != nil {
		t.fatalf("delete: %v", err)
	}
	t.noticed(pushed, "that a machine is gone", ref, gone)
}

// noticesGap deletes a machine while the connection is cut.
func (t *trial) noticesGap(pushed <-chan provider.MachineRef, g *gate) {
	s := t.spec()
	t.create(s)
	t.noticed(pushed, "that a second machine runs", s.MachineRef, func(m provider.Machine) bool { return m.State == provider.StateRunning })
	g.shut()
	if err := t.deleteUntilAbsent(s.MachineRef); err != nil {
		t.fatalf("delete: %v", err)
	}
	g.reopen()
	t.noticed(pushed, "what happened while the connection was cut", s.MachineRef, gone)
}

// gone reports whether the machine proper does not exist; its disks may.
func gone(m provider.Machine) bool { return m.ID == "" }

// noticed observes the machine whenever it, or no machine in particular, is pushed,
// until it is as wanted.
func (t *trial) noticed(pushed <-chan provider.MachineRef, what string, ref provider.MachineRef, wanted func(provider.Machine) bool) {
	over := time.NewTimer(t.suite.Patience)
	defer over.Stop()
	for {
		select {
		case got, open := <-pushed:
			if !open {
				t.fatalf("the channel of changes is closed")
			}
			if concerns := got == (provider.MachineRef{}) || got.Owner.ID == ref.Owner.ID; concerns && wanted(t.observe(ref)) {
				return
			}
		case <-over.C:
			t.fatalf("%s was not pushed after %s", what, t.suite.Patience)
		}
	}
}

// ends demands that the channel is closed once its context has ended.
func (t *trial) ends(pushed <-chan provider.MachineRef) {
	over := time.NewTimer(t.suite.Patience)
	defer over.Stop()
	for {
		select {
		case _, open := <-pushed:
			if !open {
				return
			}
		case <-over.C:
			t.fatalf("the channel of changes is open %s after its context ended", t.suite.Patience)
		}
	}
}
