// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// login: the credentials are YAML with the keys of the Secret.
func login() provider.Login {
	return provider.Login{Usage: "YAML with token and tokenSecret, or username and password", Read: readYAML, Fields: []string{"spec.proxmox.endpoint"}, Place: placed}
}

func readYAML(content []byte) (map[string][]byte, error) {
	return provider.ReadYAML(v1alpha1.ProviderProxmox, content, v1alpha1.KeyToken, keyTokenID, v1alpha1.KeyTokenSecret, v1alpha1.KeyUsername, v1alpha1.KeyPassword,
		v1alpha1.KeyCABundle, v1alpha1.KeyFingerprint, v1alpha1.KeyEndpoint)
}

// placed names the endpoint, the nodes and the user.
func placed(config *v1alpha1.ProviderConfig, c provider.Credentials) (at []string) {
	p := config.Spec.Proxmox
	if p == nil {
		return nil
	}
	at = append(at, p.Endpoint, "nodes "+strings.Join(p.Nodes, ", "))
	if who, err := identityOf("", c); err == nil {
		at = append(at, "user "+who.name)
	}
	return at
}
