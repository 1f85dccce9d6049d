// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/provider"
)

// given returns the credentials that the user has given: the Secret of the manifest
// or the file of --credentials; nil without both.
func (f bootstrapFlags) given(login provider.Login, m *manifest.Manifest, notes io.Writer) (*corev1.Secret, error) {
	if f.rehearse {
		m.ReferToCredentials()
		return nil, nil
	}
	if f.credentials == "" {
		if m.Secret != nil || len(m.Others) > 0 {
			noteReadable(notes, f.config)
		}
		return m.Secret, nil
	}
	if m.Secret != nil {
		return nil, failure.Usagef("there are two sources of credentials, the Secret in %s and --credentials; remove one", f.config)
	}
	m.ReferToCredentials()
	data, err := os.ReadFile(f.credentials)
	if err != nil {
		return nil, failure.Usagef("read the credentials: %w", err)
	}
	noteReadable(notes, f.credentials)
	return secretOf(login, m.Provider, f.credentials, data)
}

// secretOf returns the Secret for the content of a credentials file. Errors must not
// contain any of it.
func secretOf(login provider.Login, config *v1alpha1.ProviderConfig, path string, content []byte) (*corev1.Secret, error) {
	values, err := login.FromFile(config, content)
	if err != nil {
		return nil, failure.Usagef("credentials %s: %w", path, err)
	}
	return operation.NewSecret(config, values), nil
}

// noteReadable warns of credentials that others on this machine can read.
func noteReadable(notes io.Writer, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(notes, "note: %s holds credentials and can be read by others; chmod 600 %s\n", path, path)
	}
}
