// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"encoding/base64"
	"net/netip"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestConformance(t *testing.T) {
	allowAdoption(t)
	providertest.Run(t, providertest.Suite{
		Provider: Provider(), Config: shared.config(), Operator: operator{shared.Simulator},
		Machine: provider.MachineSpec{Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 10},
		Network: &provider.Network{
			Address: netip.MustParsePrefix("10.40.9.61/16"), Gateway: netip.MustParseAddr("10.40.0.1"), DNSServers: []netip.Addr{netip.MustParseAddr("10.40.0.2")},
		},
		Secrets: secrets(t),
		Missing: map[string]providertest.Change{
			"image":   func(_ *provider.Config, s *provider.MachineSpec) { s.Image = "default/unheard-of" },
			"network": func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Harvester.NetworkName = "default/unheard-of" },
		},
		Refused: map[string]providertest.Change{
			"a label of the driver": func(_ *provider.Config, s *provider.MachineSpec) {
				s.Labels = map[string]string{tag.OwnerID: "me"}
			},
			"network.gateway without pools": func(c *provider.Config, _ *provider.MachineSpec) {
				c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Gateway: "10.40.0.1"}
			},
		},
		WithoutLoadBalancers: "on-premises clusters have a virtual IP instead",
		Record:               "../../docs/contributing/provider-contract.md",
	})
}

// secrets returns the private key in the kubeconfig, in both of its forms.
func secrets(t *testing.T) []string {
	t.Helper()
	config, err := clientcmd.Load(shared.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, u := range config.AuthInfos {
		out = append(out, string(u.ClientKeyData), base64.StdEncoding.EncodeToString(u.ClientKeyData))
	}
	if len(out) == 0 || out[0] == "" {
		t.Fatal("the kubeconfig has no private key")
	}
	return out
}
