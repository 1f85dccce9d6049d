// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/sim/nutanix/model"
)

// TestProblemsNameTheirPath: all of them, in the words of the platform's validation.
func TestProblemsNameTheirPath(t *testing.T) {
	const body = `{"metadata": {"kind": "vm", "categories": {"a": 1}}, "spec": {"name": "x", "resources": {
		"disk_list": [{}, {"disk_size_mib": 0, "device_properties": {"disk_address": {"adapter_type": "USB"}}}], "num_sockets": true, "cpu_hotplug_enabled": true}}}`
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	in := map[string]any{}
	if err := decoder.Decode(&in); err != nil {
		t.Fatal(err)
	}
	want := model.Problems{
		"metadata.categories.a":                                                  {"1 is not of type 'string'"},
		"spec.resources.num_sockets":                                             {"true is not of type 'integer'"},
		"spec.resources.disk_list.1.disk_size_mib":                               {"0 is less than the minimum of 1"},
		"spec.resources.disk_list.1.device_properties.disk_address":              {"'device_index' is a required property"},
		"spec.resources.disk_list.1.device_properties.disk_address.adapter_type": {"'USB' is not one of ['SCSI', 'IDE', 'PCI', 'SATA', 'SPAPR']"},
	}
	if diff := cmp.Diff(want, model.Load().Check("vm_intent_input", in)); diff != "" {
		t.Error(diff)
	}
}

func TestNothingIsWrongWithAGoodBody(t *testing.T) {
	in := map[string]any{"kind": "vm", "length": json.Number("20"), "sort_order": "ASCENDING"}
	if problems := model.Load().Check("vm_list_metadata", in); problems != nil {
		t.Error(problems)
	}
}
