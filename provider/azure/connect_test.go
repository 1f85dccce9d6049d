// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"

	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// federated is a token of another identity provider that ends at this time.
func federated(subject string, ends time.Time) string {
	return providertest.JWT(map[string]any{"iss": "https://issuer.example", "sub": subject, "aud": "api://AzureADTokenExchange", "exp": ends.Unix()})
}

// certificate returns one in PEM, and the same with its key.
func certificate(t *testing.T) (public, both string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return public, public + string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// TestEveryKindOfCredentials connects with each kind, lists with it, and is refused with
// what to do where it is wrong.
func TestEveryKindOfCredentials(t *testing.T) {
	public, both := certificate(t)
	_, other := certificate(t)
	f := newFixture(t, sim.Seed{
		Certificate: public, Federated: []sim.Federation{{Issuer: "https://issuer.example", Subject: "butler"}}, Endpoint: "http://arm.example:8080", Plain: []string{"arm.example:8080"},
	})
	ends := time.Now().Add(time.Hour).Truncate(time.Second)
	foreign := providertest.Foreign(t, "arm.example")
	instead := func(key, value string) map[string]string { return map[string]string{"clientSecret": "", key: value} }
	const refused = provider.Unauthorized
	providertest.Connect(t, Provider(), f.config(), f.Secret, map[string]providertest.Connection{
		"a secret":                     {},
		"a certificate":                {Keys: instead("clientCertificate", both)},
		"another certificate":          {Keys: instead("clientCertificate", other), Kind: refused, Reason: provider.ReasonCredentialsRefused},
		"a certificate without a key":  {Keys: instead("clientCertificate", public), Kind: refused, Reason: provider.ReasonCredentialsIncomplete},
		"a federated token":            {Keys: instead("federatedToken", federated("butler", ends)), Ends: ends},
		"one of another subject":       {Keys: instead("federatedToken", federated("other", ends)), Kind: refused, Reason: provider.ReasonCredentialsRefused},
		"one that has expired":         {Keys: instead("federatedToken", federated("butler", time.Now().Add(-time.Hour))), Kind: refused, Reason: provider.ReasonCredentialsRefused},
		"a wrong secret":               {Keys: map[string]string{"clientSecret": "wrong-secret-that-is-long"}, Kind: refused, Reason: provider.ReasonCredentialsRefused},
		"an unknown client":            {Keys: map[string]string{"clientID": "3f2c8a51-7d0e-4b6a-9c1d-000000000000"}, Kind: refused, Reason: provider.ReasonCredentialsRefused},
		"an unknown tenant":            {Keys: map[string]string{"tenantID": "3f2c8a51-7d0e-4b6a-9c1d-000000000000"}, Kind: refused, Reason: provider.ReasonCredentialsRefused},
		"no tenant":                    {Keys: map[string]string{"tenantID": ""}, Kind: refused, Reason: provider.ReasonCredentialsIncomplete},
		"no secret":                    {Keys: map[string]string{"clientSecret": ""}, Kind: refused, Reason: provider.ReasonCredentialsIncomplete},
		"another subscription's":       {Keys: map[string]string{"subscriptionID": "3f2c8a51-7d0e-4b6a-9c1d-000000000000"}, Kind: provider.Invalid, Reason: provider.ReasonFieldUnsupported},
		"an endpoint":                  {Change: func(c *provider.Config) { c.Spec.Azure.Endpoint = "http://arm.example:8080" }},
		"an endpoint of another":       {Change: func(c *provider.Config) { c.Spec.Azure.Endpoint = "http://other.example" }, Kind: provider.Invalid, Reason: provider.ReasonEndpointNotConfirmed},
		"an authority of another":      {Change: func(c *provider.Config) { c.Spec.Azure.AuthorityHost = "https://other.example" }, Kind: provider.Invalid, Reason: provider.ReasonEndpointNotConfirmed},
		"an authority without TLS":     {Change: func(c *provider.Config) { c.Spec.Azure.AuthorityHost = "http://other.example" }, Kind: provider.Invalid, Reason: provider.ReasonFieldUnsupported},
		"a subscription that is gone":  {Keys: map[string]string{"subscriptionID": ""}, Change: func(c *provider.Config) { c.Spec.Azure.SubscriptionID = "3f2c8a51-7d0e-4b6a-9c1d-000000000000" }, Kind: provider.Invalid, Reason: provider.ReasonNotFound},
		"a resource group that is not": {Change: func(c *provider.Config) { c.Spec.Azure.ResourceGroup = "other" }, Kind: provider.Invalid, Reason: provider.ReasonNotFound},
		"no network": {Change: func(c *provider.Config) {
			c.Transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Err: fmt.Errorf("refused")}
			}
		}, Kind: provider.Unavailable, Reason: provider.ReasonPlatformUnavailable},
		"an endpoint that is no Azure": {Change: func(c *provider.Config) {
			c.Spec.Azure.Endpoint = "http://arm.example:8080"
			foreign(c)
		}, Kind: provider.Invalid, Reason: provider.ReasonEndpointForeign},
	})
}
