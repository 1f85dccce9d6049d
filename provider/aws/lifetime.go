// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// lifetime is that of the credentials in a Secret. A session token does not say when it
// ends; the key expiration may. A role that keys assume is renewed.
func lifetime(c provider.Credentials) provider.Lifetime {
	if token := c.Get(v1alpha1.KeyWebIdentityToken); token != nil {
		return provider.Lifetime{Temporary: true, Ends: claimedExpiry(string(token))}
	}
	if c.Get(v1alpha1.KeySessionToken) == nil {
		return provider.Lifetime{}
	}
	ends, _ := time.Parse(time.RFC3339, strings.TrimSpace(string(c.Get(v1alpha1.KeyExpiration)))) // else unknown
	return provider.Lifetime{Temporary: true, Ends: ends}
}

// claimedExpiry reads the claim exp of a JSON web token; zero if there is none.
func claimedExpiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	var claims struct {
		Expiry int64 `json:"exp"`
	}
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(content, &claims) != nil || claims.Expiry == 0 {
		return time.Time{}
	}
	return time.Unix(claims.Expiry, 0)
}
