// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package serve is the main body of every provider binary, and lets another
// process host a provider's reconcilers.
package serve

import (
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/machinerequest"
	"github.com/butlerdotdev/butler/internal/controller/providerconfig"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
)

// Options change how a provider is served.
type Options struct {
	// Transport carries every byte that the driver sends; the zero value is the
	// ordinary network.
	Transport provider.Transport
}

// Scheme returns the kinds that a manager needs for Register.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		return nil, err
	}
	return s, v1alpha1.AddToScheme(s)
}

// Register adds all reconcilers of a provider to a manager, whose scheme must
// hold what Scheme returns.
func Register(m manager.Manager, p provider.Provider, o Options) error {
	s := session.New(session.Options{
		Provider: p, Transport: o.Transport, Cache: m.GetClient(), Live: m.GetAPIReader(),
	})
	if err := m.Add(s); err != nil {
		return err
	}
	if err := machinerequest.Register(m, p.Type, s); err != nil {
		return err
	}
	return providerconfig.Register(m, p.Type, s)
}
