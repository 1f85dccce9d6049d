// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"reflect"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestLabelsThatTheDriverSetsAreReserved(t *testing.T) {
	owned := MachineSpec{MachineRef: MachineRef{Name: "mgmt-cp-0", Owner: Owner{ID: "1", ClusterID: "2", Cluster: "mgmt"}}, Role: v1alpha1.RoleControlPlane}
	labelled := func(label, value string) MachineSpec {
		s := owned
		s.Labels = map[string]string{label: value}
		return s
	}
	for name, c := range map[string]struct {
		spec   MachineSpec
		reason string
	}{
		"no owner":                 {MachineSpec{}, ReasonOwnerMissing},
		"no labels":                {owned, ""},
		"a label of the user":      {labelled("tier", "gold"), ""},
		"the role as it is":        {labelled(v1alpha1.LabelRole, string(v1alpha1.RoleControlPlane)), ""},
		"another role":             {labelled(v1alpha1.LabelRole, string(v1alpha1.RoleWorker)), ReasonLabelReserved},
		"the cluster as it is":     {labelled(tag.Cluster, "mgmt"), ""},
		"another cluster":          {labelled(tag.Cluster, "other"), ReasonLabelReserved},
		"an owner":                 {labelled(tag.OwnerID, "1"), ReasonLabelReserved},
		"a cluster id":             {labelled(tag.ClusterID, "2"), ReasonLabelReserved},
		"a machine":                {labelled(tag.Machine, "mgmt-cp-0"), ReasonLabelReserved},
		"a label of this platform": {labelled("example.com/vm", "x"), ReasonLabelReserved},
		"a network":                {networked(owned, ""), ""},
		"two networks":             {networked(owned, "version: 2"), ReasonFieldUnsupported},
	} {
		err := CheckSpec("create machine", c.spec, "example.com/vm")
		if c.reason == "" && err != nil || c.reason != "" && (ReasonOf(err) != c.reason || KindOf(err) != Invalid) {
			t.Errorf("%s: %v, want %q", name, err, c.reason)
		}
	}
}

func networked(s MachineSpec, data Sensitive) MachineSpec {
	s.Network, s.NetworkData = &Network{}, data
	return s
}

func TestAPlatformThatChoosesAddressesRefusesOne(t *testing.T) {
	if err := RefuseAddress("create machine", "Example", MachineSpec{}); err != nil {
		t.Error(err)
	}
	err := RefuseAddress("create machine", "Example", networked(MachineSpec{}, ""))
	if KindOf(err) != Invalid || ReasonOf(err) != ReasonAddressUnsupported || !strings.Contains(err.Error(), "spec.network has no effect on Example machines") {
		t.Error(err)
	}
}

func TestAMissingKeyIsNamed(t *testing.T) {
	c := NewCredentials(map[string][]byte{"token": []byte("canary")})
	if v, err := c.Require("connect", "token", ""); err != nil || string(v) != "canary" {
		t.Errorf("%v", err)
	}
	_, err := c.Require("connect", "url", "put the URL there")
	if KindOf(err) != Unauthorized || ReasonOf(err) != ReasonCredentialsIncomplete || !strings.Contains(err.Error(), `"url"; put the URL there`) {
		t.Errorf("%v", err)
	}
}

func TestFieldsOfTheNetworkWithoutEffectAreRefused(t *testing.T) {
	n := &v1alpha1.ProviderNetworkSpec{Subnet: "10.0.0.0/24", DNSServers: []string{"10.0.0.1"}}
	if err := RefuseNetwork("connect", "Example", nil); err != nil {
		t.Error(err)
	}
	if err := RefuseNetwork("connect", "Example", n, "subnet", "dnsServers"); err != nil {
		t.Error(err)
	}
	err := RefuseNetwork("connect", "Example", n, "dnsServers")
	if ReasonOf(err) != ReasonFieldUnsupported || !strings.Contains(err.Error(), "spec.network.subnet has no effect on Example machines") {
		t.Error(err)
	}
}

func TestFieldsOfTheNetworkHaveAnEffectWithPools(t *testing.T) {
	all := v1alpha1.ProviderNetworkSpec{Gateway: "10.0.0.1", DNSServers: []string{"10.0.0.1"}, TimeServers: []string{"10.0.0.1"}}
	pooled := all
	pooled.Mode, pooled.PoolRefs = v1alpha1.NetworkModeIPAM, []v1alpha1.NetworkPoolReference{{Name: "nodes"}}
	elsewhere := pooled
	elsewhere.Subnet = "10.0.0.0/24"
	for reason, c := range map[string]struct {
		network *v1alpha1.ProviderNetworkSpec
		refused string
	}{
		"no network":        {nil, ""},
		"addresses by pool": {&pooled, ""},
		"subnet and pool":   {&elsewhere, "spec.network.subnet has no effect on Example machines"},
		"addresses by DHCP": {&all, "spec.network.dnsServers has no effect on Example machines"},
	} {
		err := RefuseNetworkWithoutPools("connect", "Example", c.network)
		if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// TestEveryFieldOfTheNetworkIsRefusedOrHonoured: a field that the API gets later must
// not be accepted and ignored.
func TestEveryFieldOfTheNetworkIsRefusedOrHonoured(t *testing.T) {
	of := reflect.TypeFor[v1alpha1.ProviderNetworkSpec]()
	for i := range of.NumField() {
		n := &v1alpha1.ProviderNetworkSpec{}
		field := reflect.ValueOf(n).Elem().Field(i)
		switch field.Kind() {
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.String:
			field.SetString(string(v1alpha1.NetworkModeIPAM))
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		default:
			t.Errorf("%s is a %s, for which this test has no value", of.Field(i).Name, field.Kind())
		}
		if RefuseNetwork("connect", "Example", n) == nil {
			t.Errorf("%s is accepted and ignored", of.Field(i).Name)
		}
	}
}
