// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// lifetime is that of the credentials in a Secret: a token of another identity provider
// ends by itself.
func lifetime(c provider.Credentials) provider.Lifetime {
	token := c.Get(v1alpha1.KeyFederatedToken)
	if token == nil || c.Get(v1alpha1.KeyClientSecret) != nil || c.Get(v1alpha1.KeyClientCertificate) != nil {
		return provider.Lifetime{}
	}
	return provider.Lifetime{Temporary: true, Ends: cloud.TokenEnds(string(token))}
}
