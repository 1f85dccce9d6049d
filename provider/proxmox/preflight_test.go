// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"slices"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// checked returns the findings that do not pass, by their check.
func checked(t *testing.T, p provider.Platform, specs ...provider.MachineSpec) map[string]provider.Finding {
	t.Helper()
	found, err := p.Preflight.Check(t.Context(), specs)
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string]provider.Finding{}
	for _, f := range found {
		if f.Verdict != provider.Passed {
			bad[f.Check] = f
		}
		if f.Verdict != provider.Passed && (f.Message == "" || f.Hint == "") {
			t.Errorf("%s does not say what is wrong, or what to do: %+v", f.Check, f)
		}
	}
	return bad
}

// TestPreflightNamesWhatIsMissing: one wrong setting, one finding.
func TestPreflightNamesWhatIsMissing(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	providertest.ChoosesAndOffers(t, f.connected(t), f.config(), []provider.MachineSpec{machine("mgmt-w-0")})
	for what, c := range map[string]struct {
		settings func(*v1alpha1.ProxmoxSpec)
		machine  func(*provider.MachineSpec)
		check    string
		verdict  provider.Verdict
	}{
		"nothing":         {},
		"template":        {func(s *v1alpha1.ProxmoxSpec) { s.Template = "talos-none" }, nil, "template talos-none", provider.Refused},
		"another version": {nil, func(s *provider.MachineSpec) { s.TalosVersion = "v1.9.3" }, "template talos-v1.9.2", provider.Unknown},
		"storage":         {func(s *v1alpha1.ProxmoxSpec) { s.Storage = "none" }, nil, "storage none", provider.Refused},
		"content":         {func(s *v1alpha1.ProxmoxSpec) { s.Storage = "local" }, nil, "storage local", provider.Refused},
		"space":           {nil, func(s *provider.MachineSpec) { s.DiskGB = 1 << 20 }, "storage local-lvm", provider.Unknown},
		"memory":          {nil, func(s *provider.MachineSpec) { s.MemoryMB = 1 << 30 }, "capacity", provider.Refused},
		"bridge":          {func(s *v1alpha1.ProxmoxSpec) { s.Bridge = "vmbr9" }, nil, "bridge vmbr9", provider.Refused},
		"node":            {func(s *v1alpha1.ProxmoxSpec) { s.Nodes = append(s.Nodes, "pve9") }, nil, "node pve9", provider.Refused},
		"range":           {func(s *v1alpha1.ProxmoxSpec) { s.VMIDRange = &v1alpha1.VMIDRange{Start: 9000, End: 9000} }, nil, "VMIDs 9000 to 9000", provider.Refused},
		"name":            {nil, func(s *provider.MachineSpec) { s.Name = "talos-v1.9.2" }, "name talos-v1.9.2", provider.Refused},
	} {
		s := machine("mgmt-w-0")
		if c.machine != nil {
			c.machine(&s)
		}
		p := f.connected(t, func(config *provider.Config) {
			if c.settings != nil {
				c.settings(config.Spec.Proxmox)
			}
		})
		bad := checked(t, p, s)
		if c.check == "" && len(bad) > 0 || c.check != "" && bad[c.check].Verdict != c.verdict {
			t.Errorf("%s: %+v, want %s %s", what, bad, c.check, c.verdict)
		}
	}
}

// TestPreflightAsksForTheStoragesOfFurtherDisks.
func TestPreflightAsksForTheStoragesOfFurtherDisks(t *testing.T) {
	commands := documented(t) + "pveum acl modify /storage/fast --tokens 'butler@pve!butler' --roles NoAccess\n"
	f := newFixture(t, sim.Seed{Commands: commands, Storage: []sim.Storage{{Name: "fast", Type: "zfspool", Content: []string{"images"}, SizeGB: 100}}})
	s := machine("mgmt-w-0", func(s *provider.MachineSpec) { s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 10, StorageClass: "fast"}} })
	found := checked(t, f.connected(t), s)["permissions on /storage/fast"]
	if found.Verdict != provider.Refused || !strings.Contains(found.Message, "Datastore.AllocateSpace") {
		t.Errorf("%+v", found)
	}
}

// TestMoreDisksThanTheBusTakes are refused before anything is created.
func TestMoreDisksThanTheBusTakes(t *testing.T) {
	s := machine("mgmt-w-0", func(s *provider.MachineSpec) {
		s.ExtraDisks = slices.Repeat([]v1alpha1.DiskSpec{{SizeGB: 10}}, mostDisks)
	})
	if err := refuseSpec("create", s); err != nil {
		t.Errorf("%d disks: %v", len(s.ExtraDisks), err)
	}
	s.ExtraDisks = append(s.ExtraDisks, v1alpha1.DiskSpec{SizeGB: 10})
	if err := refuseSpec("create", s); provider.ReasonOf(err) != provider.ReasonFieldUnsupported {
		t.Errorf("%d disks: %v", len(s.ExtraDisks), err)
	}
}

// TestPreflightNamesThePrivilegeAndThePath, and explains the separation of privileges.
func TestPreflightNamesThePrivilegeAndThePath(t *testing.T) {
	commands := strings.Replace(documented(t), " VM.Clone", "", 1)
	f := newFixture(t, sim.Seed{Commands: commands})
	bad := checked(t, f.connected(t), machine("mgmt-w-0"))
	found := bad["permissions on /vms"]
	if len(bad) != 1 || found.Verdict != provider.Refused || !strings.Contains(found.Message, "VM.Clone is not granted") || !strings.Contains(found.Hint, "privilege separation") {
		t.Errorf("%+v", bad)
	}
}

// TestPrivilegesHaveToHoldForTheVMs: those on /vms alone do not show any.
func TestPrivilegesHaveToHoldForTheVMs(t *testing.T) {
	var commands strings.Builder
	for line := range strings.Lines(documented(t)) {
		if !strings.Contains(line, "acl modify / ") {
			commands.WriteString(line)
			continue
		}
		for _, path := range []string{"/nodes", "/sdn", "/storage"} {
			commands.WriteString(strings.Replace(line, "modify / ", "modify "+path+" ", 1))
		}
		commands.WriteString(strings.TrimSpace(strings.Replace(line, "modify / ", "modify /vms ", 1)) + " --propagate 0\n")
	}
	f := newFixture(t, sim.Seed{Commands: commands.String()})
	p := f.connected(t)
	bad := checked(t, p, machine("mgmt-w-0"))
	found := bad["permissions on /vms"]
	if found.Verdict != provider.Refused || !strings.Contains(found.Message, "VM.Audit") || !strings.Contains(found.Hint, "propagation") {
		t.Errorf("%+v", bad)
	}
	if is, err := p.Machines.Observe(t.Context(), machine("mgmt-w-0").MachineRef); provider.ReasonOf(err) != provider.ReasonPermissionDenied {
		t.Errorf("VMs that cannot be seen are %s: %v", is.State, err)
	}
}
