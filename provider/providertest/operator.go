// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import "context"

// Operator is the far side of a driver: the platform as its operator sees and breaks
// it. Nothing in it may go through the driver.
type Operator interface {
	// Inspect reports everything on the platform that belongs to a machine of this
	// name, whatever its owner.
	Inspect(ctx context.Context, name string) (View, error)
	// CreateConflict creates a machine of this name that carries no owner.
	CreateConflict(ctx context.Context, name string) error
	// Clone copies the machine of this name, its disks and all their tags, to a
	// machine of another name, as the platform's own clone and restore do, and
	// returns when the copy does not change any more by itself. The copy is removed
	// by remove.
	Clone(ctx context.Context, name, as string) (remove func(), err error)
	// Inject makes the platform fail in one way until lift is called.
	Inject(ctx context.Context, f Fault) (lift func(), err error)
}

// View is what an operator sees under the name of a machine.
type View struct {
	Machines []MachineState
	// Parts are all objects beside the machines, for example disks and network
	// interfaces, by names of the operator's choice.
	Parts []string
}

// MachineState is a machine on the platform.
type MachineState struct {
	// ID is the platform's, Owner the owner's that the driver has written.
	ID, Owner string
	// Version changes with every change of the machine's settings, as far as the
	// platform shows.
	Version string
	// What was asked for. A platform with sizes of its own reports those.
	CPU, MemoryMB, DiskGB int32
	// ExtraDisksGB are the sizes of the disks beside the first.
	ExtraDisksGB []int32
	UserData     string
	Labels       map[string]string
}

// Fault is a way in which platforms fail.
type Fault string

// The faults. Those that concern the next call are spent by it.
const (
	// LostResponse: the next create takes effect, but its answer is lost.
	LostResponse Fault = "lost response"
	// HalfDone: the next create makes some of the machine's objects, not all.
	HalfDone Fault = "half done"
	// Throttled: the platform takes no request at present.
	Throttled Fault = "throttled"
	// Denied: the credentials are known, but may do nothing.
	Denied Fault = "denied"
	// NoCapacity: nothing can be created for lack of capacity or quota.
	NoCapacity Fault = "no capacity"
	// SlowList: requests that list machines are answered after lift only.
	SlowList Fault = "slow list"
	// Silent: no request is answered before lift.
	Silent Fault = "silent"
	// CreateFailsLate: the next create is accepted, and its task fails.
	CreateFailsLate Fault = "create fails late"
	// DeleteFailsLate: the next delete is accepted, and its task fails.
	DeleteFailsLate Fault = "delete fails late"
	// OtherPlatform: another installation answers in place of the platform.
	OtherPlatform Fault = "other platform"
	// Drained: the hosts of all machines are drained, as for their maintenance. Inject
	// returns when no machine is where it was.
	Drained Fault = "drained"
	// HalfDoneLoadBalancer: the next ensure makes some of the objects, not all.
	HalfDoneLoadBalancer Fault = "half done load balancer"
)

// Faults returns all faults.
func Faults() []Fault {
	return []Fault{
		LostResponse, HalfDone, Throttled, Denied, NoCapacity, SlowList, Silent, CreateFailsLate, DeleteFailsLate, OtherPlatform, Drained,
		HalfDoneLoadBalancer,
	}
}

// LoadBalancerOperator is the far side of a driver's load balancers.
type LoadBalancerOperator interface {
	// InspectBalancers reports every load balancer of this name, and of its parts
	// those that stand alone.
	InspectBalancers(ctx context.Context, name string) (BalancerView, error)
}

// BalancerView is what an operator sees under the name of a load balancer.
type BalancerView struct {
	Balancers []BalancerState
	// Parts are all objects beside the load balancers, for example target groups.
	Parts []string
}

// BalancerState is a load balancer on the platform.
type BalancerState struct {
	Owner string
	Port  int32
	// Ports are all that it listens on.
	Ports []int32
	// AllowedCIDRs are the clients that may connect to each of the ports; empty: all.
	AllowedCIDRs []string
	// Targets are the registered machines, by ID or address.
	Targets []string
}

// AgentOperator is a operator that sees who sends the requests which reach its platform.
type AgentOperator interface {
	// Agents reports, for all requests since it was last asked, what they named as
	// their sender, each name once.
	Agents() []string
}
