// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"encoding/json"
	"testing"
	"time"

	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

const (
	audience = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/butler/providers/ci"
	emulator = "http://emulator.example:5000"
)

// jwt is a token of another identity provider that ends at this time.
func jwt(ends time.Time) string {
	return providertest.JWT(map[string]any{"iss": "https://ci.example", "sub": "x", "exp": ends.Unix()})
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
	if err := json.Unmarshal(f.Secret["serviceAccountKey"], &key); err != nil {
		t.Fatal(err)
	}
	altered := func(field, value string) string {
		all := map[string]any{}
		if err := json.Unmarshal(f.Secret["serviceAccountKey"], &all); err != nil {
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
	foreign := providertest.Foreign(t, "emulator.example")
	at := func(c *provider.Config) { c.Spec.GCP.Endpoint = emulator }
	providertest.Connect(t, Provider(), f.config(), f.Secret, map[string]providertest.Connection{
		"a key":                       {},
		"a key under its other name":  {Keys: map[string]string{"serviceAccountKey": "", "serviceAccount": string(f.Secret["serviceAccountKey"])}},
		"a federation":                {Keys: map[string]string{"serviceAccountKey": "", "externalAccount": impersonating, "subjectToken": jwt(ends)}, Ends: ends},
		"a federation without token":  {Keys: map[string]string{"serviceAccountKey": "", "externalAccount": impersonating}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsIncomplete},
		"another pool":                {Keys: map[string]string{"serviceAccountKey": "", "externalAccount": federation(func(d map[string]any) { d["audience"] = "//iam.googleapis.com/other" }), "subjectToken": jwt(ends)}, Ends: ends, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsRefused},
		"a token that has ended":      {Keys: map[string]string{"serviceAccountKey": "", "externalAccount": impersonating, "subjectToken": jwt(time.Now().Add(-time.Hour))}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsRefused},
		"another account":             {Keys: map[string]string{"serviceAccountKey": altered("client_email", "absent@butler-example.iam.gserviceaccount.com")}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsRefused},
		"a key that was deleted":      {Keys: map[string]string{"serviceAccountKey": altered("private_key_id", "0123")}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsRefused},
		"a key that is none":          {Keys: map[string]string{"serviceAccountKey": altered("private_key", "none")}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsIncomplete},
		"no JSON":                     {Keys: map[string]string{"serviceAccountKey": "key"}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsIncomplete},
		"no key":                      {Keys: map[string]string{"serviceAccountKey": "", "other": "x"}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsIncomplete},
		"an endpoint":                 {Change: at},
		"an endpoint of another":      {Change: func(c *provider.Config) { c.Spec.GCP.Endpoint = "http://other.example" }, Kind: provider.Invalid, Reason: provider.ReasonEndpointNotConfirmed},
		"a project that is not there": {Change: func(c *provider.Config) { c.Spec.GCP.ProjectID = "another-project" }, Kind: provider.Unauthorized, Reason: provider.ReasonPermissionDenied},
		"an endpoint that is no GCP": {Change: func(c *provider.Config) {
			at(c)
			foreign(c)
		}, Kind: provider.Invalid, Reason: provider.ReasonEndpointForeign},
	})
}
