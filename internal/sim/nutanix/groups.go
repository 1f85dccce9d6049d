// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// getGroups answers a query of the entity database. Storage containers and hosts can be
// asked for: v3 has no other call for the former. A user who may not see them finds none.
func getGroups(c *call) (any, error) {
	kind := c.body.str("entity_type")
	permission, known := map[string]string{kindContainer: "View_Storage_Container", kindHost: "View_Host"}[kind]
	if !known {
		return nil, refusal{status: http.StatusUnprocessableEntity, reason: "INVALID_REQUEST", message: "The simulated platform has no entities of type " + kind}
	}
	for field := range c.body {
		switch field {
		case "entity_type", "filter_criteria", "group_member_attributes", "group_member_count", "group_member_offset", "group_member_sort_attribute", "group_member_sort_order", "entity_ids", "query_name":
		default:
			return nil, notSimulated(field)
		}
	}
	fits, err := c.criteria()
	if err != nil {
		return nil, err
	}
	results := []any{}
	for _, e := range c.st.all(kind) {
		if c.who.may(permission) && fits(e) && c.chosen(e.UUID) {
			results = append(results, c.groupEntity(e))
		}
	}
	out := object{
		"entity_type": kind, "filtered_group_count": 1, "total_group_count": 1, "filtered_entity_count": len(results), "total_entity_count": len(results),
		"group_results": []any{object{"group_by_column_value": "", "total_entity_count": len(results), "entity_results": c.members(results), "group_summaries": object{}}},
	}
	if len(results) == 0 {
		out["group_results"], out["filtered_group_count"], out["total_group_count"] = []any{}, 0, 0
	}
	return out, nil
}

// members is the part of the results that a query asks for.
func (c *call) members(all []any) []any {
	from := min(max(c.body.num("group_member_offset"), 0), len(all))
	if count := c.body.num("group_member_count"); count > 0 {
		return all[from:min(from+count, len(all))]
	}
	return all[from:]
}

// chosen reports whether a query asks for an entity by its ID, or for all.
func (c *call) chosen(id string) bool {
	list, _ := c.body["entity_ids"].([]any)
	for _, one := range list {
		if one == id {
			return true
		}
	}
	return len(list) == 0
}

// groupAttributes are the attributes of an entity in the entity database.
func (c *call) groupAttributes(e *entity) map[string]string {
	if e.Kind == kindHost {
		return map[string]string{
			"node_name": e.name(), "cluster": e.Status.sub("cluster_reference").str("uuid"), "num_cpu_cores": fmt.Sprint(e.Status.num("num_cpu_cores")),
			"memory_size_bytes": fmt.Sprint(e.Status.num("memory_capacity_mib") << 20),
		}
	}
	cluster := e.Spec.sub("cluster_reference").str("uuid")
	free := e.Status.num("free_bytes") - c.allocated(e)
	return map[string]string{
		"container_name": e.name(), "cluster": cluster, "cluster_name": c.nameOf(kindCluster, cluster), "replication_factor": "2", "state": "kComplete",
		"storage.user_capacity_bytes": fmt.Sprint(e.Status.num("capacity_bytes")), "storage.user_free_bytes": fmt.Sprint(max(free, 0)),
		"storage.user_usage_bytes": fmt.Sprint(e.Status.num("capacity_bytes") - free), "capacity.limit_bytes": fmt.Sprint(e.Status.num("capacity_bytes")),
	}
}

// allocated is what the disks of VMs have of a storage container, in bytes.
func (c *call) allocated(container *entity) (bytes int) {
	for _, e := range c.st.all(kindVM) {
		for _, d := range e.resources().subs("disk_list") {
			if d.sub("storage_config").sub("storage_container_reference").str("uuid") == container.UUID {
				bytes += d.num("disk_size_bytes")
			}
		}
	}
	return bytes
}

// groupEntity is an entity as a query answers with it: the attributes that were asked for,
// each with its values over time. One that it does not have has no values.
func (c *call) groupEntity(e *entity) object {
	has, data := c.groupAttributes(e), []any{}
	for _, a := range c.body.subs("group_member_attributes") {
		values := []any{}
		if value, known := has[a.str("attribute")]; known {
			values = append(values, object{"time": c.now.UnixMicro(), "values": []any{value}})
		}
		data = append(data, object{"name": a.str("attribute"), "values": values})
	}
	return object{"entity_id": e.UUID, "data": data}
}

// criteria returns the filter of a query: comparisons that are all true.
func (c *call) criteria() (func(*entity) bool, error) {
	text := c.body.str("filter_criteria")
	var all []func(*entity) bool
	for one := range strings.SplitSeq(text, ";") {
		if one == "" {
			continue
		}
		name, value, found := strings.Cut(one, "==")
		pattern, err := regexp.Compile("^(?:" + value + ")$")
		if !found || err != nil {
			return nil, invalid("filter_criteria", "Invalid filter criteria: '%s'", text)
		}
		all = append(all, func(e *entity) bool {
			have, known := c.groupAttributes(e)[name]
			return known && (have == value || pattern.MatchString(have))
		})
	}
	return func(e *entity) bool {
		for _, fits := range all {
			if !fits(e) {
				return false
			}
		}
		return true
	}, nil
}
