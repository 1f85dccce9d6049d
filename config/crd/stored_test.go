// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestStoredClusterBootstrapsKeepTheirStatusCredentials creates one under the earlier
// default, and reads and updates it under the present one.
func TestStoredClusterBootstrapsKeepTheirStatusCredentials(t *testing.T) {
	w := newFixture(t)
	w.defaultStatusCredentials("Inline")
	stored := w.apply(read(t, "examples/clusterbootstrap-single-node.yaml")[0])
	w.defaultStatusCredentials("SecretOnly")
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
		t.Fatal(err)
	}
	same(t, "spec.statusCredentials", stored, "Inline")
	set(stored.Object, "spec.paused", true)
	if err := w.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	same(t, "spec.statusCredentials", stored, "Inline")
}

// defaultStatusCredentials changes the definition, and waits until it is in force.
func (w *fixture) defaultStatusCredentials(value string) {
	w.Helper()
	definition := &unstructured.Unstructured{}
	definition.SetAPIVersion("apiextensions.k8s.io/v1")
	definition.SetKind("CustomResourceDefinition")
	definition.SetName("clusterbootstraps.butler.butlerlabs.dev")
	const path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/statusCredentials/default"
	patch := fmt.Appendf(nil, `[{"op": "replace", "path": %q, "value": %q}]`, path, value)
	if err := w.Patch(w.Context(), definition, client.RawPatch(types.JSONPatchType, patch)); err != nil {
		w.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		trial := read(w.T, "examples/clusterbootstrap-single-node.yaml")[0]
		trial.SetNamespace(w.namespace)
		trial.SetName("trial")
		if err := w.Create(w.Context(), trial, client.DryRunAll); err != nil {
			w.Fatal(err)
		}
		if got, _, _ := unstructured.NestedString(trial.Object, "spec", "statusCredentials"); got == value {
			return
		}
		if time.Now().After(deadline) {
			w.Fatal("the default does not change")
		}
	}
}
