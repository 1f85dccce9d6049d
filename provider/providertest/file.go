// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// SecretContent is what a file of credentials holds where an error must not repeat it.
const SecretContent = "secret-content"

// CredentialFile is a file that a user may name as credentials.
type CredentialFile struct {
	Content string
	// Want is the data of the Secret; nil: the file is refused.
	Want map[string]string
}

// CredentialFiles reads each file, and checks that a refusal does not repeat SecretContent.
func CredentialFiles(t *testing.T, read func(content []byte) (map[string][]byte, error), all map[string]CredentialFile) {
	t.Helper()
	for name, c := range all {
		data, err := read([]byte(c.Content))
		var got map[string]string
		for key, value := range data {
			if got == nil {
				got = map[string]string{}
			}
			got[key] = string(value)
		}
		if diff := cmp.Diff(c.Want, got); diff != "" || (err == nil) != (c.Want != nil) {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		if err != nil && strings.Contains(err.Error(), SecretContent) {
			t.Errorf("%s: the error repeats the content: %v", name, err)
		}
	}
}
