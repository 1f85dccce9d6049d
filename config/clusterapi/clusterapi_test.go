// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi_test

import (
	"os"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/butlerdotdev/butler/config/clusterapi"
)

// releases are all that the package has definitions of.
func releases(t *testing.T) [][2]string {
	t.Helper()
	out := [][2]string{{clusterapi.Harvester, "v0.2.9"}, {clusterapi.Steward, "v0.3.0"}, {clusterapi.Kamaji, "v0.14.2"}}
	entries, err := os.ReadDir("definitions")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".json")
		i := strings.LastIndex(name, "-v")
		out = append(out, [2]string{name[:i], name[i+1:]})
	}
	return out
}

func TestEveryDefinitionCanBeServed(t *testing.T) {
	for _, r := range releases(t) {
		all, err := clusterapi.Definitions(r[0], r[1])
		if err != nil || len(all) == 0 {
			t.Fatalf("%v: %v, %d definitions", r, err, len(all))
		}
		for _, d := range all {
			checkDefinition(t, d)
		}
	}
}

// checkDefinition fails unless one version is stored, and every schema is structural.
func checkDefinition(t *testing.T, d *clusterapi.Definition) {
	t.Helper()
	stored := 0
	for _, v := range d.Spec.Versions {
		if v.Storage {
			stored++
		}
		internal := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, internal, nil); err != nil {
			t.Fatal(err)
		}
		s, err := schema.NewStructural(internal)
		if err != nil {
			t.Fatalf("%s %s: %v", d.Name, v.Name, err)
		}
		if errs := schema.ValidateStructural(nil, s); len(errs) > 0 {
			t.Errorf("%s %s: %v", d.Name, v.Name, errs)
		}
		if v.Schema.OpenAPIV3Schema.Description != "" {
			t.Errorf("%s %s has descriptions", d.Name, v.Name)
		}
	}
	if stored != 1 {
		t.Errorf("%s stores %d versions", d.Name, stored)
	}
	for key, versions := range d.Labels {
		if !strings.HasPrefix(key, "cluster.x-k8s.io/v1beta") || versions == "" {
			t.Errorf("%s: %s: %s", d.Name, key, versions)
		}
	}
}

func TestAReleaseWithoutDefinitionsIsAnError(t *testing.T) {
	for _, r := range [][2]string{{clusterapi.AWS, "v0.0.1"}, {clusterapi.Steward, "v0.0.1"}, {"vsphere", "v1.0.0"}} {
		if _, err := clusterapi.Definitions(r[0], r[1]); err == nil {
			t.Errorf("%v has definitions", r)
		}
	}
}
