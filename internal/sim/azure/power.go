// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"net/http"
)

// accepted begins an operation on a machine that a POST asks for.
func (c *call) accepted(r *record, do func(o *operation)) (answer, error) {
	if *r.state() == deleting {
		return answer{}, conflicts("OperationNotAllowed", "The operation is not allowed on VM '%s' since the VM is marked for deletion.", r.top().Name)
	}
	got := answer{status: http.StatusAccepted, header: http.Header{}}
	do(c.newOperation(r, false, got.header))
	return got, nil
}

func startVM(c *call, r *record) (answer, error) {
	a := c.Azure
	return c.accepted(r, func(o *operation) {
		if r.Power == powerRunning {
			a.end(o, nil)
			return
		}
		r.Power = powerStarting
		a.st.put(r)
		a.Later(a.Options.Create, func() {
			if f := a.allocate(r); f != nil || r.Copy {
				if f == nil {
					f = &failure{"AllocationFailed", "Allocation failed."}
				}
				r.Power = powerStopped
				a.st.put(r)
				a.end(o, f)
				return
			}
			a.boot(r)
			a.end(o, nil)
		})
	})
}

func powerOffVM(c *call, r *record) (answer, error) {
	return c.halt(r, powerStopping, powerStopped)
}

func deallocateVM(c *call, r *record) (answer, error) {
	return c.halt(r, powerDeallocating, powerDeallocated)
}

// halt switches the machine off. Its address and its disks stay.
func (c *call) halt(r *record, during, after string) (answer, error) {
	a := c.Azure
	return c.accepted(r, func(o *operation) {
		r.Power, r.Ran = during, true
		a.st.put(r)
		a.PowerOff(r.Machine, func() {
			if r.Power == during {
				r.Power = after
				a.st.put(r)
			}
			a.end(o, nil)
		})
	})
}

func restartVM(c *call, r *record) (answer, error) {
	if r.Power != powerRunning {
		return answer{}, conflicts("OperationNotAllowed", "Cannot restart VM '%s' that is not running.", r.top().Name)
	}
	a := c.Azure
	return c.accepted(r, func(o *operation) {
		a.Restart(a.machine(r))
		a.end(o, nil)
	})
}
