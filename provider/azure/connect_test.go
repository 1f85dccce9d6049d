// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/provider"
)

// federated is a token of another identity provider that ends at this time.
func federated(subject string, ends time.Time) string {
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Appendf(nil, `{"iss":"https://issuer.example","sub":%q,"aud":"api://AzureADTokenExchange","exp":%d}`, subject, ends.Unix())
	return strings.Join([]string{encode([]byte(`{"alg":"RS256"}`)), encode(claims), encode([]byte("signature"))}, ".")
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
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>a wiki</html>")) }))
	defer foreign.Close()
	instead := func(key, value string) map[string]string { return map[string]string{"clientSecret": "", key: value} }
	const refused = provider.Unauthorized
	for name, c := range map[string]struct {
		keys   map[string]string // "" removes one
		change func(*provider.Config)
		kind   provider.Kind
		reason string
		ends   time.Time
	}{
		"a secret":                     {},
		"a certificate":                {keys: instead("clientCertificate", both)},
		"another certificate":          {keys: instead("clientCertificate", other), kind: refused, reason: provider.ReasonCredentialsRefused},
		"a certificate without a key":  {keys: instead("clientCertificate", public), kind: refused, reason: provider.ReasonCredentialsIncomplete},
		"a federated token":            {keys: instead("federatedToken", federated("butler", ends)), ends: ends},
		"one of another subject":       {keys: instead("federatedToken", federated("other", ends)), kind: refused, reason: provider.ReasonCredentialsRefused},
		"one that has expired":         {keys: instead("federatedToken", federated("butler", time.Now().Add(-time.Hour))), kind: refused, reason: provider.ReasonCredentialsRefused},
		"a wrong secret":               {keys: map[string]string{"clientSecret": "wrong-secret-that-is-long"}, kind: refused, reason: provider.ReasonCredentialsRefused},
		"an unknown client":            {keys: map[string]string{"clientID": "3f2c8a51-7d0e-4b6a-9c1d-000000000000"}, kind: refused, reason: provider.ReasonCredentialsRefused},
		"an unknown tenant":            {keys: map[string]string{"tenantID": "3f2c8a51-7d0e-4b6a-9c1d-000000000000"}, kind: refused, reason: provider.ReasonCredentialsRefused},
		"no tenant":                    {keys: map[string]string{"tenantID": ""}, kind: refused, reason: provider.ReasonCredentialsIncomplete},
		"no secret":                    {keys: map[string]string{"clientSecret": ""}, kind: refused, reason: provider.ReasonCredentialsIncomplete},
		"another subscription's":       {keys: map[string]string{"subscriptionID": "3f2c8a51-7d0e-4b6a-9c1d-000000000000"}, kind: provider.Invalid, reason: provider.ReasonFieldUnsupported},
		"an endpoint":                  {change: func(c *provider.Config) { c.Spec.Azure.Endpoint = "http://arm.example:8080" }},
		"an endpoint of another":       {change: func(c *provider.Config) { c.Spec.Azure.Endpoint = "http://other.example" }, kind: provider.Invalid, reason: provider.ReasonEndpointNotConfirmed},
		"an authority of another":      {change: func(c *provider.Config) { c.Spec.Azure.AuthorityHost = "https://other.example" }, kind: provider.Invalid, reason: provider.ReasonEndpointNotConfirmed},
		"an authority without TLS":     {change: func(c *provider.Config) { c.Spec.Azure.AuthorityHost = "http://other.example" }, kind: provider.Invalid, reason: provider.ReasonFieldUnsupported},
		"a subscription that is gone":  {keys: map[string]string{"subscriptionID": ""}, change: func(c *provider.Config) { c.Spec.Azure.SubscriptionID = "3f2c8a51-7d0e-4b6a-9c1d-000000000000" }, kind: provider.Invalid, reason: provider.ReasonNotFound},
		"a resource group that is not": {change: func(c *provider.Config) { c.Spec.Azure.ResourceGroup = "other" }, kind: provider.Invalid, reason: provider.ReasonNotFound},
		"no network": {change: func(c *provider.Config) {
			c.Transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Err: fmt.Errorf("refused")}
			}
		}, kind: provider.Unavailable, reason: provider.ReasonPlatformUnavailable},
		"an endpoint that is no Azure": {change: func(c *provider.Config) {
			c.Spec.Azure.Endpoint = "http://arm.example:8080"
			dial := c.Transport.DialContext
			c.Transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				if strings.HasPrefix(address, "arm.example") {
					return (&net.Dialer{}).DialContext(ctx, network, foreign.Listener.Addr().String())
				}
				return dial(ctx, network, address)
			}
		}, kind: provider.Invalid, reason: reasonEndpointForeign},
	} {
		t.Run(name, func(t *testing.T) {
			data := maps.Clone(f.credentials)
			for k, v := range c.keys {
				if data[k] = []byte(v); v == "" {
					delete(data, k)
				}
			}
			config := f.config(func(p *provider.Config) { p.Credentials = provider.NewCredentials(data) })
			if c.change != nil {
				c.change(&config)
			}
			p, err := Provider().Open(t.Context(), config)
			if err == nil {
				defer p.Close()
				_, err = p.Machines.List(t.Context(), provider.Owner{ID: "x"})
			}
			if c.kind == "" {
				if err != nil || !p.Lifetime.Ends.Equal(c.ends) || p.Lifetime.Temporary != !c.ends.IsZero() {
					t.Errorf("%v, lifetime %+v", err, p.Lifetime)
				}
				return
			}
			if err == nil || provider.KindOf(err) != c.kind || provider.ReasonOf(err) != c.reason {
				t.Fatalf("%v is %s, want %s %s", err, provider.ReasonOf(err), c.kind, c.reason)
			}
			for k, v := range c.keys {
				if len(v) > 20 && !strings.HasSuffix(k, "ID") && strings.Contains(err.Error(), v) {
					t.Errorf("the error repeats a value: %v", err)
				}
			}
		})
	}
}
