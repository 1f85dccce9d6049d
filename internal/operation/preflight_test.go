// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/provider"
)

func TestCredentialsThatExpireAreForAClusterThatStaysHere(t *testing.T) {
	end := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		lifetime      provider.Lifetime
		moves, accept bool
		want          provider.Verdict
		says          string
	}{
		"they do not expire":       {moves: true},
		"the plane stays here":     {lifetime: provider.Lifetime{Temporary: true, Ends: end}},
		"the cluster takes over":   {lifetime: provider.Lifetime{Temporary: true, Ends: end}, moves: true, want: provider.Refused, says: "expire at 2030-01-02T03:04:05Z"},
		"their end is not known":   {lifetime: provider.Lifetime{Temporary: true}, moves: true, want: provider.Refused, says: "are temporary"},
		"the user accepts the end": {lifetime: provider.Lifetime{Temporary: true, Ends: end}, moves: true, accept: true, want: provider.Unknown, says: "expire at"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &Operation{AcceptExpiring: c.accept}
			var got provider.Verdict
			for _, f := range o.checkLifetime(c.lifetime, c.moves) {
				got = f.Verdict
				if !strings.Contains(f.Message, c.says) || f.Hint == "" {
					t.Errorf("%+v", f)
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestAddonsNeedCredentialsBeforeThereAreMachines(t *testing.T) {
	m := &manifest.Manifest{Cluster: &v1alpha1.ClusterBootstrap{}, Provider: &v1alpha1.ProviderConfig{}}
	m.Provider.Spec = v1alpha1.ProviderConfigSpec{
		Provider: v1alpha1.ProviderAWS, AWS: &v1alpha1.AWSSpec{Region: "eu-central-1"}, CredentialsRef: &v1alpha1.SecretReference{Name: "aws"},
	}
	m.Cluster.Spec.Provider, m.Cluster.Spec.Cluster.Name, m.Cluster.Spec.Talos.Version = v1alpha1.ProviderAWS, "mgmt", "v1.9.2"
	for key, refused := range map[string]bool{v1alpha1.KeyWebIdentityToken: true, v1alpha1.KeyAccessKeyID: false} {
		secret := &corev1.Secret{Data: map[string][]byte{key: []byte("canary"), v1alpha1.KeySecretAccessKey: []byte("canary")}}
		found := checkAddons(m, secret)
		if (len(found) > 0) != refused {
			t.Errorf("with %s: %+v", key, found)
		}
		for _, f := range found {
			if f.Verdict != provider.Refused || !strings.Contains(f.Message, v1alpha1.KeyAccessKeyID) || strings.Contains(f.Message, "canary") {
				t.Errorf("%+v", f)
			}
		}
	}
}
