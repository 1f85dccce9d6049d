// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/discovery"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

func TestInstallMakesTheKindsServed(t *testing.T) {
	p := planetest.Start(t, plane.Options{Definitions: []*apiextensionsv1.CustomResourceDefinition{}})
	t.Setenv("KUBECONFIG", p.KubeconfigPath())
	const again = 2 // installing over an older installation is the usual case
	for range again {
		if err := install(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	served, err := discovery.NewDiscoveryClientForConfigOrDie(p.Config()).ServerResourcesForGroupVersion("butler.butlerlabs.dev/v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	if len(served.APIResources) == 0 {
		t.Error("the API server serves no kind of the group")
	}
}
