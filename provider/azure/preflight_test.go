// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	sim "github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// TestPreflightRefusesWhatWouldFail: the sound subscription passes every check, and each
// defect is refused with what to do.
func TestPreflightRefusesWhatWouldFail(t *testing.T) {
	f := newFixture(t, sim.Seed{VCPUs: 16, Restricted: []string{"Standard_D16s_v5"}})
	other := newFixture(t, sim.Seed{NoWayOut: true, Role: roleWithout(t, "Microsoft.Compute/virtualMachines/write", "Microsoft.Network/loadBalancers/write", "Microsoft.Compute/locations/usages/read")})
	providertest.Preflights(t, Provider(), talosVersion, map[string]providertest.Preflight{
		"a sound subscription":       {Sound: f.config()},
		"another resource group":     {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.Azure.ResourceGroup = "other" }, Want: map[string]provider.Verdict{"resource group": provider.Refused, "subnet": provider.Refused, "security group": provider.Refused, "image": provider.Refused, "names": provider.Refused}, Says: "other"},
		"another subnet":             {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.Azure.SubnetName = "other" }, Want: map[string]provider.Verdict{"subnet": provider.Refused}, Says: "butler/other"},
		"no subnet":                  {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.Azure.SubnetName = "" }, Want: map[string]provider.Verdict{"subnet": provider.Refused}, Says: "butler/nodes"},
		"no security group":          {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.Azure.SecurityGroupName = "" }, Want: map[string]provider.Verdict{"security group": provider.Refused}, Says: "for example to nodes"},
		"another security group":     {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.Azure.SecurityGroupName = "other" }, Want: map[string]provider.Verdict{"security group": provider.Refused}, Says: "other"},
		"another size":               {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.Azure.VMSize = "Standard_X99" }, Want: map[string]provider.Verdict{"VM size": provider.Refused}, Says: "Standard_X99"},
		"a restricted size":          {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.Azure.VMSize = "Standard_D16s_v5" }, Want: map[string]provider.Verdict{"VM size": provider.Refused}, Says: "NotAvailableForSubscription"},
		"a size that is too small":   {Sound: f.config(), Config: func(c *provider.Config) { c.Spec.Azure.VMSize = "Standard_D2s_v5" }, Want: map[string]provider.Verdict{"VM size": provider.Refused}, Says: "Standard_D2s_v5 has 2 vCPUs"},
		"an image that is not there": {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.Image = "talos-v0.0.1" }, Want: map[string]provider.Verdict{"image": provider.Refused}, Says: "talos-v0.0.1"},
		"an image of another kind":   {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.Image = "a:b:c" }, Want: map[string]provider.Verdict{"image": provider.Refused}, Says: "publisher:offer:sku:version"},
		"another schematic":          {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.Schematic = strings.Repeat("a", 64) }, Want: map[string]provider.Verdict{"image": provider.Unknown}, Says: "without extensions"},
		"more than the quota":        {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.CPU, s.MemoryMB = 8, 16384 }, Want: map[string]provider.Verdict{"vCPU quota": provider.Refused}, Says: "24 vCPUs are requested"},
		"a name in capitals":         {Sound: f.config(), Machine: func(s *provider.MachineSpec) { s.Name = strings.ToUpper(s.Name) }, Want: map[string]provider.Verdict{"name": provider.Refused}, Says: "capital letters"},
		"a poor role":                {Sound: other.config(), Want: map[string]provider.Verdict{"permissions": provider.Refused, "subnet": provider.Unknown, "vCPU quota": provider.Unknown}, Says: "Microsoft.Network/loadBalancers/write"},
	})
}

// documented is the role of the guide, which the simulated subscription enforces.
func documented(t *testing.T) (actions []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/getting-started/azure.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	block, _, found := strings.Cut(rest, "```")
	var role struct{ Actions []string }
	if err := json.Unmarshal([]byte(block), &role); err != nil || !found {
		t.Fatalf("the guide has no role: %v", err)
	}
	return role.Actions
}

func roleWithout(t *testing.T, denied ...string) json.RawMessage {
	t.Helper()
	all := slices.DeleteFunc(documented(t), func(a string) bool { return slices.Contains(denied, a) })
	content, err := json.Marshal(map[string]any{"Name": "poor", "Actions": all})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestTheDocumentedRoleHasWhatIsUsed and nothing else, but for what the preflight and the
// kinds of images need.
func TestTheDocumentedRoleHasWhatIsUsed(t *testing.T) {
	further := []string{
		"Microsoft.Authorization/permissions/read", "Microsoft.Compute/galleries/images/read", "Microsoft.Compute/galleries/images/versions/read",
		"Microsoft.Compute/locations/communityGalleries/images/read", "Microsoft.Compute/locations/communityGalleries/images/versions/read",
		"Microsoft.Compute/locations/publishers/artifacttypes/offers/skus/versions/read", "Microsoft.Compute/locations/usages/read", "Microsoft.Features/providers/features/read",
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(actions(), further...))), slices.Sorted(slices.Values(documented(t)))); diff != "" {
		t.Error(diff)
	}
}
