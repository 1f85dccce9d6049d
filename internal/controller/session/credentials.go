// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Version changes whenever the connection of a ProviderConfig would be replaced.
func (s *Sessions) Version(ctx context.Context, config *v1alpha1.ProviderConfig) (string, error) {
	name := config.CredentialsSecret()
	if name.Name == "" {
		return key(config, metav1.ObjectMeta{}), nil
	}
	if err := s.allow(config, name); err != nil {
		return "", err
	}
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := s.cache.Get(ctx, name, m); err != nil {
		return "", missing(config, name, err)
	}
	if err := granted(config, m); err != nil {
		return "", err
	}
	return key(config, m.ObjectMeta), nil
}

// credentials reads the Secret itself and returns the key of its connection.
func (s *Sessions) credentials(ctx context.Context, config *v1alpha1.ProviderConfig) (provider.Credentials, string, error) {
	name := config.CredentialsSecret()
	if name.Name == "" {
		return provider.Credentials{}, key(config, metav1.ObjectMeta{}), nil
	}
	if err := s.allow(config, name); err != nil {
		return provider.Credentials{}, "", err
	}
	secret := &corev1.Secret{}
	if err := s.live.Get(ctx, name, secret); err != nil {
		return provider.Credentials{}, "", missing(config, name, err)
	}
	if err := granted(config, secret); err != nil {
		return provider.Credentials{}, "", err
	}
	return provider.NewCredentials(secret.Data), key(config, secret.ObjectMeta), nil
}

// Readable are the Secrets that a program may read.
type Readable interface {
	Allows(types.NamespacedName) bool
	String() string
}

// allow refuses a Secret that this program is not to read.
func (s *Sessions) allow(config *v1alpha1.ProviderConfig, name types.NamespacedName) error {
	if s.readable == nil || s.readable.Allows(name) {
		return nil
	}
	return &provider.Error{
		Kind: provider.Unavailable, Reason: reasonUnreadable, Op: readCredentials(config),
		Err:  fmt.Errorf("secret %s is not among those that this controller may read: %s", name, s.readable),
		Hint: fmt.Sprintf("add %s to credentialsSecrets of the provider's chart (--credentials-secrets)", name),
	}
}

// granted is an error if a Secret does not allow the ProviderConfig to use it.
func granted(config *v1alpha1.ProviderConfig, secret client.Object) error {
	if v1alpha1.AllowsNamespace(secret, config.Namespace) {
		return nil
	}
	return &provider.Error{
		Kind: provider.Unavailable, Reason: "CredentialsNotGranted", Op: readCredentials(config),
		Err:  fmt.Errorf("secret %s/%s does not allow ProviderConfigs of namespace %s", secret.GetNamespace(), secret.GetName(), config.Namespace),
		Hint: fmt.Sprintf("use a Secret of the same namespace, or have %s added to its annotation %s", config.Namespace, v1alpha1.AnnotationAllowedNamespaces),
	}
}

// key changes with the spec, which the generation represents, and with the Secret.
func key(config *v1alpha1.ProviderConfig, secret metav1.ObjectMeta) string {
	return fmt.Sprintf("%s/%d/%s/%s", config.UID, config.Generation, secret.UID, secret.ResourceVersion)
}

// reasonUnreadable is given where a Secret may be there and cannot be read.
const reasonUnreadable = "CredentialsUnreadable"

func readCredentials(config *v1alpha1.ProviderConfig) string {
	return fmt.Sprintf("read credentials of ProviderConfig %q", config.Name)
}

// missing explains a Secret that cannot be read. It may still be on its way, so
// this is nothing that makes a request fail.
func missing(config *v1alpha1.ProviderConfig, name types.NamespacedName, err error) error {
	e := &provider.Error{
		Kind: provider.Unavailable, Reason: reasonUnreadable, Op: readCredentials(config), Err: err,
	}
	if apierrors.IsNotFound(err) {
		e.Reason = "CredentialsNotFound"
		e.Err = fmt.Errorf("secret %s does not exist", name)
		e.Hint = "create it, or correct spec.credentialsRef"
	}
	if apierrors.IsForbidden(err) {
		e.Hint = fmt.Sprintf("add %s to credentialsSecrets of the provider's chart, or give its ServiceAccount a Role there", name)
	}
	return e
}

// ConfigsOf returns the ProviderConfigs whose credentials are in the Secret.
func ConfigsOf(ctx context.Context, r client.Reader, secret client.Object) []*v1alpha1.ProviderConfig {
	var configs v1alpha1.ProviderConfigList
	if err := r.List(ctx, &configs); err != nil {
		return nil
	}
	var found []*v1alpha1.ProviderConfig
	for i := range configs.Items {
		if configs.Items[i].CredentialsSecret() == client.ObjectKeyFromObject(secret) {
			found = append(found, &configs.Items[i])
		}
	}
	return found
}
