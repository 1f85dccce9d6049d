// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
)

// withRegistries has nodes log in to registries. It is in the v1alpha1 document, which all
// versions of Talos read; those before 1.12 know no documents of registries.
func withRegistries(cfg config.Provider, registries []Registry) (config.Provider, error) {
	if len(registries) == 0 {
		return cfg, nil
	}
	return cfg.PatchV1Alpha1(func(doc *v1alpha1.Config) error {
		all := map[string]*v1alpha1.RegistryConfig{}
		for _, r := range registries {
			all[r.Host] = registryConfig(r)
		}
		doc.MachineConfig.MachineRegistries.RegistryConfig = all //nolint:staticcheck // deprecated, and all that older versions of Talos know
		return nil
	})
}

func registryConfig(r Registry) *v1alpha1.RegistryConfig {
	out := &v1alpha1.RegistryConfig{}
	if r.Username != "" || r.Password != "" {
		out.RegistryAuth = &v1alpha1.RegistryAuthConfig{RegistryUsername: r.Username, RegistryPassword: r.Password}
	}
	if len(r.CA) > 0 {
		out.RegistryTLS = &v1alpha1.RegistryTLSConfig{TLSCA: r.CA}
	}
	return out
}
