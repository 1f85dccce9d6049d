// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

// Report is the proof that both planes hold the same.
type Report struct {
	// Epoch that the move leads to.
	Epoch int64 `json:"epoch"`
	// From and To are the names of the planes.
	From string `json:"from"`
	To   string `json:"to"`
	// Objects counts what was compared, by kind.
	Objects map[string]int `json:"objects"`
	// ProviderIDs and Addresses count what requests have of the platform.
	ProviderIDs int `json:"providerIDs"`
	Addresses   int `json:"addresses"`
	// Platform counts the objects that the platform holds of the cluster.
	Platform int `json:"platform"`
	// Differences between the planes, one line each; none in a move that goes on.
	Differences []string `json:"differences"`
	// Changes of the platform during the move, one line each; none in a move that
	// goes on.
	Changes []string `json:"changes"`
}
