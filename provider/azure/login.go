// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"errors"

	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// login: the credentials have several keys, in YAML or as Azure's own tools write them.
func login() provider.Login {
	return provider.Login{Usage: "YAML with the keys of the Secret, or the JSON that az ad sp create-for-rbac prints", Read: readFile, Fields: []string{"spec.azure.subscriptionID", "spec.azure.resourceGroup", "spec.azure.location"}, Place: place}
}

// place names the resource group and, where they are set, location and endpoint.
func place(config *v1alpha1.ProviderConfig, _ provider.Credentials) (at []string) {
	a := config.Spec.Azure
	if a == nil {
		return nil
	}
	if a.Endpoint != "" {
		at = append(at, a.Endpoint)
	}
	at = append(at, "subscription "+a.SubscriptionID, "resource group "+a.ResourceGroup)
	if a.Location != "" {
		at = append(at, "location "+a.Location)
	}
	return at
}

// keys returns the keys of the Secret by the names that Azure's tools have for them; those
// that are no credentials have none.
func keys() provider.Keys {
	all := provider.Keys{
		"appId": v1alpha1.KeyClientID, "password": v1alpha1.KeyClientSecret, "tenant": v1alpha1.KeyTenantID, "displayName": "", "name": "",
		keyClientIDOld: v1alpha1.KeyClientID, keyTenantIDOld: v1alpha1.KeyTenantID, "subscriptionId": v1alpha1.KeySubscriptionID,
		"activeDirectoryEndpointUrl": "", "resourceManagerEndpointUrl": "", "activeDirectoryGraphResourceId": "", "sqlManagementEndpointUrl": "",
		"galleryEndpointUrl": "", "managementEndpointUrl": "",
	}
	for _, k := range []string{
		v1alpha1.KeyClientID, v1alpha1.KeyClientSecret, v1alpha1.KeyTenantID, v1alpha1.KeySubscriptionID, v1alpha1.KeyClientCertificate, v1alpha1.KeyFederatedToken,
		v1alpha1.KeyEndpoint, v1alpha1.KeyAuthorityHost, v1alpha1.KeyCABundle,
	} {
		all[k] = k
	}
	return all
}

// readFile returns the data of the Secret for the content of a file.
func readFile(content []byte) (map[string][]byte, error) {
	var texts map[string]any
	if yaml.Unmarshal(content, &texts) != nil {
		texts = nil
	}
	data, err := keys().Data(v1alpha1.ProviderAzure, texts)
	if err == nil && len(data) == 0 {
		err = errors.New("neither YAML of the form key: value nor the JSON of a service principal")
	}
	return data, err
}
