// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/nutanix"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// wantedSpec is a machine that the simulated cluster can run.
func wantedSpec(change ...func(*provider.MachineSpec)) provider.MachineSpec {
	s := provider.MachineSpec{
		MachineRef: provider.MachineRef{Name: "mgmt-w-0", Owner: provider.Owner{ID: "8a6b2c4e-1d3f-4a5b-9c7d-0e1f2a3b4c5d", ClusterID: "1f0e9d8c-7b6a-4c5d-8e4f-3a2b1c0d9e8f", Cluster: "mgmt"}},
		Role:       v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20, TalosVersion: talosVersion,
	}
	for _, f := range change {
		f(&s)
	}
	return s
}

// checked returns the findings by their checks.
func checked(t *testing.T, p provider.Platform, specs ...provider.MachineSpec) map[string]provider.Finding {
	t.Helper()
	found, err := p.Preflight.Check(t.Context(), specs)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]provider.Finding{}
	for _, f := range found {
		all[f.Check] = f
	}
	return all
}

// TestWhatMachinesNeedIsLookedFor with the role of the guide: everything can be seen.
func TestWhatMachinesNeedIsLookedFor(t *testing.T) {
	f := newFixture(t)
	all := checked(t, f.connected(t), wantedSpec())
	for check, message := range map[string]string{
		"Prism Central": "version pc.2024.3.0.1 serves the API v3", "permissions": "", "cluster " + clusterID: "butler-ahv, AOS",
		"subnet " + subnetID: "VLAN", "image " + imageID: "talos-v1.9.2-openstack-amd64", "storage container " + containerID: "20 GiB are requested, and",
		"capacity": "2.0 cores and 2.0 GiB are requested, and", "name mgmt-w-0": "",
	} {
		if got, found := all[check]; !found || got.Verdict != provider.Passed || !strings.Contains(got.Message, message) {
			t.Errorf("%s: %+v", check, got)
		}
	}
	if len(all) != 8 {
		t.Errorf("%d findings: %v", len(all), all)
	}
	providertest.ChoosesAndOffers(t, f.connected(t), f.config(), []provider.MachineSpec{wantedSpec()})
	t.Run("what is missing", func(t *testing.T) { refuseMissing(t, f) })
	t.Run("by names", func(t *testing.T) {
		named := f.connected(t, func(c *provider.Config) {
			c.Spec.Nutanix = &v1alpha1.NutanixSpec{
				Endpoint: "https://prism.example.com", ClusterUUID: clusterID, SubnetName: "vlan40",
				ImageName: "talos-v1.9.2-openstack-amd64", StorageContainerName: "SelfServiceContainer", Project: "default",
			}
		})
		for check, got := range checked(t, named, wantedSpec()) {
			if got.Verdict != provider.Passed {
				t.Errorf("%s: %+v", check, got)
			}
		}
		recordIDs(t, named)
	})
}

// recordIDs demands that a record has UUIDs: names may mean something else later.
func recordIDs(t *testing.T, p provider.Platform) {
	t.Helper()
	record, err := p.Plan(t.Context(), wantedSpec(), provider.Attempt{})
	if err != nil {
		t.Fatal(err)
	}
	var a attempt
	if err := json.Unmarshal([]byte(record), &a); err != nil || !isUUID(a.Image) || !isUUID(a.Subnet) || !isUUID(a.Project) || len(a.Containers) != 1 || !isUUID(a.Containers[0]) {
		t.Errorf("%s: %v", record, err)
	}
}

// refuseMissing is the table of wrong settings.
func refuseMissing(t *testing.T, f *fixture) {
	const nowhere = "11111111-2222-4333-8444-555555555555"
	for name, c := range map[string]struct {
		check   string
		verdict provider.Verdict
		says    string
		config  func(*v1alpha1.NutanixSpec)
		spec    func(*provider.MachineSpec)
	}{
		"cluster":          {"cluster " + nowhere, provider.Refused, "there is no cluster", func(s *v1alpha1.NutanixSpec) { s.ClusterUUID = nowhere }, nil},
		"subnet":           {"subnet " + nowhere, provider.Refused, "there is no subnet", func(s *v1alpha1.NutanixSpec) { s.SubnetUUID = nowhere }, nil},
		"subnet by name":   {"subnet none", provider.Refused, `no subnet "none"`, func(s *v1alpha1.NutanixSpec) { s.SubnetUUID, s.SubnetName = "", "none" }, nil},
		"image":            {"image " + nowhere, provider.Refused, "there is no image", func(s *v1alpha1.NutanixSpec) { s.ImageUUID = nowhere }, nil},
		"image by name":    {"image none", provider.Refused, `there is no image "none"`, nil, func(s *provider.MachineSpec) { s.Image = "none" }},
		"image of version": {"image for Talos v1.8.0", provider.Refused, "talos and v1.8.0", func(s *v1alpha1.NutanixSpec) { s.ImageUUID = "" }, func(s *provider.MachineSpec) { s.TalosVersion = "v1.8.0" }},
		"another version":  {"image " + imageID, provider.Unknown, "is not named after Talos v1.8.0", nil, func(s *provider.MachineSpec) { s.TalosVersion = "v1.8.0" }},
		"storage":          {"storage container " + nowhere, provider.Refused, "no storage container", func(s *v1alpha1.NutanixSpec) { s.StorageContainerUUID = nowhere }, nil},
		"storage of disk": {"storage container longhorn", provider.Refused, "no storage container", nil, func(s *provider.MachineSpec) {
			s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 5, StorageClass: "longhorn"}}
		}},
		"storage space": {"storage container " + containerID, provider.Unknown, "GiB are free", nil, func(s *provider.MachineSpec) { s.DiskGB = 1 << 30 }},
		"project":       {"project none", provider.Refused, `there is no project "none"`, func(s *v1alpha1.NutanixSpec) { s.Project = "none" }, nil},
		"capacity":      {"capacity", provider.Refused, "no host has more than", nil, func(s *provider.MachineSpec) { s.MemoryMB = 1 << 30 }},
		"certificate":   {"certificate", provider.Unknown, "is not verified", func(s *v1alpha1.NutanixSpec) { s.Insecure = true }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := f.connected(t, func(config *provider.Config) {
				if c.config != nil {
					c.config(config.Spec.Nutanix)
				}
			})
			s := wantedSpec()
			if c.spec != nil {
				c.spec(&s)
			}
			got, found := checked(t, p, s)[c.check]
			if !found || got.Verdict != c.verdict || !strings.Contains(got.Message, c.says) || got.Hint == "" {
				t.Errorf("%s: %+v", c.check, got)
			}
		})
	}
}

