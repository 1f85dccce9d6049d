// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

// annotationAmbient has the source on this machine that the data of a Secret is from.
const annotationAmbient = v1alpha1.Group + "/ambient"

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

// chooseCredentials returns the credentials for the platform: those that the user has
// given, else those of the plane from an earlier run, else the ambient ones. A
// rehearsal uses the simulator's and reads none of these.
func chooseCredentials(ctx context.Context, o *operation.Operation, login provider.Login, m *manifest.Manifest, given *corev1.Secret, progress *ui.Reporter) (*corev1.Secret, error) {
	key, referred := m.CredentialsKey()
	if !referred {
		return nil, nil
	}
	if o.Rehearsal {
		return o.SimulatorSecret(login, m.Provider)
	}
	if given != nil {
		return given, nil
	}
	known := &corev1.Secret{}
	err := o.Client().Get(ctx, key, known)
	if source, ok := known.Annotations[annotationAmbient]; err == nil && ok {
		return ambientSecret(m, key, known.Data, source)
	}
	if err == nil {
		return operation.NewSecret(m.Provider, known.Data), nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, err
	}
	values, source, err := ambient(login, m.Provider)
	if err != nil {
		return nil, err
	}
	progress.Step("credentials: " + source)
	return ambientSecret(m, key, values, source)
}

// ambientSecret returns a Secret with the ambient credentials for the local plane. It
// refuses to use them for a cluster that would get a copy: they belong to the user of
// this machine.
func ambientSecret(m *manifest.Manifest, key client.ObjectKey, values map[string][]byte, source string) (*corev1.Secret, error) {
	if bootstrap.HandsOver(m.Cluster.Spec) {
		return nil, failure.Usagef("the ambient credentials (%s) are never copied to a cluster, and the controllers of %s need credentials; pass a file with --credentials, add the Secret %s to the manifest, or set spec.addons.butlerController.enabled to false",
			source, m.Cluster.Spec.Cluster.Name, key.Name)
	}
	s := operation.NewSecret(m.Provider, values)
	metav1.SetMetaDataAnnotation(&s.ObjectMeta, annotationAmbient, source)
	return s, nil
}

// ambient returns the credentials that the platform's own tools use on this machine.
func ambient(login provider.Login, p *v1alpha1.ProviderConfig) (map[string][]byte, string, error) {
	values, source, err := login.FromAmbient(p)
	switch {
	case errors.Is(err, provider.ErrNoAmbient):
		return nil, "", failure.Usagef("there are no credentials for %s: add the Secret %s to the manifest, or pass a file with --credentials (%w)", p.Spec.Provider, p.Spec.CredentialsRef.Name, err)
	case err != nil:
		return nil, "", failure.Usagef("%w; pass a file with --credentials", err)
	}
	return values, source, nil
}

// noteReadable warns of credentials that others on this machine can read.
func noteReadable(notes io.Writer, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(notes, "note: %s holds credentials and can be read by others; chmod 600 %s\n", path, path)
	}
}
