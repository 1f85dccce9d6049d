// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import "time"

// failedStart is how soon after its power-on a machine dies whose start has failed.
const failedStart = time.Second

// Run is the last time that a machine was on in this process.
type Run struct {
	Spec  Spec
	Began time.Time
	// Died reports that the machine is off and was not powered off, Clean that its guest
	// has shut down.
	Died, Clean bool
	// FailedStarts is how many starts have failed since the last that has not, and
	// LastFailure when the last of them did.
	FailedStarts int
	LastFailure  time.Time
}

// LastRun returns the last time that a machine was on. It ends with Remove.
func (d *Datacenter) LastRun(id string) (Run, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, known := d.runs[id]
	return r, known
}

// beginRun is called under lock.
func (d *Datacenter) beginRun(s Spec) {
	r := d.runs[s.ID]
	d.runs[s.ID] = Run{Spec: s, Began: time.Now(), FailedStarts: r.FailedStarts, LastFailure: r.LastFailure}
}

// endRun is called under lock.
func (d *Datacenter) endRun(id string, died, clean bool) {
	r := d.runs[id]
	r.Died, r.Clean = died, died && clean
	switch now := time.Now(); {
	case died && !clean && now.Sub(r.Began) < failedStart:
		r.FailedStarts, r.LastFailure = r.FailedStarts+1, now
	case died:
		r.FailedStarts = 0
	}
	d.runs[id] = r
}

// rename takes the platform's names of a machine that is on. It is called under lock.
func (d *Datacenter) rename(p *power, s Spec) {
	p.machine.Ref, p.machine.Instance = s.Ref, s.Instance
	r := d.runs[s.ID]
	r.Spec.Ref, r.Spec.Instance = s.Ref, s.Instance
	d.runs[s.ID] = r
}
