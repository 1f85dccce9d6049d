// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package simtest

import (
	"crypto/x509"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/provider"
)

// Platform is a simulated platform for the tests of its driver.
type Platform struct {
	*Simulator
	// Secret is the data of the ProviderConfig's Secret.
	Secret map[string][]byte
	// Roots has the authority of the platform's certificates.
	Roots *x509.CertPool
}

// Run starts a platform with a seed. It ends with the test.
func Run(t testing.TB, p facade.Platform, seed any) *Platform {
	t.Helper()
	s, err := Start(t.Context(), Options{Dir: t.TempDir(), Platform: p, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	out := &Platform{Simulator: s, Roots: x509.NewCertPool()}
	if out.Secret, err = s.Credentials(); err != nil {
		t.Fatal(err)
	}
	out.Roots.AppendCertsFromPEM(s.authority.Certificate())
	return out
}

// Config returns that of a ProviderConfig, over the simulated network.
func (p *Platform) Config(name string, spec v1alpha1.ProviderConfigSpec, change ...func(*provider.Config)) provider.Config {
	c := provider.Config{ProviderConfig: &v1alpha1.ProviderConfig{Spec: spec}}
	c.Name = name
	c.Credentials = provider.NewCredentials(p.Secret)
	c.Transport = provider.Transport{DialContext: p.Network.Dial, RootCAs: p.Roots}
	for _, f := range change {
		f(&c)
	}
	return c
}

// Open opens a connection that works. It ends with the test.
func Open(t testing.TB, p provider.Provider, c provider.Config) provider.Platform {
	t.Helper()
	opened, err := p.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	return opened
}
