// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Spellings of Azure's own files.
const (
	keyClientIDOld = "clientId"
	keyTenantIDOld = "tenantId"
)

// credentialOf returns what tokens are requested with. Tokens are renewed while the
// connection is in use. The authority is that of the settings: it is not looked up
// elsewhere.
func credentialOf(op string, c provider.Config, base policy.ClientOptions) (azcore.TokenCredential, error) {
	keys := c.Credentials
	if keys.Empty() {
		one, err := azidentity.NewManagedIdentityCredential(&azidentity.ManagedIdentityCredentialOptions{ClientOptions: base})
		return checked(op, one, err)
	}
	tenant, client := string(keys.Get(v1alpha1.KeyTenantID, keyTenantIDOld)), string(keys.Get(v1alpha1.KeyClientID, keyClientIDOld))
	if tenant == "" || client == "" {
		return nil, provider.Unauthorized.New(op, provider.ReasonCredentialsIncomplete, errors.New("the Secret has no key "+v1alpha1.KeyTenantID+" or no key "+v1alpha1.KeyClientID), "set both")
	}
	secret, certificate, token := keys.Get(v1alpha1.KeyClientSecret), keys.Get(v1alpha1.KeyClientCertificate), keys.Get(v1alpha1.KeyFederatedToken)
	switch {
	case secret != nil:
		one, err := azidentity.NewClientSecretCredential(tenant, client, string(secret), &azidentity.ClientSecretCredentialOptions{ClientOptions: base, DisableInstanceDiscovery: true})
		return checked(op, one, err)
	case certificate != nil:
		return certified(op, tenant, client, certificate, base)
	case token != nil:
		assert := func(context.Context) (string, error) { return string(token), nil }
		one, err := azidentity.NewClientAssertionCredential(tenant, client, assert, &azidentity.ClientAssertionCredentialOptions{ClientOptions: base, DisableInstanceDiscovery: true})
		return checked(op, one, err)
	}
	return nil, provider.Unauthorized.New(op, provider.ReasonCredentialsIncomplete,
		errors.New("the Secret has none of the keys "+v1alpha1.KeyClientSecret+", "+v1alpha1.KeyClientCertificate+" and "+v1alpha1.KeyFederatedToken), "set one of them")
}

func certified(op, tenant, client string, content []byte, base policy.ClientOptions) (azcore.TokenCredential, error) {
	certificates, key, err := azidentity.ParseCertificates(content, nil)
	if err != nil {
		return nil, provider.Unauthorized.New(op, provider.ReasonCredentialsIncomplete, errors.New("the key "+v1alpha1.KeyClientCertificate+" has no certificate with its private key"), "set both in PEM")
	}
	one, err := azidentity.NewClientCertificateCredential(tenant, client, certificates, key, &azidentity.ClientCertificateCredentialOptions{ClientOptions: base, DisableInstanceDiscovery: true})
	return checked(op, one, err)
}

// checked maps what the SDK refuses before anything is sent, such as a tenant with
// characters that none has.
func checked(op string, one azcore.TokenCredential, err error) (azcore.TokenCredential, error) {
	if err != nil {
		return nil, provider.Unauthorized.New(op, provider.ReasonCredentialsIncomplete, err, "correct the keys of the Secret")
	}
	return one, nil
}
