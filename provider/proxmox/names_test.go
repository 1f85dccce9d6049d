// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestEndpointsMayLackPortAndPath(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://pve.example.com":                        "https://pve.example.com:8006/api2/json",
		"https://pve.example.com:8006":                   "https://pve.example.com:8006/api2/json",
		"https://pve.example.com:8006/":                  "https://pve.example.com:8006/api2/json",
		"https://pve.example.com:8006/api2/json":         "https://pve.example.com:8006/api2/json",
		"https://pve.example.com:8006/api2/json/":        "https://pve.example.com:8006/api2/json",
		"https://pve.example.com:8006/api2":              "https://pve.example.com:8006/api2/json",
		"https://pve.example.com:8006/#v1:0:18:4:::::::": "https://pve.example.com:8006/api2/json",
		"https://proxy.example.com:443/pve/":             "https://proxy.example.com:443/pve/api2/json",
		"https://[2001:db8::1]":                          "https://[2001:db8::1]:8006/api2/json",
		"http://pve.example.com:8006":                    "",
		"pve.example.com":                                "",
		"https://":                                       "",
	} {
		got, err := baseURL("connect", endpoint)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s is %q, want %q: %v", endpoint, got, want, err)
		}
	}
}

func TestCredentialsAreATokenOrAPassword(t *testing.T) {
	for name, c := range map[string]struct {
		data   map[string]string
		want   identity
		reason string
	}{
		"token":            {map[string]string{"token": "butler@pve!a", "tokenSecret": "s"}, identity{name: "butler@pve!a", secret: "s"}, ""},
		"other name of it": {map[string]string{"tokenId": "butler@pve!a", "tokenSecret": "s\n"}, identity{name: "butler@pve!a", secret: "s"}, ""},
		"password":         {map[string]string{"username": "root@pam", "password": " p "}, identity{name: "root@pam", password: " p "}, ""},
		"token first":      {map[string]string{"token": "b@pve!a", "tokenSecret": "s", "username": "x@pam", "password": "p"}, identity{name: "b@pve!a", secret: "s"}, ""},
		"nothing":          {map[string]string{"caBundle": "x"}, identity{}, provider.ReasonCredentialsIncomplete},
		"no secret":        {map[string]string{"token": "butler@pve!a"}, identity{}, provider.ReasonCredentialsIncomplete},
		"no password":      {map[string]string{"username": "root@pam"}, identity{}, provider.ReasonCredentialsIncomplete},
		"no realm":         {map[string]string{"username": "root", "password": "p"}, identity{}, provider.ReasonCredentialsIncomplete},
		"a user as token":  {map[string]string{"token": "root@pam", "tokenSecret": "s"}, identity{}, provider.ReasonCredentialsIncomplete},
		"both in one":      {map[string]string{"token": "root@pam!a=s"}, identity{}, provider.ReasonCredentialsIncomplete},
	} {
		data := map[string][]byte{}
		for k, v := range c.data {
			data[k] = []byte(v)
		}
		got, err := identityOf("connect", provider.NewCredentials(data))
		switch {
		case c.reason == "" && (err != nil || got != c.want):
			t.Errorf("%s: %v", name, err)
		case c.reason != "" && (err == nil || provider.ReasonOf(err) != c.reason):
			t.Errorf("%s: %v, want %s", name, err, c.reason)
		}
	}
}

func TestMarksSurviveDescriptionAndTags(t *testing.T) {
	set := tag.Set{OwnerID: "0b9f1c5e-7d3a-4c7e-9a57-3f1d2e4b6a80", ClusterID: "f3a2b1c0-1111-4222-8333-944455556666", Cluster: "mgmt", Machine: "mgmt-cp-0"}
	want := mark{set, 2004, "pve1"}
	compare := cmp.AllowUnexported(mark{})
	if diff := cmp.Diff(want, described(describe(set, 2004, "pve1")), compare); diff != "" {
		t.Error(diff)
	}
	s := provider.MachineSpec{MachineRef: provider.MachineRef{Name: set.Machine, Owner: provider.OwnerOf(set)}, Role: v1alpha1.RoleControlPlane}
	tags, err := tagsOf("create", s, attempt{VMID: 2004, Node: "PVE1"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, marked(words(joined(tags))), compare); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"", "made by hand", `{"vmid": "x"}`, `[1]`} {
		if diff := cmp.Diff(mark{}, described(text), compare); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestUserDataIsNamedByItsOwner(t *testing.T) {
	set := tag.Set{OwnerID: "o-1", ClusterID: "c-1", Cluster: "mgmt", Machine: "mgmt-w-0"}
	name := isoName(provider.MachineRef{Name: set.Machine, Owner: provider.OwnerOf(set)})
	for volid, want := range map[string]tag.Set{
		"local:iso/" + name: set, "nfs:iso/sub/" + name: set,
		"local:iso/talos.iso": {}, "local:iso/butler_talos.iso": {}, "local:iso/other_a_b_c_d.iso": {},
	} {
		if diff := cmp.Diff(want, isoOwner(volid)); diff != "" {
			t.Errorf("%s: %s", volid, diff)
		}
	}
}

func TestIDsAreDerivedFromTheOwner(t *testing.T) {
	p := &platform{}
	p.spec.VMIDRange = &v1alpha1.VMIDRange{Start: 200, End: 203}
	seen := map[number]bool{}
	for n := range 200 {
		id := p.candidate("owner", n)
		if id < 200 || id > 203 {
			t.Fatalf("attempt %d has VMID %d", n, id)
		}
		seen[id] = true
	}
	if len(seen) != 4 {
		t.Errorf("only %v are used", seen)
	}
	if a, b := p.candidate("owner", 0), p.candidate("owner", 0); a != b {
		t.Errorf("one attempt has the VMIDs %d and %d", a, b)
	}
	p.spec.VMIDRange = nil
	if id := p.candidate("owner", 0); id < firstVMID || id > lastVMID {
		t.Errorf("without a range the VMID is %d", id)
	}
}
