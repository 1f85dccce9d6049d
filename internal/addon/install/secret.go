// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
)

// provide writes the Secret that an addon reads.
func (t task) provide(ctx context.Context) error {
	if t.Secret == nil {
		return nil
	}
	credentials, err := t.credentials(nil)
	if err != nil {
		return fmt.Errorf("read the credentials of the cluster's ProviderConfig: %w", err)
	}
	data, err := t.Secret.Data(credentials)
	if err != nil {
		return err
	}
	s := applycorev1.Secret(t.Secret.Name, t.Secret.Namespace).WithLabels(labels()).WithType(corev1.SecretTypeOpaque).WithData(data)
	if _, err := t.kubernetes.core.Secrets(t.Secret.Namespace).Apply(ctx, s, force()); err != nil {
		return fmt.Errorf("write Secret %s/%s: %w", t.Secret.Namespace, t.Secret.Name, err)
	}
	return nil
}

// credentials reads a Secret of the plane. A cluster whose ProviderConfig names
// none has none.
func (t task) credentials(ref *v1alpha1.SecretReference) (map[string][]byte, error) {
	if ref == nil && t.Platform.CredentialsRef == nil || t.Credentials == nil {
		return nil, nil
	}
	return t.Credentials(ref)
}

// fromCredentials reports whether an addon uses credentials.
func fromCredentials(a addon.Addon) bool { return a.Secret != nil || len(a.Providers) > 0 }

// variables are what the components of each provider are completed with.
func (t task) variables() (map[string]map[string]string, error) {
	out := map[string]map[string]string{}
	for _, p := range t.Providers {
		values, err := t.variablesOf(p)
		if err != nil {
			return nil, err
		}
		out[providerKey(p)] = values
	}
	return out, nil
}

func providerKey(p addon.Provider) string { return string(p.Kind) + "/" + p.Name }

// variablesOf reads the credentials that belong to a provider: those that it
// names itself, or those of the cluster on its own platform.
func (t task) variablesOf(p addon.Provider) (map[string]string, error) {
	if len(p.Variables) == 0 {
		return nil, nil
	}
	var credentials map[string][]byte
	if p.Credentials != nil || p.Platform == t.Platform.Provider {
		var err error
		if credentials, err = t.credentials(p.Credentials); err != nil {
			return nil, fmt.Errorf("read the credentials for Cluster API's provider %s: %w", p.Name, err)
		}
	}
	return addon.Variables(p, t.Platform, credentials)
}
