// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package serve is the main body of every provider binary, and lets another
// process host a provider's reconcilers.
package serve

import (
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/butlerdotdev/butler/internal/controller/loadbalancerrequest"
	"github.com/butlerdotdev/butler/internal/controller/machinerequest"
	"github.com/butlerdotdev/butler/internal/controller/program"
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

// Program is the main body of a provider's binary.
func Program(p provider.Provider) program.Program {
	return program.Program{
		Name:     "butler-provider-" + string(p.Type),
		Register: func(m manager.Manager) error { return Register(m, p, Options{}) },
	}
}

// Register adds all reconcilers of a provider to a manager, whose scheme must
// hold what program.Scheme returns.
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
	if err := loadbalancerrequest.Register(m, p.Type, s); err != nil {
		return err
	}
	return providerconfig.Register(m, p.Type, s)
}
