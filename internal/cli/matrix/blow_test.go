// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"fmt"
	"strings"
)

// operation is what a fault happens to.
type operation string

// The operations. A pivot is a part of the commands bootstrap and destroy.
const (
	bootstrap operation = "bootstrap"
	pivot     operation = "pivot"
	destroy   operation = "destroy"
)

// blow is one fault that happens during one command.
type blow struct {
	operation
	// fault names it, for people.
	fault string
	// order brings it about; %s in it is the file of the plan.
	order string
	// plan is the fault plan that the order hands to the platform.
	plan string
	// fleeting says that its boundary may not show, but one of its command's.
	fleeting bool
	// rivals says that others try their luck while the order holds this command.
	rivals bool
	// ends is what a command has to say that does not survive it; empty is nothing,
	// since it may survive.
	ends string
	// says is what a command has to say that survives it; empty is nothing.
	says string
}

// command is one call of butleradm and what happens to it.
type command struct {
	destroy bool
	blows   []blow
}

// trial is what one cluster goes through, from nothing to nothing.
type trial struct {
	name     string
	commands []command
	// random is how many more times it is killed, at any time.
	random int
	// calledOff says that the operator wants the cluster after all, once its
	// destruction was interrupted.
	calledOff bool
	// namespace is where the manifest's objects lie; empty is where they do.
	namespace string
	// homes says how another operator, with a copy of the state directory, destroys
	// the cluster too; empty if none does.
	homes homes
	// kept are the machines that have to be left on the platform in the end, and that
	// destroy has to name.
	kept []string
	// sample says which providers meet it in every test run.
	sample sample
	// turn chooses the platforms that meet it in a run of all trials: one on-prem and one
	// cloud; 0 means each of them.
	turn int
}

// turns is after how many platforms the same trial has its turn again.
const turns = 3

// meets reports whether the platform with an index meets the trial in a run of all.
func (tr trial) meets(index int) bool { return tr.turn == 0 || (tr.turn-index)%turns == 0 }

// share is which part of the kills a trial keeps in the sample: each costs a restart.
const share = 3

// thinned has every third command of a trial with many; the seed says where it begins.
func (tr trial) thinned(seed int64) trial {
	if len(tr.commands) <= 2*share {
		return tr
	}
	all := tr.commands
	tr.commands = nil
	for i := int(uint64(seed) % share); i < len(all); i += share {
		tr.commands = append(tr.commands, all[i])
	}
	return tr
}

// sample is a part of the platforms.
type sample int

// The samples: one platform each, because the conformance suite has each driver meet all of it.
const (
	none   sample = iota
	one           // the first platform
	aCloud        // the last platform: load balancers too
)

// includes reports whether the platform with an index is part of the sample.
func (s sample) includes(index int) bool {
	return s == one && index == 0 || s == aCloud && index == len(platforms())-1
}

// killed is a SIGKILL at a boundary.
func killed(o operation, boundary string) blow {
	return blow{operation: o, fault: "SIGKILL at " + boundary, order: "kill@" + boundary}
}

// planned is a fault plan that holds from a boundary on.
func planned(o operation, fault, boundary, plan string) blow {
	return blow{operation: o, fault: fault, order: "faults=%s@" + boundary, plan: plan}
}

// saying is the fault with what the command has to say about it.
func (b blow) saying(text string) blow {
	b.says = text
	return b
}

// orders are those of all blows, with the plans in files.
func (a *adm) orders(c command) string {
	var all []string
	for i, b := range c.blows {
		if strings.Contains(b.order, "%s") {
			b.order = fmt.Sprintf(b.order, a.planFile(i, b))
		}
		all = append(all, b.order)
	}
	return strings.Join(all, ",")
}

// planFile is the file that an order names: with a plan, or one that is made and
// waited for.
func (a *adm) planFile(i int, b blow) string {
	name := fmt.Sprintf("%s-%d", b.operation, i)
	if b.plan == "" {
		return a.tmp + "/" + name
	}
	return a.file(name+".yaml", "faults:\n"+b.plan+"\n")
}

// each gives every blow a command of its own, one after the other.
func each(destroy bool, blows ...blow) (out []command) {
	for _, b := range blows {
		out = append(out, command{destroy, []blow{b}})
	}
	return out
}
