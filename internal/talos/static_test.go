// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func staticNode(r Role) Node {
	return Node{Name: "dev-cluster-cp-0", Role: r, Static: Static{
		Address: netip.MustParsePrefix("10.40.0.11/24"), Gateway: netip.MustParseAddr("10.40.0.1"),
		DNS: []netip.Addr{netip.MustParseAddr("10.40.0.2")}, Time: []string{"time.example.com"}, MAC: "02:00:00:AA:BB:01",
	}}
}

func TestStaticAddressIsWrittenAsTheTalosVersionReadsIt(t *testing.T) {
	for _, version := range []string{"v1.7.6", "v1.9.2", "v1.11.0"} {
		c := testCluster(version)
		want := "machine:\n  network:\n    hostname: dev-cluster-cp-0\n    interfaces:\n    - addresses:\n      - 10.40.0.11/24\n      deviceSelector:\n        hardwareAddr: 02:00:00:aa:bb:01\n      dhcp: false\n      routes:\n      - gateway: 10.40.0.1\n        network: 0.0.0.0/0\n%s    nameservers:\n    - 10.40.0.2\n  time:\n    servers:\n    - time.example.com\n"
		compareNetwork(t, c, staticNode(Worker), strings.ReplaceAll(want, "%s", ""))
		c.SharedIP.Address = "10.40.0.100"
		compareNetwork(t, c, staticNode(ControlPlane), strings.ReplaceAll(want, "%s", "      vip:\n        ip: 10.40.0.100\n"))
		compareNetwork(t, c, staticNode(Worker), strings.ReplaceAll(want, "%s", ""))
	}
	for _, version := range []string{"v1.12.0", "v1.13.0"} {
		c := testCluster(version)
		want := "apiVersion: v1alpha1\nkind: LinkAliasConfig\nname: uplink\nselector:\n    match: mac(link.permanent_addr) == \"02:00:00:aa:bb:01\"\n---\n" +
			"apiVersion: v1alpha1\nkind: LinkConfig\nname: uplink\naddresses:\n    - address: 10.40.0.11/24\nroutes:\n    - gateway: 10.40.0.1\n---\n" +
			"apiVersion: v1alpha1\nkind: ResolverConfig\nnameservers:\n    - address: 10.40.0.2\n---\n" +
			"apiVersion: v1alpha1\nkind: TimeSyncConfig\nntp:\n    servers:\n        - time.example.com\n"
		compareNetwork(t, c, staticNode(Worker), want)
		c.SharedIP.Address = "10.40.0.100"
		compareNetwork(t, c, staticNode(ControlPlane), want+"---\napiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: 10.40.0.100\nlink: uplink\n")
	}
}

// compareNetwork compares what a configuration says about the network: the fields of its
// first document, or else all documents after that of the host name.
func compareNetwork(t *testing.T, c Cluster, n Node, want string) {
	t.Helper()
	data, err := Config(testSecrets(t), c, n)
	if err != nil {
		t.Fatal(err)
	}
	if warnings, err := load(t, data).Validate(mode{}); err != nil || len(warnings) > 0 {
		t.Errorf("machinery says %v, %v", warnings, err)
	}
	first, rest, _ := strings.Cut(string(data), "\n---\n")
	if _, documents, found := strings.Cut(rest, "hostname: "+n.Name+"\n---\n"); found {
		if diff := cmp.Diff(want, documents); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.TalosVersion, diff)
		}
		return
	}
	if diff := cmp.Diff(want, fields(t, first)); diff != "" {
		t.Errorf("%s: (-want +got)\n%s", c.TalosVersion, diff)
	}
}

func fields(t *testing.T, document string) string {
	t.Helper()
	var all struct {
		Machine map[string]any `json:"machine"`
	}
	if err := yaml.Unmarshal([]byte(document), &all); err != nil {
		t.Fatal(err)
	}
	out, err := yaml.Marshal(map[string]any{"machine": map[string]any{"network": all.Machine["network"], "time": all.Machine["time"]}})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestStaticAddressIsFoundWithoutAHardwareAddress(t *testing.T) {
	for version, want := range map[string]string{"v1.9.2": "physical: true", "v1.12.0": "match: link.type == 1"} {
		n := staticNode(Worker)
		n.Static.MAC = ""
		data, err := Config(testSecrets(t), testCluster(version), n)
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, and no %q in it", version, err, want)
		}
		c := testCluster(version)
		c.SharedIP = SharedIP{Address: "10.40.0.100", Interface: "eth0"}
		data, err = Config(testSecrets(t), c, staticNode(ControlPlane))
		if err != nil || strings.Contains(string(data), "02:00:00:aa:bb:01") || !strings.Contains(string(data), "eth0") {
			t.Errorf("%s: %v, and the interface that was named is not used", version, err)
		}
	}
}

func TestStaticAddressOfIPv6HasItsOwnDefaultRoute(t *testing.T) {
	n := staticNode(Worker)
	n.Static.Address, n.Static.Gateway = netip.MustParsePrefix("2001:db8::11/64"), netip.MustParseAddr("2001:db8::1")
	data, err := Config(testSecrets(t), testCluster("v1.9.2"), n)
	if err != nil || !strings.Contains(string(data), "network: ::/0") {
		t.Errorf("%v", err)
	}
}

func TestStaticAddressRefuses(t *testing.T) {
	for want, change := range map[string]func(*Static){
		"gateway 10.41.0.1 is not in the network":   func(s *Static) { s.Gateway = netip.MustParseAddr("10.41.0.1") },
		"gateway 2001:db8::1 is not in the network": func(s *Static) { s.Gateway = netip.MustParseAddr("2001:db8::1") },
		"invalid MAC address":                       func(s *Static) { s.MAC = "none" },
	} {
		n := staticNode(Worker)
		change(&n.Static)
		if _, err := Config(testSecrets(t), testCluster("v1.12.0"), n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
