// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// kills are a SIGKILL at each boundary of what the commands write down. Phases that
// are over before a test can look come together with one that is seen for certain.
func kills() (making, unmaking []command) {
	const provisioning, configuring, etcd, addons = "bootstrap/ProvisioningMachines", "bootstrap/ConfiguringTalos", "bootstrap/BootstrappingCluster", "bootstrap/InstallingAddons"
	for _, boundaries := range [][]string{{"bootstrap/applied"}, {provisioning}, {configuring, etcd, addons}, {etcd, addons}, {addons}, {"bootstrap/Pivoting"}} {
		making = append(making, command{blows: killedAtFirst(boundaries...)})
	}
	for _, stage := range []string{"prepare", "copy", "verify", "switch", "retire", "done"} {
		making = append(making, command{blows: []blow{killed(pivot, "pivot/"+stage)}})
	}
	unmaking = append(unmaking, command{true, []blow{killed(destroy, "destroy/listed")}})
	// Once this machine is in charge, the next run leaves the rest of the move: what
	// it would retire is about to be deleted.
	for _, stage := range []string{"prepare", "copy", "verify", "switch", "retire"} {
		unmaking = append(unmaking, command{true, []blow{killed(pivot, "pivot/"+stage)}})
	}
	for _, step := range []string{"recorded", "deleted", "gone", "config"} {
		unmaking = append(unmaking, command{true, []blow{killed(destroy, "destroy/"+step)}})
	}
	return making, unmaking
}

// killedAtFirst is a SIGKILL at the first of some boundaries that shows.
func killedAtFirst(boundaries ...string) (out []blow) {
	for _, b := range boundaries {
		one := killed(bootstrap, b)
		one.fleeting = len(boundaries) > 1
		out = append(out, one)
	}
	return out
}

// trials are all of them.
func trials(p platform) []trial {
	making, unmaking := kills()
	all := []trial{
		{name: "killed at every boundary", sample: one, commands: slices.Concat(making, unmaking)},
		{name: "killed at random", random: 3, turn: 1},
	}
	all = append(all, platformTrials(p)...)
	for i, tr := range planeTrials() {
		tr.turn = i + 1 // no platform takes part in them
		all = append(all, tr)
	}
	for i, c := range making {
		all = append(all, trial{name: "only " + c.blows[0].fault, commands: []command{c}, turn: i + 1})
	}
	for i, c := range append(unmaking, command{true, []blow{killed(pivot, "pivot/done")}}) {
		all = append(all, trial{name: "destroy, only " + c.blows[0].fault, commands: []command{c}, turn: i + 1})
		if c.blows[0].operation == pivot {
			all = append(all, trial{name: "destroy called off, " + c.blows[0].fault, commands: []command{c}, calledOff: true, turn: i + 2})
		}
	}
	return all
}

// planeTrials are about planes, this machine and those who use it.
func planeTrials() []trial {
	const gone = "  - {kind: apiServerDies, for: 3s}"
	return []trial{
		{name: "API server of the new cluster killed", commands: []command{
			{false, []blow{
				planned(bootstrap, "SIGKILL of the new API server", "bootstrap/InstallingAddons", gone),
				planned(pivot, "SIGKILL of the new API server", "pivot/copy", gone),
			}},
			{true, []blow{planned(destroy, "SIGKILL of the new API server", "pivot/copy", gone)}},
		}},
		{name: "API server killed at the switch", commands: []command{
			{false, []blow{planned(pivot, "SIGKILL of the new API server, switch", "pivot/switch", gone)}},
			{true, []blow{planned(destroy, "SIGKILL of the new API server, switch", "pivot/switch", gone)}},
		}},
		{name: "local etcd killed", commands: slices.Concat(
			each(false, etcdKilled(bootstrap, "bootstrap/InstallingAddons"), etcdKilled(pivot, "pivot/copy"), etcdKilled(pivot, "pivot/switch")),
			each(true, etcdKilled(destroy, "destroy/deleted")),
		)},
		{name: "disk full", commands: slices.Concat(
			each(false, full(bootstrap, 8, "bootstrap/ProvisioningMachines"), full(pivot, 16, "pivot/copy")),
			each(true, full(destroy, 24, "destroy/deleted")),
		)},
		{name: "two operators", commands: []command{
			{false, []blow{rivalry(bootstrap, "bootstrap/InstallingAddons"), rivalry(pivot, "pivot/copy")}},
			{true, []blow{rivalry(destroy, "destroy/deleted")}},
		}},
		{name: "two homes before the switch", homes: homes{"pivot/prepare", "kill@pivot/done"}},
		{name: "two homes after the switch", homes: homes{held: "pivot/retire"}},
		{name: "another namespace", namespace: "elsewhere", commands: []command{{true, []blow{killed(destroy, "destroy/gone")}}}},
		{name: "clock jumps", commands: []command{
			{false, []blow{
				{operation: bootstrap, fault: "clock jumps by +1h", order: "clock=+1h@bootstrap/ProvisioningMachines"},
				{operation: bootstrap, fault: "clock jumps by -3h", order: "clock=-3h@bootstrap/InstallingAddons"},
				{operation: pivot, fault: "clock jumps by +2h", order: "clock=+2h@pivot/copy"},
			}},
			{true, []blow{{operation: destroy, fault: "clock jumps by -1h", order: "clock=-1h@destroy/deleted"}}},
		}},
	}
}

