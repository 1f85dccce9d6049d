// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// login: the credentials have several keys.
func login() provider.Login { return provider.Login{Place: place} }

// place names the region and, where it is set, the endpoint.
func place(config *v1alpha1.ProviderConfig, c provider.Credentials) (at []string) {
	a := config.Spec.AWS
	if a == nil {
		return nil
	}
	if a.Endpoint != "" {
		at = append(at, a.Endpoint)
	}
	at = append(at, "region "+a.Region)
	if role := string(c.Get(v1alpha1.KeyRoleARN)); role != "" {
		at = append(at, "role "+role)
	}
	return at
}
