// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"errors"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// login: the credentials have several keys, in YAML or as AWS' own tools write them.
func login() provider.Login {
	return provider.Login{Usage: "YAML with the keys of the Secret, a credentials file of the AWS tools, or what they export as JSON", Read: readFile, Fields: []string{"spec.aws.region"}, Place: place}
}

// place names the region and, where they are set, the endpoint and the role.
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

// keys returns the keys of the Secret by the names that AWS' tools have for them.
func keys() provider.Keys {
	return provider.Keys{
		"aws_access_key_id": v1alpha1.KeyAccessKeyID, "aws_secret_access_key": v1alpha1.KeySecretAccessKey, "aws_session_token": v1alpha1.KeySessionToken,
		"AccessKeyId": v1alpha1.KeyAccessKeyID, "SecretAccessKey": v1alpha1.KeySecretAccessKey, "SessionToken": v1alpha1.KeySessionToken, "Expiration": v1alpha1.KeyExpiration,
		"role_arn": v1alpha1.KeyRoleARN, "external_id": v1alpha1.KeyExternalID, "Version": "",
		v1alpha1.KeyAccessKeyID: v1alpha1.KeyAccessKeyID, keyAccessKeyIDOld: v1alpha1.KeyAccessKeyID, v1alpha1.KeySecretAccessKey: v1alpha1.KeySecretAccessKey,
		v1alpha1.KeySessionToken: v1alpha1.KeySessionToken, v1alpha1.KeyExpiration: v1alpha1.KeyExpiration, v1alpha1.KeyRoleARN: v1alpha1.KeyRoleARN,
		v1alpha1.KeyExternalID: v1alpha1.KeyExternalID, v1alpha1.KeyWebIdentityToken: v1alpha1.KeyWebIdentityToken,
		v1alpha1.KeyEndpoint: v1alpha1.KeyEndpoint, v1alpha1.KeyCABundle: v1alpha1.KeyCABundle,
	}
}

// readFile returns the data of the Secret for the content of a file.
func readFile(content []byte) (map[string][]byte, error) {
	texts, err := profile(string(content))
	if err != nil {
		return nil, err
	}
	if texts == nil && yaml.Unmarshal(content, &texts) != nil {
		texts = nil
	}
	data, err := keys().Data(v1alpha1.ProviderAWS, texts)
	if err == nil && len(data) == 0 {
		err = errors.New("neither YAML of the form key: value nor a credentials file of the AWS tools with a profile default")
	}
	return data, err
}

var section = regexp.MustCompile(`^\[(?:profile )?([^\]]+)\]$`)

// profile reads the profile default, or the only one, of a file of AWS' tools; nil is a
// file without profiles. Settings that are no credentials are left out.
func profile(content string) (map[string]any, error) {
	all, current := map[string]map[string]any{}, ""
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if m := section.FindStringSubmatch(line); m != nil {
			current = m[1]
			all[current] = map[string]any{}
			continue
		}
		name, value, found := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); found && current != "" && keys()[name] != "" {
			all[current][name] = strings.TrimSpace(value)
		}
	}
	if chosen := all["default"]; chosen != nil || len(all) == 0 {
		return chosen, nil
	}
	if len(all) > 1 {
		return nil, errors.New("several profiles, and none is called default")
	}
	return all[current], nil
}
