// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// TestAMachineIsAVMOfTheRequestedSize reads the request that creates it.
func TestAMachineIsAVMOfTheRequestedSize(t *testing.T) {
	p := newPlatform(prism{&caller{http: &http.Client{}}}, v1alpha1.NutanixSpec{ClusterUUID: "here", CoresPerSocket: 2}, "nutanix-prod")
	s := provider.MachineSpec{
		MachineRef: provider.MachineRef{Name: "mgmt-cp-0", Owner: provider.Owner{ID: "o", ClusterID: "c", Cluster: "mgmt"}},
		CPU:        4, MemoryMB: 8192, DiskGB: 50, UserData: "#cloud-config", ExtraDisks: []v1alpha1.DiskSpec{{SizeGB: 20}, {SizeGB: 30}},
	}
	a := attempt{Image: "talos", Subnet: "net", Project: "platform", Containers: []string{"", "fast", ""}}
	text, err := json.Marshal(vmInput(machines{p}.order(s, a, map[string]string{"butler-c": "control-plane"})))
	if err != nil {
		t.Fatal(err)
	}
	disk := func(index, gib int, more string) string {
		return fmt.Sprintf(`{"device_properties":{"device_type":"DISK","disk_address":{"adapter_type":"SCSI","device_index":%d}},"disk_size_mib":%d%s}`, index, gib<<10, more)
	}
	want := `{"api_version":"3.1.0","metadata":{"kind":"vm","project_reference":{"kind":"project","uuid":"platform"},"categories":{"butler-c":"control-plane"}},
	"spec":{"name":"mgmt-cp-0","cluster_reference":{"kind":"cluster","uuid":"here"},
	"description":"{\"butler-cluster\":\"mgmt\",\"butler-cluster-id\":\"c\",\"butler-machine\":\"mgmt-cp-0\",\"butler-owner-id\":\"o\"}",
	"resources":{"boot_config":{"boot_type":"UEFI"},"guest_customization":{"cloud_init":{"user_data":"I2Nsb3VkLWNvbmZpZw=="}},"hardware_clock_timezone":"UTC",
	"memory_size_mib":8192,"num_sockets":2,"num_vcpus_per_socket":2,"power_state":"ON","nic_list":[{"subnet_reference":{"kind":"subnet","uuid":"net"},"is_connected":true}],
	"disk_list":[` + disk(0, 50, `,"data_source_reference":{"kind":"image","uuid":"talos"}`) + "," +
		disk(1, 20, `,"storage_config":{"storage_container_reference":{"kind":"storage_container","uuid":"fast"}}`) + "," + disk(2, 30, "") + `]}}}`
	if diff := cmp.Diff(parsed(t, want), parsed(t, string(text))); diff != "" {
		t.Error(diff)
	}
}

// TestAnAddressIsThatOfTheInterface reads the request that creates a machine with one.
func TestAnAddressIsThatOfTheInterface(t *testing.T) {
	p := newPlatform(prism{&caller{http: &http.Client{}}}, v1alpha1.NutanixSpec{}, "nutanix-prod")
	s := provider.MachineSpec{Network: &provider.Network{Address: netip.MustParsePrefix("10.40.0.61/16")}}
	o := machines{p}.order(s, attempt{Subnet: "net", Containers: []string{""}}, nil)
	got := vmInput(o).Spec.Resources.NicList[0].IPEndpointList
	if len(got) != 1 || *got[0].IP != "10.40.0.61" || *got[0].Type != "ASSIGNED" {
		t.Errorf("%+v", got)
	}
}

func TestTheAddressesOfASubnetAreRead(t *testing.T) {
	const managed = `200 {"metadata":{"uuid":"net"},"status":{"name":"vlan40","resources":{"subnet_type":"VLAN","vlan_id":40,"ip_config":{"subnet_ip":"10.40.0.0","prefix_length":16,` +
		`"default_gateway_ip":"10.40.0.1","pool_list":[{"range":"10.40.1.10 10.40.1.20"},{"range":"nonsense"}]}}}}`
	s, _ := server(t, answers{"GET /subnets/net": {managed}, "GET /subnets/bare": {`200 {"metadata":{"uuid":"bare"},"status":{"name":"vlan41","resources":{"vlan_id":41}}}`}})
	net, err := api(t, s).subnet(t.Context(), "net")
	if got := net.addresses; err != nil || got.network.String() != "10.40.0.0/16" || got.gateway.String() != "10.40.0.1" || len(got.pools) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for address, want := range map[string]bool{"10.40.1.9": false, "10.40.1.10": true, "10.40.1.20": true, "10.40.1.21": false} {
		if net.addresses.assigns(netip.MustParseAddr(address)) != want {
			t.Errorf("%s: not %v", address, want)
		}
	}
	if bare, err := api(t, s).subnet(t.Context(), "bare"); err != nil || bare.addresses.managed() {
		t.Errorf("%+v, %v", bare, err)
	}
}

