// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

const (
	ownerA = "0b9f1c5e-7d3a-4c7e-9a57-3f1d2e4b6a80"
	ownerB = "f3a2b1c0-1111-4222-8333-944455556666"
)

func TestNamesOfPartsFitAndCarryTheOwner(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, suffix := range []string{suffixNIC, suffixDisk, suffixAddress, suffixFrontend, suffixAllow, suffixDeny, "-disk-64", "-control-planes"} {
		if name := partName(ownerA, long, suffix); len(name) > mostName {
			t.Errorf("%s has %d characters", name, len(name))
		}
		if partName(ownerA, "m", suffix) == partName(ownerB, "m", suffix) {
			t.Errorf("two owners have the same %s", suffix)
		}
	}
}

func TestCopiesAreRecognizedByTheirNames(t *testing.T) {
	a := provider.Owner{ID: ownerA}
	for name, c := range map[string]struct {
		object string
		owner  provider.Owner
		want   bool
	}{
		"its own":                 {partName(ownerA, "m", suffixDisk), a, true},
		"in capitals":             {strings.ToUpper(partName(ownerA, "m", suffixDisk)), a, true},
		"of another owner":        {partName(ownerB, "m", suffixDisk), a, false},
		"of a longer name":        {partName(ownerA, "m-1", suffixDisk), a, false},
		"a restored copy":         {"m-restored-os", a, false},
		"without an owner at all": {partName("", "m", suffixDisk), provider.Owner{}, false},
	} {
		if got := original(c.object, c.owner, "m"); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestNamesThatANodeCannotHave(t *testing.T) {
	for name, refused := range map[string]bool{"mgmt-cp-0": false, "0-mgmt": false, "Mgmt": true, strings.Repeat("a", 64): true} {
		if got := unusableName(name) != ""; got != refused {
			t.Errorf("%s: refused %t", name, got)
		}
	}
}

func TestTagsThatAzureCannotHaveAreRefused(t *testing.T) {
	many := map[string]string{}
	for i := range 50 {
		many["l"+strings.Repeat("x", i)] = ""
	}
	for name, c := range map[string]struct {
		labels  map[string]string
		refused bool
	}{
		"plain":               {map[string]string{"tier": "gold"}, false},
		"a slash":             {map[string]string{"example.com/tier": "gold"}, true},
		"two of one name":     {map[string]string{"Tier": "a", "tier": "b"}, true},
		"a name that is kept": {map[string]string{"Microsoft.x": "a"}, true},
		"a long value":        {map[string]string{"tier": strings.Repeat("a", 257)}, true},
		"too many":            {many, true},
	} {
		s := provider.MachineSpec{MachineRef: provider.MachineRef{Name: "m", Owner: provider.Owner{ID: ownerA, ClusterID: ownerB, Cluster: "c"}}, Role: "worker", Labels: c.labels}
		tags, err := machineTags("", s)
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (tags["butler-owner-id"] != ownerA || tags["butler-role"] != "worker" || tags["kubernetes.io_cluster_c"] != "owned") {
			t.Errorf("%s: %v", name, tags)
		}
	}
}

func TestTheImageOfTheSettings(t *testing.T) {
	p := &platform{spec: v1alpha1.AzureSpec{ImageURN: "publisher:offer:sku:1.0.0"}}
	for want, s := range map[string]provider.MachineSpec{"publisher:offer:sku:1.0.0": {}, "own": {Image: "own"}} {
		if got := p.wanted(s); got != want {
			t.Errorf("image %q, want %q", got, want)
		}
	}
}
