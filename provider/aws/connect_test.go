// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/provider"
)

// jwt is a token of another identity provider that ends at this time.
func jwt(ends time.Time) string {
	encode := base64.RawURLEncoding.EncodeToString
	return strings.Join([]string{encode([]byte(`{"alg":"RS256"}`)), encode(fmt.Appendf(nil, `{"sub":"x","exp":%d}`, ends.Unix())), encode([]byte("signature"))}, ".")
}

// TestEveryKindOfCredentials connects with each kind, lists with it, and is refused with
// what to do where it is wrong.
func TestEveryKindOfCredentials(t *testing.T) {
	f := newFixture(t, sim.Seed{Plain: []string{"emulator.example:5000"}, Endpoint: "http://emulator.example:5000", Roles: []sim.Role{{Name: "butler", ExternalID: "x-1"}, {Name: "web", WebIdentity: true}}})
	const role = "arn:aws:iam::111122223333:role/"
	ends := time.Now().Add(time.Hour).Truncate(time.Second)
	emulator := func(c *provider.Config) { c.Spec.AWS.Endpoint = "http://emulator.example:5000" }
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>a wiki</html>")) }))
	defer foreign.Close()
	for name, c := range map[string]struct {
		keys   map[string]string // "" removes one
		change func(*provider.Config)
		kind   provider.Kind
		reason string
		ends   time.Time
	}{
		"keys":                      {},
		"a role":                    {keys: map[string]string{"roleARN": role + "butler", "externalID": "x-1"}},
		"a role, wrong external id": {keys: map[string]string{"roleARN": role + "butler", "externalID": "x-2"}, kind: provider.Unauthorized, reason: provider.ReasonPermissionDenied},
		"a role that is not there":  {keys: map[string]string{"roleARN": role + "other"}, kind: provider.Unauthorized, reason: provider.ReasonPermissionDenied},
		"web identity":              {keys: map[string]string{"accessKeyID": "", "secretAccessKey": "", "roleARN": role + "web", "webIdentityToken": jwt(ends)}, ends: ends},
		"web identity, no role":     {keys: map[string]string{"webIdentityToken": jwt(ends)}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsIncomplete},
		"a wrong key":               {keys: map[string]string{"secretAccessKey": "wrong"}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsRefused},
		"an unknown id":             {keys: map[string]string{"accessKeyID": "AKIAIOSFODNN7EXAMPLE"}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsRefused},
		"a wrong token":             {keys: map[string]string{"sessionToken": "wrong"}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsRefused},
		"half the keys":             {keys: map[string]string{"secretAccessKey": ""}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsIncomplete},
		"an endpoint":               {change: emulator},
		"an endpoint of another":    {change: func(c *provider.Config) { c.Spec.AWS.Endpoint = "http://other.example" }, kind: provider.Invalid, reason: provider.ReasonEndpointNotConfirmed},
		"another region":            {change: func(c *provider.Config) { c.Spec.AWS.Region = "mars-north-1" }, kind: provider.Unavailable, reason: provider.ReasonPlatformUnreachable},
		"an endpoint that is no AWS": {change: func(c *provider.Config) {
			emulator(c)
			c.Transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, foreign.Listener.Addr().String())
			}
		}, kind: provider.Invalid, reason: provider.ReasonEndpointForeign},
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
			for _, v := range c.keys {
				if len(v) > 20 && !strings.HasPrefix(v, "arn:") && strings.Contains(err.Error(), v) {
					t.Errorf("the error repeats a value: %v", err)
				}
			}
		})
	}
}

func TestLifetimeOfSessionTokens(t *testing.T) {
	at := "2026-11-16T12:00:00Z"
	for name, c := range map[string]struct {
		data map[string]string
		want string
	}{
		"keys":                   {map[string]string{v1alpha1.KeyAccessKeyID: "A"}, "false 0001-01-01T00:00:00Z"},
		"a token":                {map[string]string{v1alpha1.KeySessionToken: "T"}, "true 0001-01-01T00:00:00Z"},
		"a token with its end":   {map[string]string{v1alpha1.KeySessionToken: "T", v1alpha1.KeyExpiration: at}, "true " + at},
		"a web token that is no": {map[string]string{v1alpha1.KeyWebIdentityToken: "opaque"}, "true 0001-01-01T00:00:00Z"},
	} {
		data := map[string][]byte{}
		for k, v := range c.data {
			data[k] = []byte(v)
		}
		l := lifetime(provider.NewCredentials(data))
		if got := fmt.Sprint(l.Temporary, " ", l.Ends.UTC().Format(time.RFC3339)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
