// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package reason has the cause and the remedy of every reason of a condition or an event.
// The page docs/reference/reasons.md is written from it.
package reason

// Entry is what an operator needs to know of a reason.
type Entry struct {
	Reason string
	// Cause is what has happened.
	Cause string
	// Remedy is what to do; empty where nothing has to be done.
	Remedy string
}

// Group is the entries of one subject.
type Group struct {
	Title   string
	Entries []Entry
}

// Groups returns all entries, by subject.
func Groups() []Group {
	return []Group{
		{"Connection and credentials", connection()},
		{"Capacity, quotas and images", capacity()},
		{"Settings that a platform refuses", settings()},
		{"Ownership and identity", ownership()},
		{"Machines", machines()},
		{"Load balancers", balancers()},
		{"Bootstrap: waiting", waiting()},
		{"Bootstrap: failed", failed()},
		{"Bootstrap: conditions and events of a cluster that runs", running()},
		{"Addresses", addresses()},
		{"Tenant clusters: access and configuration", access()},
		{"Tenant clusters: progress", tenants()},
		{"Tenant clusters: deletion", deletion()},
		{"Teams and ButlerConfig", teams()},
		{"Orphans", orphans()},
	}
}

// Of returns the entry of a reason.
func Of(name string) (Entry, bool) {
	for _, g := range Groups() {
		for _, e := range g.Entries {
			if e.Reason == name {
				return e, true
			}
		}
	}
	return Entry{}, false
}
