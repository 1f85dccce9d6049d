// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import "context"

// Preflight looks for what would make machines fail, without creating anything.
type Preflight interface {
	// Check reports on credentials and permissions, and, for the machines that are
	// wanted, on image, network, quota, capacity and taken names. The error is for
	// a platform that could not be asked at all.
	Check(context.Context, []MachineSpec) ([]Finding, error)
}

// Verdict is the outcome of one check.
type Verdict string

// The verdicts. What may not be read is unknown, never refused.
const (
	Passed  Verdict = "Passed"
	Refused Verdict = "Refused"
	Unknown Verdict = "Unknown"
)

// Finding is one check and its outcome.
type Finding struct {
	// Check is what was looked at, for example "image default/talos-v1.9.2".
	Check   string
	Verdict Verdict
	// Message says what was found, and Hint what to do about it.
	Message string
	Hint    string
}
