// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/provider"
)

// network is that of a machine with an address; an empty gateway is none.
func network(address, gateway string, servers ...string) *provider.Network {
	n := &provider.Network{Address: netip.MustParsePrefix(address)}
	if gateway != "" {
		n.Gateway = netip.MustParseAddr(gateway)
	}
	for _, s := range servers {
		n.DNSServers = append(n.DNSServers, netip.MustParseAddr(s))
	}
	return n
}

func TestAnAddressThatIsSetIsNotSetAgain(t *testing.T) {
	addressed := func(_ *machines, s *provider.MachineSpec) {
		s.Network = network("10.40.0.61/16", "10.40.0.1", "10.40.0.2")
	}
	done := cloneOf()
	for name, value := range wanted(t, cloneOf(), addressed) {
		done[name], _ = value.(string)
	}
	done["ipconfig0"] = "gw=10.40.0.1,ip=10.40.0.61/16"
	if again := wanted(t, done, addressed); len(again) > 0 {
		t.Errorf("it is configured again: %v", again)
	}
}

func TestAnAddressBesideUserDataIsOnTheirDrive(t *testing.T) {
	s := provider.MachineSpec{UserData: "machine: {}", Network: network("10.40.0.61/16", "10.40.0.1")}
	s.Owner.ID = "owner"
	content := driveImage(s)
	for _, want := range []string{"machine: {}", "10.40.0.61/16", strings.ToLower(macOf("owner"))} {
		if !bytes.Contains(content, []byte(want)) {
			t.Errorf("%q is not on the drive", want)
		}
	}
}

func TestATemplateHasToPassTheAddressOn(t *testing.T) {
	for reason, c := range map[string]struct {
		settings settings
		data     provider.Sensitive
		refused  string
	}{
		"a template like that of the guide": {settings{}, "", ""},
		"drives that Talos reads":           {settings{"citype": "nocloud"}, "", ""},
		"drives that Talos does not read":   {settings{"citype": "configdrive2"}, "", "--citype nocloud"},
		"a network configuration of its own": {
			settings{"cicustom": "user=local:snippets/u.yaml,network=local:snippets/n.yaml"}, "", "--delete cicustom",
		},
		"user data of its own":            {settings{"cicustom": "user=local:snippets/u.yaml"}, "", ""},
		"no room for the drive":           {settings{"ide0": "a:b", "ide2": "a:c", "sata4": "a:d", "sata5": "a:e"}, "", "--delete ide2"},
		"the drive is the driver's alone": {settings{"citype": "configdrive2"}, "machine: {}", ""},
	} {
		c.settings["virtio0"] = "local-lvm:base-9000-disk-0,size=10G"
		err := template{settings: c.settings}.check(provider.MachineSpec{DiskGB: 20, Network: network("10.40.0.61/16", ""), UserData: c.data})
		if (err != nil) != (c.refused != "") {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		if err != nil && (provider.ReasonOf(err) != provider.ReasonAddressUnsupported || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// TestPreflightLooksWhetherTheTemplatePassesAddressesOn where addresses come from NetworkPools.
func TestPreflightLooksWhetherTheTemplatePassesAddressesOn(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	for i := range 3 {
		path := fmt.Sprintf("/nodes/pve%d/qemu/%d/config", i+1, 9000+i)
		if err := f.admin.Call(t.Context(), http.MethodPut, path, nil, "citype", "configdrive2"); err != nil {
			t.Fatal(err)
		}
	}
	for mode, want := range map[v1alpha1.NetworkMode]provider.Verdict{"": "", v1alpha1.NetworkModeIPAM: provider.Refused} {
		p := f.connected(t, func(c *provider.Config) { c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Mode: mode} })
		if got := checked(t, p, machine("mgmt-w-0"))["template talos-v1.9.2"]; got.Verdict != want {
			t.Errorf("mode %q: %+v", mode, got)
		}
	}
}