func etcdKilled(o operation, boundary string) blow {
	return blow{operation: o, fault: "SIGKILL of the local etcd at " + boundary, order: "etcd@" + boundary, ends: "etcd ended: it was killed"}
}

// full is a store without room. What fills it stays, so that the next one has to be
// larger.
func full(o operation, megabytes int, boundary string) blow {
	return blow{operation: o, fault: "disk full at " + boundary, order: fmt.Sprintf("fill=%d@%s", megabytes<<20, boundary), ends: "the store is full"}
}

// rivalry holds a command at a boundary while others try their luck.
func rivalry(o operation, boundary string) blow {
	return blow{operation: o, fault: "a second operator", order: "hold=%s@" + boundary, rivals: true}
}

// platformTrials are about the platform's API.
func platformTrials(p platform) []trial {
	const (
		drain   = "  - {kind: drain, times: 2}"
		storm   = "  - {kind: throttle, for: 4s, retryAfter: 1s}"
		stale   = "  - {kind: staleList, for: 4s}"
		expired = "  - {kind: tokenExpiry, for: 4s}"
		second  = "  - {kind: secondPlatform, for: 12s}"
		silent  = "  - {kind: hang, for: 8s}"
		// What has to be said of these three.
		another    = "the credentials are for another platform"
		unanswered = "it has not answered so far"
		refused    = "in the Secret of the ProviderConfig"
		failed     = "  - {kind: failedTask, verb: delete, times: 2}"
		// A pivot changes nothing on the platform, but looks at all that is there.
		lostList = "  - {kind: lostResponse, verb: list, resource: machine, times: 2}"
	)
	// A write about a machine and one about its part, not what another program may request besides.
	lost := func(verb string) string {
		const one = "  - {kind: lostResponse, verb: %s, resource: %s, times: 1}"
		if p.part == "" {
			return fmt.Sprintf(one, verb, fault.Machine)
		}
		return fmt.Sprintf(one+"\n"+one, verb, fault.Machine, verb, p.part)
	}
	throughout := func(fault, making, moving, unmaking string) []command {
		return []command{
			{false, []blow{planned(bootstrap, fault, "bootstrap/applied", making), planned(pivot, fault, "pivot/prepare", moving)}},
			{true, []blow{planned(destroy, fault, "destroy/recorded", unmaking)}},
		}
	}
	return []trial{
		{name: "hosts drained", commands: []command{{false, []blow{
			planned(bootstrap, "drain of two hosts", "bootstrap/InstallingAddons", drain), planned(pivot, "drain of two hosts", "pivot/copy", drain),
		}}}},
		{name: "throttle storm", commands: throughout("throttle storm", storm, storm, storm)},
		{name: "lost response", sample: aCloud, commands: []command{
			{false, []blow{
				planned(bootstrap, "lost response", "bootstrap/applied", lost("create")),
				planned(pivot, "lost response of a list", "pivot/prepare", lostList),
			}},
			{true, []blow{planned(destroy, "lost response", "destroy/recorded", lost("delete"))}},
		}},
		{name: "clone and failed delete task", sample: one, commands: []command{
			{false, []blow{planned(bootstrap, "clone of a machine", "bootstrap/applied", "  - {kind: clone, machine: "+cluster+"-cp-0}")}},
			{true, []blow{planned(destroy, "delete task fails after 200", "destroy/recorded", failed)}},
		}, kept: []string{cluster + "-cp-0-clone"}},
		{name: "stale list", commands: throughout("stale list", stale, stale, stale)},
		// What was created before is recorded for the first one.
		{name: "second platform", commands: []command{
			{false, []blow{planned(bootstrap, "second platform", "bootstrap/InstallingAddons", second).saying(another)}},
			{true, []blow{planned(destroy, "second platform", "destroy/recorded", second).saying(another)}},
		}},
		{name: "second platform at the pivot", commands: []command{
			{false, []blow{planned(pivot, "second platform", "pivot/prepare", second).saying(another)}},
			{true, []blow{planned(destroy, "second platform before the deletion", "pivot/copy", second).saying(another)}},
		}},
		{name: "hanging platform", commands: []command{
			{false, []blow{
				planned(bootstrap, "hanging platform", "bootstrap/applied", silent).saying(unanswered),
				planned(pivot, "hanging platform", "pivot/prepare", silent),
			}},
			{true, []blow{planned(destroy, "hanging platform", "destroy/recorded", silent).saying(unanswered)}},
		}},
		// Credentials that were refused are tried again after a minute.
		{name: "token expiry", commands: each(false, planned(bootstrap, "token expiry", "bootstrap/applied", expired).saying(refused))},
		{name: "token expiry throughout", commands: throughout("token expiry", expired, expired, expired)},
	}
}
