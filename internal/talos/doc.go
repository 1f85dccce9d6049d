// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package talos makes Talos machine configurations and speaks to Talos nodes.
//
// Config, Talosconfig and NewSecrets are pure functions of their input apart
// from fresh keys; Client asks and changes one node at a time and never waits
// longer than its context allows.
package talos
