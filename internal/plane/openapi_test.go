// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// The schemas are built at the first request for them: it has to find all of them.
func TestSchemasOfAllKindsArePublishedAtTheFirstRequest(t *testing.T) {
	p := planetest.Start(t, plane.Options{})
	client := discovery.NewDiscoveryClientForConfigOrDie(p.Config())
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	groups, err := client.ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			path := strings.Replace("apis/"+v.GroupVersion, "apis/v1", "api/v1", 1)
			if _, ok := paths[path]; !ok {
				t.Errorf("%s is served, and has no schema", v.GroupVersion)
			}
		}
	}
	schema, err := paths["apis/butler.butlerlabs.dev/v1alpha1"].Schema("application/json")
	if err != nil {
		t.Fatal(err)
	}
	document := struct {
		Components struct{ Schemas map[string]any }
	}{}
	if err := json.Unmarshal(schema, &document); err != nil {
		t.Fatal(err)
	}
	if _, ok := document.Components.Schemas["dev.butlerlabs.butler.v1alpha1.MachineRequest"]; !ok {
		t.Error("there is no schema of a MachineRequest")
	}
	if v2, err := client.OpenAPISchema(); err != nil || len(v2.GetDefinitions().GetAdditionalProperties()) == 0 {
		t.Errorf("the second version: %v", err)
	}
}