func parsed(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// TestAnUpdateIsReadAgainAfterAConflict: another writer has changed the VM.
// TestAddressesHaveAnOrder: those that were assigned come first, and those that were learned in
// the same order each time.
func TestAddressesHaveAnOrder(t *testing.T) {
	learned := func(ip string) string { return `{"type":"LEARNED","ip":"` + ip + `"}` }
	assigned := `{"type":"ASSIGNED","ip":"10.40.0.200"}`
	want := []string{"10.40.0.200", "10.40.0.9", "10.40.0.21", "fd00::9"}
	for _, list := range [][]string{
		{learned("10.40.0.21"), learned("fd00::9"), assigned, learned("10.40.0.9")},
		{learned("10.40.0.9"), assigned, learned("10.40.0.21"), learned("fd00::9")},
	} {
		s, _ := server(t, answers{"GET /vms/u": {`200 {"status":{"resources":{"nic_list":[{"ip_endpoint_list":[` + strings.Join(list, ",") + `]}]}}}`}})
		got, err := api(t, s).vm(t.Context(), "u")
		if err != nil || len(got.nics) != 1 || !slices.Equal(got.nics[0].addresses, want) {
			t.Errorf("%+v, %v, want %v", got.nics, err, want)
		}
	}
}

func TestAnUpdateIsReadAgainAfterAConflict(t *testing.T) {
	read := func(version int, field string) string {
		return fmt.Sprintf(`200 {"api_version":"3.1","metadata":{"kind":"vm","uuid":"u","spec_version":%d},"spec":{"name":"a","resources":{"power_state":"OFF","unknown":%q}},"status":{"state":"ERROR"}}`, version, field)
	}
	s, sent := server(t, answers{
		"GET /vms/u": {read(3, "first"), read(4, "second")},
		"PUT /vms/u": {`409 {"state":"ERROR","code":409,"message_list":[{"message":"Edit conflict: please retry change.","reason":"CONCURRENT_REQUESTS_NOT_ALLOWED"}]}`, `202 {}`},
	})
	if err := api(t, s).power(t.Context(), "u", powerOn); err != nil {
		t.Fatal(err)
	}
	if len(*sent) != 4 {
		t.Fatalf("%q", *sent)
	}
	want := parsed(t, `{"api_version":"3.1","metadata":{"kind":"vm","uuid":"u","spec_version":4},"spec":{"name":"a","resources":{"power_state":"ON","unknown":"second"}}}`)
	if diff := cmp.Diff(want, any(decoded(t, (*sent)[3], "PUT /vms/u"))); diff != "" {
		t.Error(diff)
	}
}

// TestAnAcceptedCreationThatCannotBeReadIsNoRefusal: the VM may exist, and a refusal would
// have it created once more. What only reads may be refused.
func TestAnAcceptedCreationThatCannotBeReadIsNoRefusal(t *testing.T) {
	create := func(p prism) error { _, err := p.createVM(t.Context(), order{name: "a"}); return err }
	list := func(p prism) error { _, err := p.listVMs(t.Context(), ""); return err }
	groups := func(p prism) error { _, err := p.listContainers(t.Context()); return err }
	for name, c := range map[string]struct {
		answer string
		call   func(prism) error
		kind   provider.Kind
		reason string
	}{
		"creation, no JSON":    {"202 <html>Welcome</html>", create, provider.Unavailable, provider.ReasonPlatformUnavailable},
		"creation, empty":      {"202", create, provider.Unavailable, provider.ReasonPlatformUnavailable},
		"creation, no UUID":    {`202 {"metadata":{"kind":"vm"}}`, create, provider.Unavailable, provider.ReasonPlatformUnavailable},
		"creation, other type": {`200 {"metadata":"none"}`, create, provider.Unavailable, provider.ReasonPlatformUnavailable},
		"listing, no JSON":     {"200 <html>Welcome</html>", list, provider.Invalid, provider.ReasonEndpointForeign},
		"query, no JSON":       {"200 <html>Welcome</html>", groups, provider.Invalid, provider.ReasonEndpointForeign},
	} {
		s, _ := server(t, answers{"POST /vms": {c.answer}, "POST /vms/list": {c.answer}, "POST /groups": {c.answer}})
		err := apiError("try", c.call(api(t, s)))
		if err == nil || provider.KindOf(err) != c.kind || provider.ReasonOf(err) != c.reason {
			t.Errorf("%s: %s %s: %v", name, provider.KindOf(err), provider.ReasonOf(err), err)
		}
	}
}

// TestAListThatShrinksIsReadAgain: entities would be on pages that were read before.
func TestAListThatShrinksIsReadAgain(t *testing.T) {
	pageOf := func(total int, names ...string) string {
		var all []string
		for _, n := range names {
			all = append(all, fmt.Sprintf(`{"metadata":{"uuid":%q},"spec":{"name":%q},"status":{}}`, n, n))
		}
		return fmt.Sprintf(`200 {"metadata":{"total_matches":%d},"entities":[%s]}`, total, strings.Join(all, ","))
	}
	s, sent := server(t, answers{"POST /vms/list": {pageOf(502, "a"), pageOf(501, "c"), pageOf(501, "b"), pageOf(501, "c")}})
	all, err := api(t, s).listVMs(t.Context(), "")
	if err != nil || len(all) != 2 || all[0].name != "b" || all[1].name != "c" || len(*sent) != 4 {
		t.Errorf("%v, %v after %q", all, err, *sent)
	}
	s, _ = server(t, answers{"POST /vms/list": {pageOf(502, "a"), pageOf(501, "c"), pageOf(502, "a"), pageOf(501, "c"), pageOf(502, "a"), pageOf(501, "c")}})
	if _, err := api(t, s).listVMs(t.Context(), ""); provider.KindOf(apiError("list", err)) != provider.Unavailable || err == nil {
		t.Errorf("a list that changes all the time: %v", err)
	}
}

// TestNamesAreNotReadAsFilters: those with other characters than plain ones are looked for in
// the whole list.
func TestNamesAreNotReadAsFilters(t *testing.T) {
	f := newFixture(t)
	p := newPlatform(prism{}, v1alpha1.NutanixSpec{ClusterUUID: clusterID}, "nutanix-prod")
	var err error
	if p.prism, err = newPrism("test", f.config()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.release)
	for _, name := range []string{"talos-v1.9.2 new", "talos (new)", "a,b", "a;b", "a==b", "talos.*", "[a", "talos+x", "Größe"} {
		body := map[string]any{"metadata": map[string]any{"kind": "vm"}, "spec": map[string]any{
			"name": name, "cluster_reference": map[string]any{"kind": "cluster", "uuid": clusterID},
			"resources": map[string]any{"num_sockets": 1, "num_vcpus_per_socket": 1, "memory_size_mib": 1024, "power_state": "OFF"},
		}}
		if err := (operator{f}).call(t.Context(), http.MethodPost, "vms", body, nil); err != nil {
			t.Fatal(err)
		}
		eventually(t, "VM "+name+" is found", func() bool {
			all, err := (machines{p}).named(t.Context(), name)
			if err != nil {
				t.Fatalf("VM %q: %v", name, err)
			}
			return len(all) == 1
		})
	}
	for filter, want := range map[string]string{"": "", "name==talos-v1.9.2 new": "name==talos-v1.9.2 new", "name==vlan,40": "", "name==": "", "name==a|b": "", "vm_name==a==b": ""} {
		if got := literal(filter); got != want {
			t.Errorf("%q: %q", filter, got)
		}
	}
}

// TestFewFilesKnowTheVendorsTypes, so that another version of the API replaces these files.
func TestFewFilesKnowTheVendorsTypes(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if imports := strings.Contains(string(content), "nutanix-cloud-native/"+"prism-go-client"); imports != slices.Contains([]string{"sdk.go", "sdklist.go", "sdktype.go"}, file) {
			t.Errorf("%s imports the vendor's client: %t", file, imports)
		}
	}
}
