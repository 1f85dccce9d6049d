// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package fault describes what goes wrong in the simulator, and when.
// docs/reference/faults.md is the reference of its file.
package fault

import (
	"path"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind is a way to go wrong.
type Kind string

// The kinds.
const (
	Throttle     Kind = "throttle"     // a call is refused because there are too many
	Deny         Kind = "deny"         // a call is refused because the caller lacks the permission
	TokenExpiry  Kind = "tokenExpiry"  // a call is refused because the credentials have expired
	Quota        Kind = "quota"        // a create call is refused because a quota is used up
	SlowList     Kind = "slowList"     // the answer to a list takes longer
	LostResponse Kind = "lostResponse" // a call has its effect, and no answer
	FailedTask   Kind = "failedTask"   // a call is accepted, and its task fails
	NoCapacity   Kind = "noCapacity"   // no host has room for a machine
	MachineDies  Kind = "machineDies"  // a machine ends by itself
	NoAddress    Kind = "noAddress"    // a machine gets no address
	Drain        Kind = "drain"        // the host of a machine is drained
	StaleList    Kind = "staleList"    // what is read is not what is there, but what was
	Clone        Kind = "clone"        // a machine is copied, with all its tags

	ConflictingMachine Kind = "conflictingMachine" // a machine's name is taken
	ConflictingHost    Kind = "conflictingHost"    // an address is taken by a host that the platform does not know
	NoGateway          Kind = "noGateway"          // no router answers at the gateway of the machines

	SecondPlatform Kind = "secondPlatform" // another platform answers at the address of this one
	Hang           Kind = "hang"           // connections are accepted, and nothing answers

	APIServerDies Kind = "apiServerDies" // the API server of a control plane ends

	ChartUnavailable Kind = "chartUnavailable" // an addon's chart or manifest cannot be fetched
	ImageMissing     Kind = "imageMissing"     // the registry lacks the image of an addon of this project
	AddonNotReady    Kind = "addonNotReady"    // an addon's pods do not get ready
	WebhookRefuses   Kind = "webhookRefuses"   // an addon's webhook refuses what it is asked
	HookFails        Kind = "hookFails"        // the pods of an addon's hooks fail
)

// Verb is what a call does.
type Verb string

// The verbs, the same for every platform.
const (
	Get    Verb = "get"
	List   Verb = "list"
	Watch  Verb = "watch"
	Create Verb = "create"
	Update Verb = "update"
	Delete Verb = "delete"
)

// Resource is what a call is about.
type Resource string

// The resources, the same for every platform; a call about anything else has none.
const (
	Machine      Resource = "machine"
	Disk         Resource = "disk"
	Image        Resource = "image"
	Network      Resource = "network"
	Storage      Resource = "storage"
	Secret       Resource = "secret"
	LoadBalancer Resource = "loadBalancer"
	Category     Resource = "category"
)

// Plan is the content of a fault file.
type Plan struct {
	Faults []Fault `json:"faults,omitempty"`
}

// Fault is one thing that goes wrong. Which fields a kind takes is in its rule.
type Fault struct {
	Kind Kind `json:"kind"`
	// Machine is a pattern for the names of machines; empty means all.
	Machine string `json:"machine,omitempty"`
	// Address is that of a conflicting host.
	Address string `json:"address,omitempty"`
	// Addon is a pattern for the keys of addons; empty means all.
	Addon string `json:"addon,omitempty"`
	// Verb and Resource choose calls; empty means all.
	Verb     Verb     `json:"verb,omitempty"`
	Resource Resource `json:"resource,omitempty"`
	// After is when it begins, For how long it lasts: empty means at once and for
	// ever. Both count from when the platform answers; for a machine that dies or whose
	// host is drained from when it has its address, for one that has none from its
	// power-on.
	After metav1.Duration `json:"after,omitzero"`
	For   metav1.Duration `json:"for,omitzero"`
	// Times is how often it happens; 0 means as often as it applies.
	Times int `json:"times,omitempty"`
	// Delay is how much longer a list takes.
	Delay metav1.Duration `json:"delay,omitzero"`
	// RetryAfter is how long the caller of a throttled call is asked to wait; 0 means a second.
	RetryAfter metav1.Duration `json:"retryAfter,omitzero"`
}

// Has reports whether the plan has a fault of this kind.
func (p Plan) Has(k Kind) bool {
	return slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.Kind == k })
}

// Call is one request to a platform's API.
type Call struct {
	Verb     Verb
	Resource Resource
	Name     string // of the object, empty for a list
}

func (f Fault) affectsCalls() bool {
	switch f.Kind {
	case Throttle, Deny, TokenExpiry, Quota, SlowList, StaleList, LostResponse, SecondPlatform:
		return true
	case FailedTask:
		return f.Verb == Delete
	default:
		return false
	}
}

func (f Fault) matches(c Call) bool {
	switch {
	case !f.affectsCalls():
		return false
	case f.Kind == SlowList && c.Verb != List, f.Kind == Quota && c.Verb != Create:
		return false
	case f.Kind == StaleList && c.Verb != List && c.Verb != Get:
		return false
	case f.Kind == LostResponse && f.Verb == "" && !c.Writes():
		return false
	case f.Kind == FailedTask && c.Resource != Machine:
		return false
	}
	return (f.Verb == "" || f.Verb == c.Verb) && (f.Resource == "" || f.Resource == c.Resource) &&
		(f.Machine == "" || c.Name != "" && f.names(c.Name))
}

// Writes reports whether a call changes the platform.
func (c Call) Writes() bool { return c.Verb == Create || c.Verb == Update || c.Verb == Delete }

// names says whether the fault is about the machine of this name.
func (f Fault) names(machine string) bool { return fits(f.Machine, machine) }

// ails says whether the fault is of this kind and about the addon with this key.
func (f Fault) ails(k Kind, addon string) bool { return f.Kind == k && fits(f.Addon, addon) }

// fits says whether a name fits a pattern; an empty one fits all.
func fits(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
