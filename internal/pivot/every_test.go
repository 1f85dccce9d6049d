// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package pivot

const stride = 1 // every moment of a move is tried
