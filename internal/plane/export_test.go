// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane

// For tests that run a store without the rest of a plane.
var (
	BeginStore = beginStore
	StoreBegun = storeBegun
)
