// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"maps"
	"slices"
)

// queryCategories answers which entities have categories. Policies that use some do not
// exist.
func queryCategories(c *call) (any, error) {
	filter := c.body.sub("category_filter")
	var kinds []string
	list, _ := filter["kind_list"].([]any)
	for _, one := range list {
		if kind, ok := one.(string); ok {
			kinds = append(kinds, kind)
		}
	}
	results, total := []any{}, 0
	for _, kind := range slices.Sorted(maps.Keys(c.st.entities)) {
		if len(kinds) > 0 && !slices.Contains(kinds, kind) || c.body.str("usage_type") == "USED_IN" {
			continue
		}
		found := []any{}
		for _, e := range c.st.all(kind) {
			if e.has(filter) {
				found = append(found, object{"kind": kind, "uuid": e.UUID, "name": e.name()})
			}
		}
		if total += len(found); len(found) > 0 {
			results = append(results, object{"kind": kind, "total_entity_count": len(found), "filtered_entity_count": len(found), "kind_reference_list": c.members(found)})
		}
	}
	return object{"api_version": apiVersion, "metadata": object{"total_matches": total, "usage_type": c.body.str("usage_type")}, "results": results}, nil
}

// has reports whether an entity has one of the categories of a filter, or all.
func (e *entity) has(filter object) bool {
	every := filter.str("type") == "CATEGORIES_MATCH_ALL"
	for key, values := range filter.sub("params") {
		list, _ := values.([]any)
		one := slices.ContainsFunc(list, func(v any) bool {
			return slices.ContainsFunc(e.Categories[key], func(has string) bool { return has == v })
		})
		if one != every {
			return one
		}
	}
	return every
}
