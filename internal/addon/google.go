// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	// googleFile is the key of a Secret that holds credentials, and the name of the file.
	googleFile = "credentials.json"
	// keyServiceAccount is another name for the key of a service account.
	keyServiceAccount = "serviceAccount"
)

// google returns the files that Google's libraries read: the key of a service account, or a
// federation whose token is in a file beside it.
func (s Secret) google(credentials map[string][]byte) (map[string][]byte, error) {
	key := cmp.Or(string(credentials[v1alpha1.KeyServiceAccountKey]), string(credentials[keyServiceAccount]))
	federation, token := credentials[v1alpha1.KeyExternalAccount], credentials[v1alpha1.KeySubjectToken]
	switch {
	case key != "":
		return map[string][]byte{googleFile: []byte(key)}, nil
	case len(federation) == 0:
		return nil, s.missing([]string{v1alpha1.KeyServiceAccountKey})
	case len(token) == 0:
		return nil, s.missing([]string{v1alpha1.KeySubjectToken})
	}
	federation, err := s.withToken(federation)
	return map[string][]byte{googleFile: federation, v1alpha1.KeySubjectToken: token}, err
}

// withToken has a federation read its token where the Secret is mounted, wherever it was
// read before.
func (s Secret) withToken(federation []byte) ([]byte, error) {
	var fields map[string]any
	if json.Unmarshal(federation, &fields) != nil {
		return nil, fmt.Errorf("%s in the credentials of the cluster's ProviderConfig is not JSON: correct it in their Secret", v1alpha1.KeyExternalAccount)
	}
	fields["credential_source"] = map[string]any{"file": path.Join(s.GoogleDir, v1alpha1.KeySubjectToken), "format": map[string]any{"type": "text"}}
	return json.Marshal(fields)
}
