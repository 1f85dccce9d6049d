// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	_ "embed"
	"strings"
)

//go:embed regions.txt
var regions string

// Region is a region of AWS.
type Region struct {
	Name      string
	Partition string // of its ARNs
	Suffix    string // of its hosts
}

// RegionNamed returns the region of a name. Others have no endpoint.
func RegionNamed(name string) (Region, bool) {
	for line := range strings.Lines(regions) {
		fields := strings.Fields(line)
		if fields[0] == name {
			return Region{fields[0], fields[1], fields[2]}, true
		}
	}
	return Region{}, false
}
