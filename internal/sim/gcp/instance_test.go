// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"net/http"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/gcp"
)

const instances = "/zones/" + zone + "/instances"

func TestAnInstanceLivesAndEnds(t *testing.T) {
	f := start(t, gcp.Seed{})
	f.succeed(t, http.MethodPost, instances, machine("cp-0"))
	i := f.get(t, instances+"/cp-0")
	if i["status"] != "RUNNING" || f.Boots.Load() != 1 {
		t.Fatalf("the instance is %v, booted %d times", i["status"], f.Boots.Load())
	}
	if d := f.get(t, "/zones/"+zone+"/disks/cp-0"); d["sizeGb"] != "20" || d["users"] == nil {
		t.Errorf("its disk is %v", d)
	}
	f.succeed(t, http.MethodDelete, instances+"/cp-0", nil)
	for _, path := range []string{instances + "/cp-0", "/zones/" + zone + "/disks/cp-0"} {
		if status, body := f.call(http.MethodGet, path, nil); status != http.StatusNotFound {
			t.Errorf("%s still exists: %v", path, body)
		}
	}
}
