// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

func TestPlaceIsNamedWithoutItsCredentials(t *testing.T) {
	const kubeconfig = `{"current-context":"c","contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}],` +
		`"clusters":[{"name":"k","cluster":{"server":"https://harvester.example.com"}}],"users":[{"name":"u","user":{"token":"canary"}}]}`
	config := &v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{Harvester: &v1alpha1.HarvesterSpec{Namespace: "tenants"}}}
	config.Name = "harvester-dev"
	s := Site{Config: config, Secret: &corev1.Secret{Data: map[string][]byte{operation.KubeconfigKey: []byte(kubeconfig)}}}
	if got, want := s.Place(), "harvester-dev (https://harvester.example.com, namespace tenants)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Secret = nil
	if got, want := s.Place(), "harvester-dev (namespace tenants)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnotherPlatformIsNotAskedWhatItHolds(t *testing.T) {
	platform := inmemory.New(inmemory.Options{})
	s := Site{Provider: platform.Provider(v1alpha1.ProviderHarvester), Config: &v1alpha1.ProviderConfig{}}
	s.Config.Status.Platform = "in-memory=first"
	_, err := s.ListHeld(t.Context(), provider.Owner{ClusterID: "1", Cluster: "mgmt"})
	if provider.ReasonOf(err) != request.ReasonPlatformChanged || platform.Calls(inmemory.List) > 0 {
		t.Errorf("%v, %d lists", err, platform.Calls(inmemory.List))
	}
}
