// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/provider"
)

// ReadSite reads the platform of a cluster from a plane.
func ReadSite(ctx context.Context, o *operation.Operation, p provider.Provider, cb *v1alpha1.ClusterBootstrap, c client.Reader) (Site, error) {
	config := &v1alpha1.ProviderConfig{}
	if err := c.Get(ctx, cb.ProviderConfig(), config); err != nil {
		return Site{}, err
	}
	secret, err := operation.ReadSecret(ctx, c, config)
	return NewSite(o, p, config, secret), err
}

// Site is a platform with its credentials and transport.
type Site struct {
	Provider  provider.Provider
	Config    *v1alpha1.ProviderConfig
	Secret    *corev1.Secret
	Transport provider.Transport
	// Ambient allows credentials of the environment; a rehearsal does not.
	Ambient bool
}

// NewSite returns a platform as an operation reaches it.
func NewSite(o *operation.Operation, p provider.Provider, config *v1alpha1.ProviderConfig, secret *corev1.Secret) Site {
	return Site{Provider: p, Config: config, Secret: secret, Transport: o.Transport(), Ambient: !o.Rehearsal}
}

// Connect opens a connection; the returned function closes it. Another platform than
// that of the requests is refused, because it cannot show their objects.
func (s Site) Connect(ctx context.Context) (provider.Platform, func(), error) {
	if key := s.Config.CredentialsSecret(); key.Name != "" && s.Secret == nil {
		return provider.Platform{}, nil, provider.Unauthorized.New("connect to "+s.Config.Name, provider.ReasonCredentialsMissing,
			fmt.Errorf("there is no Secret %s", key), "create it, or correct spec.credentialsRef")
	}
	ctx, cancel := context.WithTimeout(ctx, operation.Patience)
	defer cancel()
	platform, err := s.Provider.Open(ctx, provider.Config{
		ProviderConfig: s.Config, Credentials: s.credentials(), Ambient: s.Ambient, Transport: s.Transport,
	})
	end := platform.Close
	if end == nil {
		end = func() {}
	}
	if err == nil {
		if err = request.SamePlatform(s.Config, &platform); err != nil {
			end()
		}
	}
	return platform, end, err
}

// ListHeld lists what the platform holds of an owner, without copies.
func (s Site) ListHeld(ctx context.Context, o provider.Owner) (Inventory, error) {
	all, err := s.List(ctx, o)
	return all.Held, err
}

// List lists what the platform holds of an owner.
func (s Site) List(ctx context.Context, o provider.Owner) (Stock, error) {
	platform, end, err := s.Connect(ctx)
	if err != nil {
		return Stock{}, err
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, operation.Patience)
	defer cancel()
	return Take(ctx, platform, o)
}

func (s Site) credentials() provider.Credentials {
	return provider.NewCredentials(operation.SecretData(s.Secret))
}

// Place describes a platform for people: its ProviderConfig, and where machines are
// created.
func (s Site) Place() string {
	if s.Provider.Login.Place == nil {
		return s.Config.Name
	}
	at := s.Provider.Login.Place(s.Config, s.credentials())
	if len(at) == 0 {
		return s.Config.Name
	}
	return fmt.Sprintf("%s (%s)", s.Config.Name, strings.Join(at, ", "))
}
