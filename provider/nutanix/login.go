// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// login: the credentials are YAML with the keys of the Secret.
func login() provider.Login {
	return provider.Login{Usage: "YAML with the keys of the Secret: username and password, or apiKey; caBundle", Read: readFile, Fields: []string{"spec.nutanix.endpoint", "spec.nutanix.port"}, Place: place}
}

// place names Prism Central, the cluster, the project and the user.
func place(config *v1alpha1.ProviderConfig, c provider.Credentials) (at []string) {
	n := config.Spec.Nutanix
	if n == nil {
		return nil
	}
	if base, err := baseOf("", *n); err == nil {
		at = append(at, base)
	}
	at = append(at, "cluster "+n.ClusterUUID)
	if n.Project != "" {
		at = append(at, "project "+n.Project)
	}
	if user := c.Get(v1alpha1.KeyUsername); user != nil {
		at = append(at, "user "+string(user))
	}
	return at
}

// readFile returns the data of the Secret for the content of a file.
func readFile(content []byte) (map[string][]byte, error) {
	return provider.ReadYAML(v1alpha1.ProviderNutanix, content, v1alpha1.KeyUsername, v1alpha1.KeyPassword, v1alpha1.KeyAPIKey, v1alpha1.KeyCABundle, v1alpha1.KeyEndpoint)
}
