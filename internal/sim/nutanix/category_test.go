// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestCategoriesAreUsedAndNotDeletedBefore: a value that a VM has, and a key that has
// values, are refused.
func TestCategoriesAreUsedAndNotDeletedBefore(t *testing.T) {
	f := start(t)
	f.do(t, http.MethodPut, "categories/butler-cluster", object{"name": "butler-cluster", "description": "mine", "api_version": "3.1.0"})
	value := f.do(t, http.MethodPut, "categories/butler-cluster/demo", object{"value": "demo", "api_version": "3.1.0"})
	if value["name"] != "butler-cluster" || value["value"] != "demo" || value["system_defined"] != false {
		t.Errorf("value: %v", value)
	}
	vm := f.create(t, with(machine("a"), "metadata.categories", object{"butler-cluster": "demo"}))
	if text(vm, "metadata.categories.butler-cluster") != "demo" || text(vm, "metadata.categories_mapping.butler-cluster.0") != "demo" {
		t.Errorf("categories: %v", vm["metadata"])
	}
	f.hasCategory(t, 1, object{"butler-cluster": []any{"none", "demo"}})
	f.hasCategory(t, 0, object{"butler-cluster": []any{"none"}, "AppType": []any{"Default"}})
	for path, want := range map[string]string{
		"categories/butler-cluster/demo": "409 ENTITY_DELETION_FAILED: Category butler-cluster:demo cannot be deleted: it is assigned to vm " + text(vm, "metadata.uuid"),
		"categories/butler-cluster":      "409 ENTITY_DELETION_FAILED: Category butler-cluster cannot be deleted: it has 1 values",
	} {
		if got := f.call(t, http.MethodDelete, path, nil).reason(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	f.wait(t, f.do(t, http.MethodDelete, "vms/"+text(vm, "metadata.uuid"), nil))
	for _, path := range []string{"categories/butler-cluster/demo", "categories/butler-cluster"} {
		if a := f.call(t, http.MethodDelete, path, nil); a.status != http.StatusOK || a.text != "" {
			t.Errorf("%s: %s", path, a.reason())
		}
	}
	if got := f.call(t, http.MethodGet, "categories/butler-cluster", nil); got.status != http.StatusNotFound {
		t.Errorf("it is still there: %s", got.text)
	}
}

// hasCategory demands how many entities have one of the categories.
func (f *fixture) hasCategory(t *testing.T, count int, params object) {
	t.Helper()
	got := f.do(t, http.MethodPost, "category/query", object{"usage_type": "APPLIED_TO", "category_filter": object{"type": "CATEGORIES_MATCH_ANY", "params": params}})
	if text(got, "metadata.total_matches") != strconv.Itoa(count) || len(got["results"].([]any)) != count {
		t.Errorf("%v: %v", params, got)
	}
}

func TestStorageContainersAreFoundByGroups(t *testing.T) {
	f := start(t)
	query := object{"entity_type": "storage_container", "group_member_attributes": []any{
		object{"attribute": "container_name"}, object{"attribute": "cluster"}, object{"attribute": "storage.user_free_bytes"}, object{"attribute": "colour"},
	}}
	found := f.do(t, http.MethodPost, "groups", query)
	if text(found, "filtered_entity_count") != "2" {
		t.Fatalf("found: %v", found)
	}
	query["filter_criteria"] = "container_name==SelfServiceContainer"
	one := at(f.do(t, http.MethodPost, "groups", query), "group_results.0.entity_results.0")
	if text(one, "data.0.values.0.values.0") != "SelfServiceContainer" || text(one, "data.1.values.0.values.0") != clusterID || text(one, "data.3.values") != "[]" {
		t.Errorf("found: %v", one)
	}
	free := text(one, "data.2.values.0.values.0")
	f.create(t, machine("a"))
	one = at(f.do(t, http.MethodPost, "groups", query), "group_results.0.entity_results.0")
	if text(one, "data.2.values.0.values.0") == free {
		t.Error("the disk of a VM uses nothing")
	}
	query["filter_criteria"] = "container_name==none"
	if got := f.do(t, http.MethodPost, "groups", query); text(got, "group_results") != "[]" {
		t.Errorf("found: %v", got)
	}
}