// TestPermissionsThatAreMissingAreNamed, and labels are refused without those on categories.
func TestPermissionsThatAreMissingAreNamed(t *testing.T) {
	without := func(names ...string) func(*sim.Seed) {
		return func(s *sim.Seed) {
			for _, p := range permissions() {
				if !strings.Contains(strings.Join(names, " "), p) {
					s.Permissions = append(s.Permissions, p)
				}
			}
		}
	}
	f := newFixture(t, without("Create_Or_Update_Name_Category", "Create_Or_Update_Value_Category"))
	p := f.connected(t)
	want := provider.Finding{Check: "permissions", Verdict: provider.Refused, Message: "not granted: Create_Or_Update_Name_Category, Create_Or_Update_Value_Category", Hint: hintPermission}
	if diff := cmp.Diff(want, checked(t, p, wantedSpec())["permissions"]); diff != "" {
		t.Error(diff)
	}
	for _, create := range []func(*provider.MachineSpec){func(*provider.MachineSpec) {}, func(s *provider.MachineSpec) { s.Labels = map[string]string{"tier": "gold"} }} {
		_, err := p.Machines.Create(t.Context(), wantedSpec(create))
		if provider.ReasonOf(err) != provider.ReasonPermissionDenied || !strings.Contains(err.Error(), "category") {
			t.Errorf("%v", err)
		}
	}
}

// TestRolesThatMayNotBeReadAreUnknown, and hosts that may not.
func TestRolesThatMayNotBeReadAreUnknown(t *testing.T) {
	const forbidden = `403 {"state":"ERROR","message_list":[{"message":"No permission.","reason":"ACCESS_DENIED"}]}`
	s, _ := server(t, answers{
		"GET /users/me":                  {`200 {"status":{"resources":{"access_control_policy_reference_list":[{"kind":"access_control_policy","uuid":"p"}]}}}`},
		"GET /access_control_policies/p": {forbidden},
		"POST /hosts/list":               {forbidden},
	})
	p := preflight{newPlatform(api(t, s), v1alpha1.NutanixSpec{}, "test")}
	for _, look := range []check.Check{p.permissions, p.capacity} {
		found, err := look(t.Context(), []provider.MachineSpec{wantedSpec()})
		if err != nil || len(found) != 1 || found[0].Verdict != provider.Unknown || found[0].Hint == "" {
			t.Errorf("%+v, %v", found, err)
		}
	}
}

// TestRolesOfGroupsAreUnknown: those of a directory's groups are not shown with the user.
func TestRolesOfGroupsAreUnknown(t *testing.T) {
	for kind, want := range map[string]provider.Verdict{"LOCAL": provider.Refused, "DIRECTORY_SERVICE": provider.Unknown, "IDP": provider.Unknown} {
		s, _ := server(t, answers{
			"GET /users/me":                  {`200 {"status":{"resources":{"user_type":"` + kind + `","access_control_policy_reference_list":[{"kind":"access_control_policy","uuid":"p"}]}}}`},
			"GET /access_control_policies/p": {`200 {"status":{"resources":{"role_reference":{"uuid":"r"}}}}`},
			"GET /roles/r":                   {`200 {"status":{"resources":{"permission_reference_list":[{"name":"View_Cluster"}]}}}`},
		})
		found, err := preflight{newPlatform(api(t, s), v1alpha1.NutanixSpec{}, "test")}.permissions(t.Context(), nil)
		if err != nil || len(found) != 1 || found[0].Verdict != want || found[0].Hint == "" || strings.Contains(found[0].Message, "View_Cluster") || !strings.Contains(found[0].Message, "View_Image") {
			t.Errorf("%s: %+v, %v", kind, found, err)
		}
	}
}

// TestAClusterWithoutAHVIsRefused, and one that cannot be seen.
func TestAClusterWithoutAHVIsRefused(t *testing.T) {
	s, _ := server(t, answers{"POST /clusters/list": {`200 {"metadata":{"total_matches":1},"entities":[{"metadata":{"uuid":"here"},"status":{"name":"esx","resources":{"nodes":{"hypervisor_server_list":[{"type":"ESX"}]}}}}]}`}})
	for id, reason := range map[string]string{"here": provider.ReasonFieldUnsupported, "elsewhere": reasonCluster} {
		_, err := newPlatform(api(t, s), v1alpha1.NutanixSpec{ClusterUUID: id}, "test").home(t.Context())
		if provider.ReasonOf(err) != reason || provider.KindOf(err) != provider.Invalid {
			t.Errorf("%s: %v", id, err)
		}
	}
}
