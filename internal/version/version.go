// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package version identifies the build of the project.
package version

// Set by the linker; what a plain `go build` leaves are these values.
var (
	// Version of the project.
	Version = "v0.0.0-dev"
	// Commit that was built.
	Commit = "unknown"
	// Date of the commit.
	Date = "unknown"
)

// String is the version and the commit on one line.
func String() string { return Version + " (" + Commit + ")" }
