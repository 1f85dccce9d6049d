// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/operation"
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
