// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/provider"
)

const (
	audience = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/butler/providers/ci"
	emulator = "http://emulator.example:5000"
)

// jwt is a token of another identity provider that ends at this time.
func jwt(ends time.Time) string {
	encode := base64.RawURLEncoding.EncodeToString
	return strings.Join([]string{encode([]byte(`{"alg":"RS256"}`)), encode(fmt.Appendf(nil, `{"iss":"https://ci.example","sub":"x","exp":%d}`, ends.Unix())), encode([]byte("signature"))}, ".")
}

// federation is the configuration file of a federation.
func federation(change ...func(map[string]any)) string {
	d := map[string]any{
		"type": typeExternal, "audience": audience, "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": stsURL,
		"credential_source": map[string]any{"file": "/var/run/token"},
	}
	for _, c := range change {
		c(d)
	}
	content, _ := json.Marshal(d) //nolint:errchkjson // a map of texts
	return string(content)
}

// TestEveryKindOfCredentials connects with each kind, lists with it, and is refused with
// what to do where it is wrong.
func TestEveryKindOfCredentials(t *testing.T) {
	f := newFixture(t, sim.Seed{Plain: []string{"emulator.example:5000"}, Endpoint: emulator, Pools: []string{audience}})
	ends := time.Now().Add(time.Hour).Truncate(time.Second)
	var key document
	if err := json.Unmarshal(f.credentials["serviceAccountKey"], &key); err != nil {
		t.Fatal(err)
	}
	altered := func(field, value string) string {
		all := map[string]any{}
		if err := json.Unmarshal(f.credentials["serviceAccountKey"], &all); err != nil {
			t.Fatal(err)
		}
		all[field] = value
		content, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	impersonating := federation(func(d map[string]any) {
		d["service_account_impersonation_url"] = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/" + key.ClientEmail + ":generateAccessToken"
	})
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>a wiki</html>")) }))
	defer foreign.Close()
	at := func(c *provider.Config) { c.Spec.GCP.Endpoint = emulator }
	for name, c := range map[string]struct {
		keys   map[string]string // "" removes one
		change func(*provider.Config)
		kind   provider.Kind
		reason string
		ends   time.Time
	}{
		"a key":                       {},
		"a key under its other name":  {keys: map[string]string{"serviceAccountKey": "", "serviceAccount": string(f.credentials["serviceAccountKey"])}},
		"a federation":                {keys: map[string]string{"serviceAccountKey": "", "externalAccount": impersonating, "subjectToken": jwt(ends)}, ends: ends},
		"a federation without token":  {keys: map[string]string{"serviceAccountKey": "", "externalAccount": impersonating}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsIncomplete},
		"another pool":                {keys: map[string]string{"serviceAccountKey": "", "externalAccount": federation(func(d map[string]any) { d["audience"] = "//iam.googleapis.com/other" }), "subjectToken": jwt(ends)}, ends: ends, kind: provider.Unauthorized, reason: provider.ReasonCredentialsRefused},
		"a token that has ended":      {keys: map[string]string{"serviceAccountKey": "", "externalAccount": impersonating, "subjectToken": jwt(time.Now().Add(-time.Hour))}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsRefused},
		"another account":             {keys: map[string]string{"serviceAccountKey": altered("client_email", "nobody@butler-example.iam.gserviceaccount.com")}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsRefused},
		"a key that was deleted":      {keys: map[string]string{"serviceAccountKey": altered("private_key_id", "0123")}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsRefused},
		"a key that is none":          {keys: map[string]string{"serviceAccountKey": altered("private_key", "none")}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsIncomplete},
		"no JSON":                     {keys: map[string]string{"serviceAccountKey": "key"}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsIncomplete},
		"no key":                      {keys: map[string]string{"serviceAccountKey": "", "other": "x"}, kind: provider.Unauthorized, reason: provider.ReasonCredentialsIncomplete},
		"an endpoint":                 {change: at},
		"an endpoint of another":      {change: func(c *provider.Config) { c.Spec.GCP.Endpoint = "http://other.example" }, kind: provider.Invalid, reason: provider.ReasonEndpointNotConfirmed},
		"a project that is not there": {change: func(c *provider.Config) { c.Spec.GCP.ProjectID = "another-project" }, kind: provider.Unauthorized, reason: provider.ReasonPermissionDenied},
		"an endpoint that is no GCP": {change: func(c *provider.Config) {
			at(c)
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
				if len(v) > 20 && strings.Contains(err.Error(), v) {
					t.Errorf("the error repeats a value: %v", err)
				}
			}
		})
	}
}
