// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Levels sorts addons by their needs: those of a level need only addons of
// earlier levels, and can be installed at the same time.
func Levels(addons []Addon) ([][]string, error) {
	needs := map[string][]string{}
	for _, a := range addons {
		if _, twice := needs[a.Key]; twice {
			return nil, fmt.Errorf("addon %s is listed twice", a.Key)
		}
		needs[a.Key] = a.Needs
	}
	for _, a := range addons {
		for _, n := range a.Needs {
			if _, known := needs[n]; !known {
				return nil, fmt.Errorf("addon %s needs %s, which is not in the list", a.Key, n)
			}
		}
	}
	var levels [][]string
	done := map[string]bool{}
	for len(done) < len(addons) {
		level := free(addons, done)
		if len(level) == 0 {
			return nil, fmt.Errorf("addons depend on each other in a cycle: %s", strings.Join(rest(addons, done), ", "))
		}
		for _, key := range level {
			done[key] = true
		}
		levels = append(levels, level)
	}
	return levels, nil
}

// free are the addons that are left and need nothing that is left.
func free(addons []Addon, done map[string]bool) (out []string) {
	for _, a := range addons {
		waits := slices.ContainsFunc(a.Needs, func(n string) bool { return !done[n] })
		if !done[a.Key] && !waits {
			out = append(out, a.Key)
		}
	}
	return out
}

func rest(addons []Addon, done map[string]bool) (out []string) {
	for _, a := range addons {
		if !done[a.Key] {
			out = append(out, a.Key)
		}
	}
	return out
}

// inOrder puts each addon after those that it needs.
func inOrder(addons []Addon) ([]Addon, error) {
	levels, err := Levels(addons)
	if err != nil {
		return nil, err
	}
	level := map[string]int{}
	for i, keys := range levels {
		for _, key := range keys {
			level[key] = i
		}
	}
	slices.SortStableFunc(addons, func(a, b Addon) int { return cmp.Compare(level[a.Key], level[b.Key]) })
	return addons, nil
}
