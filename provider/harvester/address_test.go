// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"net/netip"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/provider"
)

// addressed is a spec with an address.
func addressed(s provider.MachineSpec) provider.MachineSpec {
	s.Network = &provider.Network{
		Address: netip.MustParsePrefix("10.40.0.61/16"), Gateway: netip.MustParseAddr("10.40.0.1"), DNSServers: []netip.Addr{netip.MustParseAddr("10.40.0.2")},
	}
	return s
}

func TestAnAddressIsNetworkDataForTheInterface(t *testing.T) {
	s := addressed(provider.MachineSpec{MachineRef: provider.MachineRef{Owner: provider.Owner{ID: "1"}}})
	spec := (&machines{}).virtualMachine(s, disks{}).Spec.Template.Spec
	mac := spec.Domain.Devices.Interfaces[0].MacAddress
	data := spec.Volumes[len(spec.Volumes)-1].CloudInitNoCloud
	if data == nil || data.UserData != "#cloud-config\n" {
		t.Fatalf("cloud-init %+v", data)
	}
	for _, want := range []string{mac, "10.40.0.61/16", "gateway4: 10.40.0.1", "10.40.0.2"} {
		if want == "" || !strings.Contains(data.NetworkData, want) {
			t.Errorf("no %q in\n%s", want, data.NetworkData)
		}
	}
	s.Network = nil
	spec = (&machines{}).virtualMachine(s, disks{}).Spec.Template.Spec
	if n := len(spec.Volumes); n != 1 || spec.Domain.Devices.Interfaces[0].MacAddress != "" {
		t.Errorf("without an address: %d volumes, hardware address %q", n, spec.Domain.Devices.Interfaces[0].MacAddress)
	}
}

func TestAnImageThatDoesNotReadNetworkDataIsKnownByItsSource(t *testing.T) {
	for reason, c := range map[string]struct{ url, name, want string }{
		"the factory's image for nocloud": {"https://factory.talos.dev/image/1/v1.9.2/nocloud-amd64.raw.xz", "talos", ""},
		"the factory's image for metal":   {"https://factory.talos.dev/image/1/v1.9.2/metal-amd64.raw.xz", "talos", "metal"},
		"an upload that is named":         {"", "talos-v1.9.2-openstack-amd64", "openstack"},
		"an upload that is not":           {"", "talos-v1.9.2", ""},
	} {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"url": c.url, "displayName": c.name}}}
		if got := platformShown(u); got != c.want {
			t.Errorf("%s: %q, want %q", reason, got, c.want)
		}
	}
}

// TestAnImageThatDoesNotReadNetworkDataIsRefused before anything is created, and only for a
// machine with an address.
func TestAnImageThatDoesNotReadNetworkDataIsRefused(t *testing.T) {
	m := onObjects(t, nil, "backingimage", storageClass("lh-image", provisionerLonghorn, nil))
	u, err := m.read(t.Context(), imageKind(), "default", "talos")
	if err != nil {
		t.Fatal(err)
	}
	u.Object["spec"].(map[string]any)["url"] = "https://factory.talos.dev/image/1/v1.9.2/metal-amd64.raw.xz"
	if err := m.api.Update(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	s := wanted("a")
	if _, err := m.Create(t.Context(), addressed(s)); provider.ReasonOf(err) != provider.ReasonAddressUnsupported || !strings.Contains(err.Error(), "nocloud") {
		t.Errorf("with an address: %v", err)
	}
	for pooled, want := range map[bool]int{false: 0, true: 1} {
		m.pooled = pooled
		found, err := preflight{m}.addressable(t.Context(), nil)
		if err != nil || len(found) != want || pooled && found[0].Verdict != provider.Refused {
			t.Errorf("with pools %v: %+v, %v", pooled, found, err)
		}
	}
	if _, err := m.Create(t.Context(), s); err != nil {
		t.Errorf("without an address: %v", err)
	}
}
