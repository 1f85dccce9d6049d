// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// prepareInput gathers what the objects are made of.
func (s *session) prepareInput(ctx context.Context) (*step.Obstacle, error) {
	credentials, o, err := s.credentials(ctx)
	if o != nil || err != nil {
		return o, err
	}
	s.input = tenant.Input{
		Cluster: s.TenantCluster, Provider: s.provider, Credentials: credentials, Config: s.config,
		Host: s.kinds.host, Core: s.kinds.cluster.Version, Namespace: tenantNamespace(s.TenantCluster),
		ClusterID: s.Annotations[v1alpha1.AnnotationClusterID], TrustdTag: s.TrustdTag, Addresses: s.nodeAddresses(),
	}
	found, err := s.read(ctx, s.kinds.controlPlane, s.key(s.Name))
	if err != nil {
		return nil, err
	}
	if found != nil {
		s.input.Exposed = tenant.Exposed(s.TenantCluster, found)
	}
	if o := s.resolve(ctx); o != nil {
		return o, nil
	}
	return s.build()
}

// credentials reads the Secret of the ProviderConfig; nil if it has none.
func (s *session) credentials(ctx context.Context) (map[string][]byte, *step.Obstacle, error) {
	key := s.provider.CredentialsSecret()
	if key.Name == "" {
		return nil, nil, nil
	}
	data, err := s.login(ctx, key)
	switch {
	case apierrors.IsNotFound(err):
		return nil, polled("CredentialsMissing", "Secret %s with the credentials of ProviderConfig %s does not exist; create it", key, s.provider.Name), nil
	case apierrors.IsForbidden(err):
		return nil, polled("CredentialsUnreadable", "Secret %s with the credentials of ProviderConfig %s cannot be read by this controller; add %s to credentialsSecrets of chart butler-controller", key, s.provider.Name, key), nil
	case err != nil:
		return nil, nil, err
	}
	return data, nil, nil
}

// copyCredentials writes what the infrastructure provider logs in with. It follows the Secret
// of the ProviderConfig.
func copyCredentials(ctx context.Context, s *session) (*step.Obstacle, error) {
	for _, o := range s.built.Credentials {
		if err := s.enter(ctx, o.GetNamespace()); err != nil {
			return nil, err
		}
		if err := s.applySecret(ctx, o); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// applySecret applies an object that is not watched, unless it is as it was applied.
func (s *session) applySecret(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GetKind() != "Secret" {
		return s.applyObject(ctx, o)
	}
	if err := s.applyKept(ctx, keptKey{o.GetKind(), o.GetNamespace(), o.GetName()}, o.Object, applyConfiguration(o)); err != nil {
		return fmt.Errorf("apply Secret %s/%s: %w", o.GetNamespace(), o.GetName(), err)
	}
	return nil
}
