// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"errors"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/provider"
)

// SimulatorSecret returns the credentials of the simulated platform. They hold for the
// endpoint of the manifest, at which it answers.
func (o *Operation) SimulatorSecret(login provider.Login, config *v1alpha1.ProviderConfig) (*corev1.Secret, error) {
	values, err := o.Simulator.Secret()
	if err != nil {
		return nil, err
	}
	values = login.Renamed(config, values)
	if endpoint := config.Spec.Endpoint(); endpoint != "" {
		values[v1alpha1.KeyEndpoint] = []byte(endpoint)
	}
	return NewSecret(config, values), nil
}

// NewSecret returns the Secret that a ProviderConfig refers to. One of another
// namespace allows the ProviderConfig to use it: the user hands over both.
func NewSecret(config *v1alpha1.ProviderConfig, data map[string][]byte) *corev1.Secret {
	key := config.CredentialsSecret()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Data: data}
	if key.Namespace != config.Namespace {
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, v1alpha1.AnnotationAllowedNamespaces, config.Namespace)
	}
	return s
}

// SecretData is the data of a Secret as an API server would store it.
func SecretData(s *corev1.Secret) map[string][]byte {
	if s == nil {
		return nil
	}
	data := map[string][]byte{}
	maps.Copy(data, s.Data)
	for k, v := range s.StringData {
		data[k] = []byte(v)
	}
	return data
}

// ReadSecret reads the credentials of a ProviderConfig; nil means that there are
// none on this plane.
func ReadSecret(ctx context.Context, c client.Reader, config *v1alpha1.ProviderConfig) (*corev1.Secret, error) {
	if config == nil {
		return nil, nil
	}
	key := config.CredentialsSecret()
	if key.Name == "" {
		return nil, nil
	}
	secret := &corev1.Secret{}
	err := c.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return secret, err
}

// AmbientCredentials returns the credentials that the platform's own tools use on this machine.
func AmbientCredentials(login provider.Login, p *v1alpha1.ProviderConfig) (map[string][]byte, string, error) {
	values, source, err := login.FromAmbient(p)
	switch {
	case errors.Is(err, provider.ErrNoAmbient):
		return nil, "", failure.Usagef("there are no credentials for %s: add the Secret %s to the manifest, or pass a file with --credentials (%w)", p.Spec.Provider, p.Spec.CredentialsRef.Name, err)
	case err != nil:
		return nil, "", failure.Usagef("%w; pass a file with --credentials", err)
	}
	return values, source, nil
}
