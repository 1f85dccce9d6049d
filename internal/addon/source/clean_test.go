// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func definition(t *testing.T, bundle, rules string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	err := yaml.Unmarshal(fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: teas.example.com, creationTimestamp: null}
spec:
  conversion: {webhook: {clientConfig: {caBundle: %q}}}
  versions: [{schema: {openAPIV3Schema: {properties: {spec: {x-kubernetes-validations: %s}}}}}]
status: {storedVersions: [v1]}
`, bundle, rules), &o.Object)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestDefinitionsLoseWhatNoAPIServerTakes(t *testing.T) {
	const placeholder, authority = "Cg==", "LS0tLS1CRUdJTg=="
	for reason, tc := range map[string]struct{ bundle, rules, wantBundle, wantRules string }{
		"a placeholder is no authority": {placeholder, "[]", "", "[]"},
		"an authority stays":            {authority, "[]", authority, "[]"},
		"a rule is there once":          {"", "[{rule: a, message: x}, {rule: b}, {rule: a, message: y}]", "", "[{rule: a, message: x}, {rule: b}]"},
	} {
		got, want := definition(t, tc.bundle, tc.rules), definition(t, tc.wantBundle, tc.wantRules)
		if tc.wantBundle == "" {
			unstructured.RemoveNestedField(want.Object, "spec", "conversion", "webhook", "clientConfig", "caBundle")
		}
		unstructured.RemoveNestedField(want.Object, "status")
		unstructured.RemoveNestedField(want.Object, "metadata", "creationTimestamp")
		clean(got)
		if diff := cmp.Diff(want.Object, got.Object); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}
