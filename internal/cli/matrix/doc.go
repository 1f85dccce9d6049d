// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package matrix has no code but its tests: each operation of butleradm meets each
// fault, on each provider, and must come through. What is checked meanwhile and
// afterwards is in docs/contributing/invariants.md, how to add to it in
// docs/contributing/faults.md.
package matrix
