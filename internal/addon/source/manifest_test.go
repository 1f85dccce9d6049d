// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const gatewayAt = "https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.2.1/experimental-install.yaml"

const gatewayFile = `
# a comment, and nothing else
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: late}
---
---
apiVersion: v1
kind: List
items:
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: gateways.gateway.networking.k8s.io, creationTimestamp: null}
  status: {acceptedNames: {kind: "", plural: ""}}
- apiVersion: v1
  kind: Namespace
  metadata: {name: first}
`

func names(objects []*unstructured.Unstructured) (out []string) {
	for _, o := range objects {
		out = append(out, o.GetKind()+" "+o.GetName())
	}
	return out
}

func TestAManifestIsSplitAndOrdered(t *testing.T) {
	w := newFixture(t)
	w.files[gatewayAt] = []byte(gatewayFile)
	c := fetched(t, w.source(t, ""), gateway(), nil)
	want := []string{"Namespace first", "CustomResourceDefinition gateways.gateway.networking.k8s.io", "ValidatingAdmissionPolicy late"}
	if diff := cmp.Diff(want, names(c.Objects)); diff != "" {
		t.Error(diff)
	}
	if c.Origin != gatewayAt || c.Digest != digest([]byte(gatewayFile)) {
		t.Errorf("%s from %s", c.Digest, c.Origin)
	}
	definition := c.Objects[1].Object
	if _, has := definition["status"]; has {
		t.Error("the definition says how it stands, which is the cluster's to say")
	}
}

func TestAManifestThatCannotBeUsed(t *testing.T) {
	w := newFixture(t)
	s := w.source(t, "")
	var missing *Absent
	if err := refusal(t, s, gateway(), nil); !errors.As(err, &missing) || !strings.HasPrefix(err.Error(), "manifest gateway-api v1.2.1 is not at "+gatewayAt) {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"# nothing":                         "it has no objects",
		"kind: [":                           "cannot be read",
		"<html>sign in</html>":              "cannot be read",
		"apiVersion: v1\nkind: Namespace\n": "object 1 of it lacks apiVersion, kind or metadata.name",
	} {
		w.files[gatewayAt] = []byte(text)
		if err := refusal(t, s, gateway(), nil); !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
