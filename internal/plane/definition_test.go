// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestAVersionThatIsServedIsWaitedFor: definitions of releases list older versions first that
// are served no more.
func TestAVersionThatIsServedIsWaitedFor(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/example.com/v1/teas" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer api.Close()
	d := &apiextensionsv1.CustomResourceDefinition{}
	d.Spec.Group, d.Spec.Names.Plural = "example.com", "teas"
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1alpha1"}, {Name: "v1", Served: true}}
	if err := awaitServed(t.Context(), api.Client(), api.URL, d); err != nil {
		t.Error(err)
	}
	d.Spec.Versions = d.Spec.Versions[:1]
	if err := awaitServed(t.Context(), api.Client(), api.URL, d); err == nil || !strings.Contains(err.Error(), "none of its versions") {
		t.Errorf("without a version to serve: %v", err)
	}
}
