// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Amount is processors, in thousandths, and memory, in bytes.
type Amount struct{ CPU, Memory int64 }

// String returns the amount for people.
func (a Amount) String() string {
	return fmt.Sprintf("%.1f cores and %.1f GiB", float64(a.CPU)/1000, gibibytes(a.Memory))
}

// Plus returns the sum.
func (a Amount) Plus(b Amount) Amount { return Amount{a.CPU + b.CPU, a.Memory + b.Memory} }

func gibibytes(bytes int64) float64 { return float64(bytes) / (1 << 30) }

// Pool is where a platform runs machines.
type Pool struct {
	// Hosts are what each host that takes machines has for them.
	Hosts []Amount
	// Used is what is reserved on all of them; nil means that it may not be read, and
	// Grant is what would allow it.
	Used  *Amount
	Grant string
}

// Capacity compares the machines with what the hosts have. Because platforms overcommit,
// only a machine that no host can hold is refused.
func (p Pool) Capacity(specs []provider.MachineSpec) provider.Finding {
	f := provider.Finding{Check: "capacity", Verdict: provider.Unknown}
	asked, largest := demand(specs)
	have, host := p.total()
	if len(p.Hosts) == 0 {
		f.Message, f.Hint = "the platform shows no host that takes machines", "make a host schedulable"
		return f
	}
	if largest > host {
		f.Verdict, f.Hint = provider.Refused, "make it smaller"
		f.Message = fmt.Sprintf("a machine asks for %.1f GiB of memory, and no host has more than %.1f GiB", gibibytes(largest), gibibytes(host))
		return f
	}
	if p.Used == nil {
		f.Message, f.Hint = fmt.Sprintf("%s are requested; the hosts have %s, but the credentials cannot read what is in use", asked, have), p.Grant
		return f
	}
	free := Amount{have.CPU - p.Used.CPU, have.Memory - p.Used.Memory}
	if asked.CPU > free.CPU || asked.Memory > free.Memory {
		f.Message, f.Hint = fmt.Sprintf("%s are requested, and %s are free; whether overcommit makes room is not known", asked, free), "free some, or request less"
		return f
	}
	f.Verdict, f.Message = provider.Passed, fmt.Sprintf("%s are requested, and %s are free", asked, free)
	return f
}

// Spread warns if control planes have to share a host: the loss of that host may then
// take the quorum of etcd.
func (p Pool) Spread(specs []provider.MachineSpec) []provider.Finding {
	planes := 0
	for _, s := range specs {
		if s.Role == v1alpha1.RoleControlPlane {
			planes++
		}
	}
	if planes < 2 || len(p.Hosts) == 0 {
		return nil
	}
	f := provider.Finding{Check: "hosts for control planes", Verdict: provider.Passed}
	if len(p.Hosts) < planes {
		f.Verdict = provider.Unknown
		f.Message = fmt.Sprintf("%d control planes are requested, and %d hosts take machines: control planes share a host, and its loss or drain may stop the cluster", planes, len(p.Hosts))
		f.Hint = "add hosts, or accept it"
	}
	return []provider.Finding{f}
}

// demand is what all machines ask for, and the memory of the largest.
func demand(specs []provider.MachineSpec) (all Amount, largest int64) {
	for _, s := range specs {
		memory := int64(s.MemoryMB) << 20
		all = all.Plus(Amount{int64(s.CPU) * 1000, memory})
		largest = max(largest, memory)
	}
	return all, largest
}

// total is what all hosts have, and the memory of the largest.
func (p Pool) total() (all Amount, largest int64) {
	for _, h := range p.Hosts {
		all = all.Plus(h)
		largest = max(largest, h.Memory)
	}
	return all, largest
}
