// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command baseline is a provider's binary for benchmarks, with the drivers of this project and the
// simplest controller: see internal/controller/baseline.
package main

import (
	"flag"
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/baseline"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/internal/version"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/aws"
	"github.com/butlerdotdev/butler/provider/azure"
	"github.com/butlerdotdev/butler/provider/gcp"
	"github.com/butlerdotdev/butler/provider/harvester"
	"github.com/butlerdotdev/butler/provider/nutanix"
	"github.com/butlerdotdev/butler/provider/proxmox"
)

func main() {
	credentials, platform := program.Credentials{}, ""
	p := program.Program{
		Name: "baseline", Credentials: &credentials,
		Flags: func(f *flag.FlagSet) { f.StringVar(&platform, "provider", "", "the `provider`") },
		Register: func(m manager.Manager) error {
			for _, p := range []provider.Provider{aws.Provider(), azure.Provider(), gcp.Provider(), harvester.Provider(), nutanix.Provider(), proxmox.Provider()} {
				if p.Type == v1alpha1.ProviderType(platform) {
					return register(m, p, credentials)
				}
			}
			return fmt.Errorf("there is no provider %q", platform)
		},
	}
	os.Exit(p.Main())
}

func register(m manager.Manager, p provider.Provider, credentials program.Credentials) error {
	s := session.New(session.Options{
		Provider: p, Transport: provider.Transport{Agent: version.Agent("butler-provider-" + string(p.Type))},
		Cache: m.GetClient(), Live: m.GetAPIReader(), Readable: credentials,
	})
	if err := m.Add(s); err != nil {
		return err
	}
	return baseline.Register(m, s)
}
