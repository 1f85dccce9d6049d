// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// login: the credentials are a file of Google's own tools, or YAML with the keys of the
// Secret.
func login() provider.Login {
	return provider.Login{
		Usage: "the JSON key of a service account, the configuration file of a workload identity federation, or YAML with the keys of the Secret",
		Read:  readFile, Fields: []string{"spec.gcp.projectID", "spec.gcp.region"}, Place: place,
	}
}

// place names the project, the region or zone, the endpoint and the account.
func place(config *v1alpha1.ProviderConfig, c provider.Credentials) (at []string) {
	g := config.Spec.GCP
	if g == nil {
		return nil
	}
	if g.Endpoint != "" {
		at = append(at, g.Endpoint)
	}
	at = append(at, "project "+g.ProjectID)
	if g.Zone != "" {
		at = append(at, "zone "+g.Zone)
	} else {
		at = append(at, "region "+g.Region)
	}
	var d document
	if json.Unmarshal(documentOf(provider.Config{ProviderConfig: config, Credentials: c}), &d) == nil && d.ClientEmail != "" {
		at = append(at, "account "+d.ClientEmail)
	}
	return at
}

// readFile returns the data of the Secret for the content of a file. A subject token that
// the file only points to is read here: on a cluster the other file does not exist.
func readFile(content []byte) (map[string][]byte, error) {
	var d document
	if json.Unmarshal(content, &d) != nil || d.Type == "" {
		return provider.ReadYAML(v1alpha1.ProviderGCP, content, v1alpha1.KeyServiceAccountKey, keyServiceAccount, v1alpha1.KeyExternalAccount, v1alpha1.KeySubjectToken,
			v1alpha1.KeyEndpoint, v1alpha1.KeyCABundle)
	}
	switch d.Type {
	case typeServiceAccount:
		return map[string][]byte{v1alpha1.KeyServiceAccountKey: content}, nil
	case typeExternal:
		data := map[string][]byte{v1alpha1.KeyExternalAccount: content}
		if d.Source.File == "" {
			return nil, errors.New("the federation has no subject token in a file: write it into the key subjectToken of YAML, next to externalAccount")
		}
		subject, err := readSubject(d)
		if err != nil {
			return nil, fmt.Errorf("the subject token of the federation cannot be read: %w", err)
		}
		data[v1alpha1.KeySubjectToken] = []byte(subject)
		return data, nil
	}
	return nil, errors.New("the file is neither the key of a service account nor the configuration of a federation; a user's login cannot be used on a cluster")
}
