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
)

// TestPreflightRefusesWhatWouldFail: the sound subscription passes every check, and each
// defect is refused with what to do.
func TestPreflightRefusesWhatWouldFail(t *testing.T) {
	f := newFixture(t, sim.Seed{VCPUs: 16, Restricted: []string{"Standard_D16s_v5"}})
	other := newFixture(t, sim.Seed{NoWayOut: true, Role: roleWithout(t, "Microsoft.Compute/virtualMachines/write", "Microsoft.Network/loadBalancers/write", "Microsoft.Compute/locations/usages/read")})
	for name, c := range map[string]struct {
		*fixture
		config  func(*provider.Config)
		machine func(*provider.MachineSpec)
		want    map[string]provider.Verdict // by the beginning of a check
		says    string
	}{
		"a sound subscription":       {fixture: f},
		"another resource group":     {fixture: f, config: func(c *provider.Config) { c.Spec.Azure.ResourceGroup = "other" }, want: map[string]provider.Verdict{"resource group": provider.Refused, "subnet": provider.Refused, "security group": provider.Refused, "image": provider.Refused, "names": provider.Refused}, says: "other"},
		"another subnet":             {fixture: f, config: func(c *provider.Config) { c.Spec.Azure.SubnetName = "other" }, want: map[string]provider.Verdict{"subnet": provider.Refused}, says: "butler/other"},
		"no subnet":                  {fixture: f, config: func(c *provider.Config) { c.Spec.Azure.SubnetName = "" }, want: map[string]provider.Verdict{"subnet": provider.Refused}, says: "butler/nodes"},
		"no security group":          {fixture: f, config: func(c *provider.Config) { c.Spec.Azure.SecurityGroupName = "" }, want: map[string]provider.Verdict{"security group": provider.Refused}, says: "for example to nodes"},
		"another security group":     {fixture: f, config: func(c *provider.Config) { c.Spec.Azure.SecurityGroupName = "other" }, want: map[string]provider.Verdict{"security group": provider.Refused}, says: "other"},
		"another size":               {fixture: f, config: func(c *provider.Config) { c.Spec.Azure.VMSize = "Standard_X99" }, want: map[string]provider.Verdict{"VM size": provider.Refused}, says: "Standard_X99"},
		"a restricted size":          {fixture: f, config: func(c *provider.Config) { c.Spec.Azure.VMSize = "Standard_D16s_v5" }, want: map[string]provider.Verdict{"VM size": provider.Refused}, says: "NotAvailableForSubscription"},
		"a size that is too small":   {fixture: f, config: func(c *provider.Config) { c.Spec.Azure.VMSize = "Standard_D2s_v5" }, want: map[string]provider.Verdict{"VM size": provider.Refused}, says: "Standard_D2s_v5 has 2 vCPUs"},
		"an image that is not there": {fixture: f, machine: func(s *provider.MachineSpec) { s.Image = "talos-v0.0.1" }, want: map[string]provider.Verdict{"image": provider.Refused}, says: "talos-v0.0.1"},
		"an image of another kind":   {fixture: f, machine: func(s *provider.MachineSpec) { s.Image = "a:b:c" }, want: map[string]provider.Verdict{"image": provider.Refused}, says: "publisher:offer:sku:version"},
		"another schematic":          {fixture: f, machine: func(s *provider.MachineSpec) { s.Schematic = strings.Repeat("a", 64) }, want: map[string]provider.Verdict{"image": provider.Unknown}, says: "without extensions"},
		"more than the quota":        {fixture: f, machine: func(s *provider.MachineSpec) { s.CPU, s.MemoryMB = 8, 16384 }, want: map[string]provider.Verdict{"vCPU quota": provider.Refused}, says: "24 vCPUs are asked for"},
		"a name in capitals":         {fixture: f, machine: func(s *provider.MachineSpec) { s.Name = strings.ToUpper(s.Name) }, want: map[string]provider.Verdict{"name": provider.Refused}, says: "capital letters"},
		"a poor role":                {fixture: other, want: map[string]provider.Verdict{"permissions": provider.Refused, "subnet": provider.Unknown, "vCPU quota": provider.Unknown}, says: "Microsoft.Network/loadBalancers/write"},
	} {
		t.Run(name, func(t *testing.T) {
			specs := cluster()
			for i := range specs {
				if c.machine != nil {
					c.machine(&specs[i])
				}
			}
			if c.config == nil {
				c.config = func(*provider.Config) {}
			}
			found, err := c.connected(t, c.config).Preflight.Check(t.Context(), specs)
			if err != nil {
				t.Fatal(err)
			}
			got, text := map[string]provider.Verdict{}, ""
			for _, f := range found {
				text += f.Check + ": " + f.Message + "; " + f.Hint + "\n"
				if f.Verdict == provider.Passed {
					continue
				}
				for _, about := range sortedKeys(c.want) {
					if strings.HasPrefix(f.Check, about) {
						f.Check = about
					}
				}
				got[f.Check] = f.Verdict
				if f.Hint == "" || f.Message == "" {
					t.Errorf("%s has no hint or no message: %+v", f.Check, f)
				}
			}
			want := c.want
			if want == nil {
				want = map[string]provider.Verdict{}
			}
			if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(text, c.says) {
				t.Errorf("%s\n%s", diff, text)
			}
		})
	}
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
