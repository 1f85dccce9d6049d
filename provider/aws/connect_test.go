// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// jwt is a token of another identity provider that ends at this time.
func jwt(ends time.Time) string {
	return providertest.JWT(map[string]any{"sub": "x", "exp": ends.Unix()})
}

// TestEveryKindOfCredentials connects with each kind, lists with it, and is refused with
// what to do where it is wrong.
func TestEveryKindOfCredentials(t *testing.T) {
	f := newFixture(t, sim.Seed{Plain: []string{"emulator.example:5000"}, Endpoint: "http://emulator.example:5000", Roles: []sim.Role{{Name: "butler", ExternalID: "x-1"}, {Name: "web", WebIdentity: true}}})
	const role = "arn:aws:iam::111122223333:role/"
	ends := time.Now().Add(time.Hour).Truncate(time.Second)
	emulator := func(c *provider.Config) { c.Spec.AWS.Endpoint = "http://emulator.example:5000" }
	foreign := providertest.Foreign(t, "emulator.example")
	providertest.Connect(t, Provider(), f.config(), f.Secret, map[string]providertest.Connection{
		"keys":                      {},
		"a role":                    {Keys: map[string]string{"roleARN": role + "butler", "externalID": "x-1"}},
		"a role, wrong external id": {Keys: map[string]string{"roleARN": role + "butler", "externalID": "x-2"}, Kind: provider.Unauthorized, Reason: provider.ReasonPermissionDenied},
		"a role that is not there":  {Keys: map[string]string{"roleARN": role + "other"}, Kind: provider.Unauthorized, Reason: provider.ReasonPermissionDenied},
		"web identity":              {Keys: map[string]string{"accessKeyID": "", "secretAccessKey": "", "roleARN": role + "web", "webIdentityToken": jwt(ends)}, Ends: ends},
		"web identity, no role":     {Keys: map[string]string{"webIdentityToken": jwt(ends)}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsIncomplete},
		"a wrong key":               {Keys: map[string]string{"secretAccessKey": "wrong"}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsRefused},
		"an unknown id":             {Keys: map[string]string{"accessKeyID": "AKIAIOSFODNN7EXAMPLE"}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsRefused},
		"a wrong token":             {Keys: map[string]string{"sessionToken": "wrong"}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsRefused},
		"half the keys":             {Keys: map[string]string{"secretAccessKey": ""}, Kind: provider.Unauthorized, Reason: provider.ReasonCredentialsIncomplete},
		"an endpoint":               {Change: emulator},
		"an endpoint of another":    {Change: func(c *provider.Config) { c.Spec.AWS.Endpoint = "http://other.example" }, Kind: provider.Invalid, Reason: provider.ReasonEndpointNotConfirmed},
		"another region":            {Change: func(c *provider.Config) { c.Spec.AWS.Region = "mars-north-1" }, Kind: provider.Unavailable, Reason: provider.ReasonPlatformUnreachable},
		"an endpoint that is no AWS": {Change: func(c *provider.Config) {
			emulator(c)
			foreign(c)
		}, Kind: provider.Invalid, Reason: provider.ReasonEndpointForeign},
	})
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
