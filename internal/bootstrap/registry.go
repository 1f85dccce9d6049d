// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// registryResults are the registries that nodes log in to, or why they are not known.
type registryResults struct {
	all     []talos.Registry
	unknown error
}

// readRegistries reads how nodes log in to registries, before there are machines. A cluster that
// is Ready works without: only machines that are configured later need it.
func readRegistries(ctx context.Context, s *Session) (*Obstacle, error) {
	s.registries = registryResults{}
	for _, spec := range s.Spec.Registries {
		r, err := s.registry(ctx, spec)
		if missing, ok := errors.AsType[*registryMissing](err); ok {
			s.registries.unknown = missing
			o := &Obstacle{Reason: "RegistrySecretMissing", Message: missing.Error()}
			if s.Status.Phase != v1alpha1.BootstrapReady {
				return o, nil
			}
			s.deferred = o
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		s.registries.all = append(s.registries.all, r)
	}
	return nil, nil
}

// registryMissing says that the Secret of a registry is of no use.
type registryMissing struct{ text string }

func (m *registryMissing) Error() string { return m.text }

func (s *Session) registry(ctx context.Context, spec v1alpha1.RegistrySpec) (talos.Registry, error) {
	key := types.NamespacedName{Namespace: s.Namespace, Name: spec.SecretRef.Name}
	secret := &corev1.Secret{}
	err := s.Live.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return talos.Registry{}, &registryMissing{fmt.Sprintf("secret %s for registry %s does not exist; create it with %s and %s, or %s", key, spec.Host, v1alpha1.KeyUsername, v1alpha1.KeyPassword, v1alpha1.KeyCABundle)}
	}
	if err != nil {
		return talos.Registry{}, s.permit(err)
	}
	r := Registry(spec.Host, secret.Data)
	if r.Username == "" && r.Password == "" && len(r.CA) == 0 {
		return r, &registryMissing{fmt.Sprintf("secret %s for registry %s has none of the keys %s, %s and %s", key, spec.Host, v1alpha1.KeyUsername, v1alpha1.KeyPassword, v1alpha1.KeyCABundle)}
	}
	return r, nil
}

// Registry returns how nodes log in to a registry with the data of a Secret.
func Registry(host string, data map[string][]byte) talos.Registry {
	return talos.Registry{
		Host: host, Username: string(data[v1alpha1.KeyUsername]), Password: string(data[v1alpha1.KeyPassword]), CA: data[v1alpha1.KeyCABundle],
	}
}
