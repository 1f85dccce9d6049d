// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// login: the credentials are YAML with the keys of the Secret.
func login() provider.Login {
	return provider.Login{Usage: "YAML with token and tokenSecret, or username and password", Read: readYAML, Place: placed}
}

func readYAML(content []byte) (map[string][]byte, error) {
	var texts map[string]string
	if err := yaml.Unmarshal(content, &texts); err != nil || len(texts) == 0 {
		return nil, errors.New("not YAML of the form key: value; docs/reference/providerconfig.md lists the keys of proxmox")
	}
	known := []string{
		v1alpha1.KeyToken, keyTokenID, v1alpha1.KeyTokenSecret, v1alpha1.KeyUsername, v1alpha1.KeyPassword,
		v1alpha1.KeyCABundle, v1alpha1.KeyFingerprint, v1alpha1.KeyEndpoint,
	}
	data := map[string][]byte{}
	for name, text := range texts {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("the key %q is not known for proxmox; docs/reference/providerconfig.md lists them", name)
		}
		data[name] = []byte(text)
	}
	return data, nil
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
