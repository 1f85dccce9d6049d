// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !rehearsals

package pivot

// stride is how many moments of a move lie between two that a test tries; make
// test-rehearsals tries each.
const stride = 8
