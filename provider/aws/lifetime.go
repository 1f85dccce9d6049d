// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"strings"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// lifetime is that of the credentials in a Secret. A session token does not say when it
// ends; the key expiration may. A role that keys assume is renewed.
func lifetime(c provider.Credentials) provider.Lifetime {
	if token := c.Get(v1alpha1.KeyWebIdentityToken); token != nil {
		return provider.Lifetime{Temporary: true, Ends: cloud.TokenEnds(string(token))}
	}
	if c.Get(v1alpha1.KeySessionToken) == nil {
		return provider.Lifetime{}
	}
	ends, _ := time.Parse(time.RFC3339, strings.TrimSpace(string(c.Get(v1alpha1.KeyExpiration)))) // else unknown
	return provider.Lifetime{Temporary: true, Ends: ends}
}
