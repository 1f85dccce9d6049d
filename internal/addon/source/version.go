// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// same reports whether two versions are equal, with a v or without.
func same(a, b string) bool { return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v") }

// spellings of a version: as it is, and the other way.
func spellings(version string) []string {
	if bare, ok := strings.CutPrefix(version, "v"); ok {
		return []string{version, bare}
	}
	return []string{version, "v" + version}
}

// nearest are the versions closest to the wanted one, at most three, the newest
// first. Pre-releases count only for one who wants a pre-release.
func nearest(versions []string, wanted string) (out []string) {
	want, err := semver.NewVersion(wanted)
	var known []*semver.Version
	for _, s := range versions {
		if v, bad := semver.NewVersion(s); bad == nil && (v.Prerelease() == "" || err == nil && want.Prerelease() != "") {
			known = append(known, v)
		}
	}
	newest := func(a, b *semver.Version) int { return b.Compare(a) }
	slices.SortFunc(known, newest)
	if err == nil {
		slices.SortStableFunc(known, func(a, b *semver.Version) int { return slices.Compare(distance(a, want), distance(b, want)) })
	}
	known = known[:min(3, len(known))]
	slices.SortFunc(known, newest)
	for _, v := range known {
		out = append(out, v.Original())
	}
	return out
}

// distance counts the first number in which two versions differ.
func distance(a, b *semver.Version) []uint64 {
	gap := func(x, y uint64) uint64 { return max(x, y) - min(x, y) }
	switch {
	case a.Major() != b.Major():
		return []uint64{gap(a.Major(), b.Major())}
	case a.Minor() != b.Minor():
		return []uint64{0, gap(a.Minor(), b.Minor())}
	}
	return []uint64{0, 0, gap(a.Patch(), b.Patch())}
}
