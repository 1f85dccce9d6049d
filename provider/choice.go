// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

// Choice is what a driver chooses for a machine where the spec leaves it open.
type Choice struct {
	// Size is the platform's name for the resources of the machine, such as an instance
	// type; empty where a machine gets exactly what it asks for.
	Size string
	// Zone is where the first attempt creates it; empty where the platform places machines.
	Zone string
	// Image is the platform's name for what the machine boots.
	Image string
}
