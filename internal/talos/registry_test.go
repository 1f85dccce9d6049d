// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
)

// TestNodesLogInToRegistries in the configuration of every contract.
func TestNodesLogInToRegistries(t *testing.T) {
	for _, version := range []string{"v1.7.0", "v1.9.2", "v1.13.0"} {
		t.Run(version, func(t *testing.T) {
			c := testCluster(version)
			c.Registries = []Registry{
				{Host: "registry.example.com:5000", Username: "robot", Password: "secret", CA: []byte("PEM")},
				{Host: "other.example.com", CA: []byte("PEM")},
			}
			data, err := Config(testSecrets(t), c, controlPlane())
			if err != nil {
				t.Fatal(err)
			}
			read, err := configloader.NewFromBytes(data)
			if err != nil {
				t.Fatal(err)
			}
			auth, tls := read.RegistryAuthConfigs(), read.RegistryTLSConfigs()
			if a := auth["registry.example.com:5000"]; a == nil || a.Username() != "robot" || a.Password() != "secret" {
				t.Errorf("credentials %v", auth)
			}
			if _, given := auth["other.example.com"]; given {
				t.Error("a registry without credentials has some")
			}
			for host, config := range tls {
				if string(config.CA()) != "PEM" {
					t.Errorf("%s has authority %q", host, config.CA())
				}
			}
			if len(tls) != 2 {
				t.Errorf("%d registries have an authority", len(tls))
			}
		})
	}
}
