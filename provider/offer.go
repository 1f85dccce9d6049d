// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

// Offer is something that a platform has and that a field of the ProviderConfig may refer to.
type Offer struct {
	// Value is what the field gets.
	Value string
	// Note distinguishes it from others, for people; it may be empty.
	Note string
}
