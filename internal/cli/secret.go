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

// annotationAmbient says where on this machine the data of a Secret was found.
const annotationAmbient = v1alpha1.Group + "/ambient"

// given are the credentials that the user hands over: the Secret of the manifest
// or the file of --credentials. Without both it is nil.
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
		return nil, failure.Usagef("there are two sources of credentials, the Secret in %s and --credentials; leave one out", f.config)
	}
	m.ReferToCredentials()
	data, err := os.ReadFile(f.credentials)
	if err != nil {
		return nil, failure.Usagef("read the credentials: %w", err)
	}
	noteReadable(notes, f.credentials)
	return secretOf(login, m.Provider, f.credentials, data)
}

// secretOf returns the Secret for the content of a file of credentials. Nothing of that
// may get into an error.
func secretOf(login provider.Login, config *v1alpha1.ProviderConfig, path string, content []byte) (*corev1.Secret, error) {
	values, err := login.FromFile(config, content)
	if err != nil {
		return nil, failure.Usagef("credentials %s: %w", path, err)
	}
	return operation.NewSecret(config, values), nil
}

// chooseCredentials are those that the platform is asked with: what the user has
// given, else what the plane has from an earlier run, else the ambient ones. A
// rehearsal takes the simulator's and reads none of these.
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
	if source, made := known.Annotations[annotationAmbient]; err == nil && made {
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

// ambientSecret keeps the credentials of this machine on its plane. A cluster that
// is handed credentials has to be given some: those of this machine were meant for
// whoever sits at it.
func ambientSecret(m *manifest.Manifest, key client.ObjectKey, values map[string][]byte, source string) (*corev1.Secret, error) {
	if bootstrap.HandsOver(m.Cluster.Spec) {
		return nil, failure.Usagef("the credentials of this machine (%s) do not travel, and %s would be handed them for its own controllers; name a file with --credentials, add the Secret %s to the manifest, or set spec.addons.butlerController.enabled to false",
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
		return nil, "", failure.Usagef("there are no credentials for %s: add the Secret %s to the manifest, or name a file with --credentials (%w)", p.Spec.Provider, p.Spec.CredentialsRef.Name, err)
	case err != nil:
		return nil, "", failure.Usagef("%w; name a file with --credentials", err)
	}
	return values, source, nil
}

// noteReadable warns of credentials that others on this machine can read.
func noteReadable(notes io.Writer, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(notes, "note: %s holds credentials and can be read by others; chmod 600 %s\n", path, path)
	}
}
