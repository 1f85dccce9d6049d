// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// lifetime is that of the credentials in a Secret: a token of another identity provider
// ends by itself.
func lifetime(c provider.Credentials) provider.Lifetime {
	token := c.Get(v1alpha1.KeyFederatedToken)
	if token == nil || c.Get(v1alpha1.KeyClientSecret) != nil || c.Get(v1alpha1.KeyClientCertificate) != nil {
		return provider.Lifetime{}
	}
	return provider.Lifetime{Temporary: true, Ends: claimedExpiry(string(token))}
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
