// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Data returns the data of a Secret, from the credentials of a ProviderConfig. Its error
// names keys, never values.
func (s Secret) Data(credentials map[string][]byte) (map[string][]byte, error) {
	switch {
	case s.Key != "":
		document, err := s.filled(credentials)
		return map[string][]byte{s.Key: document}, err
	case s.Profile != "":
		profile := awsProfile(s.Profile, credentials)
		if profile == "" {
			return nil, s.missing([]string{v1alpha1.KeyAccessKeyID, v1alpha1.KeySecretAccessKey})
		}
		return map[string][]byte{awsProfileKey: []byte(profile)}, nil
	case s.GoogleDir != "":
		return s.google(credentials)
	}
	data := map[string][]byte{}
	for _, key := range s.Copy {
		if len(credentials[key]) > 0 {
			data[key] = credentials[key]
		}
	}
	if len(data) == 0 {
		return nil, s.missing(s.Copy)
	}
	return data, nil
}

// filled is the JSON document of a Secret.
func (s Secret) filled(credentials map[string][]byte) ([]byte, error) {
	fields, absent := maps.Clone(s.Fields), []string{}
	if fields == nil {
		fields = map[string]any{}
	}
	for field, key := range s.Fill {
		if len(credentials[key]) == 0 {
			absent = append(absent, key)
		}
		fields[field] = string(credentials[key])
	}
	if len(absent) > 0 {
		return nil, s.missing(slices.Sorted(slices.Values(absent)))
	}
	return json.Marshal(fields)
}

func (s Secret) missing(keys []string) error {
	return fmt.Errorf("the credentials of the cluster's ProviderConfig lack %[3]s, which Secret %[1]s/%[2]s needs: add it to their Secret",
		s.Namespace, s.Name, strings.Join(keys, ", "))
}

// CheckCredentials returns what the addons of a cluster lack in the credentials of its
// ProviderConfig. Its error names keys, never values.
func CheckCredentials(addons []Addon, platform v1alpha1.ProviderConfigSpec, credentials map[string][]byte) error {
	if platform.Provider == v1alpha1.ProviderAzure && platform.CredentialsRef == nil {
		return errors.New("the cloud controller manager needs credentials, and machines on azure get no managed identity: set spec.credentialsRef of the ProviderConfig")
	}
	for _, a := range addons {
		if a.Secret != nil {
			if _, err := a.Secret.Data(credentials); err != nil {
				return fmt.Errorf("addon %s: %w", a.Key, err)
			}
		}
		for _, p := range a.Providers {
			if len(p.Variables) == 0 || p.Credentials != nil || p.Platform != platform.Provider {
				continue
			}
			if _, err := Variables(p, platform, credentials); err != nil {
				return fmt.Errorf("addon %s: %w", a.Key, err)
			}
		}
	}
	return nil
}
