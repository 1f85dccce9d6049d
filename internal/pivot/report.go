// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Report is the proof that both planes hold the same.
type Report struct {
	// Epoch after the move.
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
	// Differences between the planes, one line each; none in a move that continues.
	Differences []string `json:"differences"`
	// Changes of the platform during the move, one line each; none in a move that
	// continues.
	Changes []string `json:"changes"`
}

// String is the report in one sentence.
func (r Report) String() string {
	total := 0
	var kinds []string
	for _, kind := range slices.SortedFunc(maps.Keys(r.Objects), byRank) {
		total += r.Objects[kind]
		kinds = append(kinds, counted(r.Objects[kind], kind))
	}
	equal, verb := "equal", "are"
	if n := len(r.Differences); n > 0 {
		equal = fmt.Sprintf("compared, with %s", counted(n, "difference"))
	}
	if total == 1 {
		verb = "is"
	}
	changed := "none changed"
	if n := len(r.Changes); n > 0 {
		changed = counted(n, "change")
	}
	return fmt.Sprintf("%s %s %s (%s); %s, %s; %s, %s", counted(total, "object"), verb, equal, strings.Join(kinds, ", "),
		counted(r.ProviderIDs, "provider ID"), plural(r.Addresses, "address", "addresses"), counted(r.Platform, "platform object"), changed)
}

func byRank(a, b string) int {
	if d := rank(a) - rank(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

func counted(n int, noun string) string { return plural(n, noun, noun+"s") }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
