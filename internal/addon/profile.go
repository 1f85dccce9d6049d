// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	// awsProfileKey is the key of a Secret that holds a profile, and the name of the file.
	awsProfileKey = "config"
	awsProfileDir = "/etc/aws"
	awsDefault    = "default"
)

// awsProfile returns a configuration file of the AWS SDKs, whose only profile has the keys
// and the role of the credentials. It is empty without keys.
func awsProfile(region string, credentials map[string][]byte) string {
	get := func(key string) string { return strings.TrimRight(string(credentials[key]), "\r\n") }
	if get(v1alpha1.KeyAccessKeyID) == "" || get(v1alpha1.KeySecretAccessKey) == "" {
		return ""
	}
	lines := []string{"[" + awsDefault + "]"}
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, name+" = "+value)
		}
	}
	add("aws_access_key_id", get(v1alpha1.KeyAccessKeyID))
	add("aws_secret_access_key", get(v1alpha1.KeySecretAccessKey))
	add("aws_session_token", get(v1alpha1.KeySessionToken))
	add("region", region)
	if role := get(v1alpha1.KeyRoleARN); role != "" {
		add("role_arn", role)
		add("source_profile", awsDefault)
		add("external_id", get(v1alpha1.KeyExternalID))
	}
	return strings.Join(lines, "\n") + "\n"
}
