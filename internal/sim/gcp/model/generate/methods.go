// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"strings"
)

// methods are those that the simulated API serves.
func methods() (out []string) {
	all := map[string]string{
		"projects":              "get",
		"zones":                 "get list",
		"regions":               "get list",
		"machineTypes":          "get list aggregatedList",
		"diskTypes":             "get list aggregatedList",
		"images":                "get list getFromFamily insert delete setLabels",
		"instances":             "get list aggregatedList insert delete start stop reset setLabels setMetadata setTags setDeletionProtection setDiskAutoDelete",
		"disks":                 "get list aggregatedList insert delete resize setLabels",
		"networks":              "get list insert delete",
		"subnetworks":           "get list aggregatedList insert delete",
		"firewalls":             "get list insert delete patch update",
		"routes":                "get list insert delete",
		"routers":               "get list aggregatedList insert delete patch getRouterStatus",
		"addresses":             "get list aggregatedList insert delete setLabels",
		"regionHealthChecks":    "get list insert delete patch update",
		"regionBackendServices": "get list insert delete patch update getHealth",
		"instanceGroups":        "get list aggregatedList insert delete addInstances removeInstances listInstances setNamedPorts",
		"forwardingRules":       "get list aggregatedList insert delete setLabels",
		"zoneOperations":        "get list wait",
		"regionOperations":      "get list wait",
		"globalOperations":      "get list aggregatedList wait",
	}
	for _, resource := range slices.Sorted(maps.Keys(all)) {
		for name := range strings.FieldsSeq(all[resource]) {
			out = append(out, resource+"."+name)
		}
	}
	return out
}
