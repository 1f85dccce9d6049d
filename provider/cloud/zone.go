// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"hash/fnv"
	"regexp"
	"strconv"
)

var trailing = regexp.MustCompile(`-(\d{1,6})$`)

// NumberOf is the number at the end of a machine's name; one without is spread by its
// name.
func NumberOf(name string) int {
	if m := trailing.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits
		return n
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return int(h.Sum32() % 1024)
}

// Spread returns the place of a machine's attempt out of all places, of which there is at
// least one: machines of successive numbers are in successive zones, and so are the
// attempts of one machine. Places are in the order of the settings.
func Spread[P any](all []P, zoneOf func(P) string, number, attempt int) P {
	zones, in := byZone(all, zoneOf)
	zone := in[zones[(number+attempt)%len(zones)]]
	return zone[(number/len(zones)+attempt/len(zones))%len(zone)]
}

// Successive returns the zones of a machine's attempts in their order, each once.
func Successive[P any](all []P, zoneOf func(P) string, number int) (order []string) {
	zones, _ := byZone(all, zoneOf)
	for attempt := range zones {
		order = append(order, zones[(number+attempt)%len(zones)])
	}
	return order
}

func byZone[P any](all []P, zoneOf func(P) string) (zones []string, in map[string][]P) {
	in = map[string][]P{}
	for _, p := range all {
		z := zoneOf(p)
		if in[z] == nil {
			zones = append(zones, z)
		}
		in[z] = append(in[z], p)
	}
	return zones, in
}
