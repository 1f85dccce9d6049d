// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestNamesOfLoadBalancersFitAndDiffer(t *testing.T) {
	long := strings.Repeat("a", 60)
	seen := map[string]string{}
	for _, name := range []string{"mgmt-cp-lb", long + "-1", long + "-2", strings.Repeat("a", 32), strings.Repeat("a-", 30), "internal-x"} {
		b := balancerName(name)
		for _, n := range []string{b, groupName(name, 6443), groupName(name, 50000)} {
			if len(n) > mostName || strings.HasPrefix(n, "-") || strings.HasSuffix(n, "-") || n == b && strings.HasPrefix(n, "internal-") {
				t.Errorf("%s is called %q", name, n)
			}
			if other := seen[n]; other != "" {
				t.Errorf("%s and %s are both called %q", name, other, n)
			}
			seen[n] = name
		}
		if b != balancerName(name) || !ofBalancer(groupName(name, 6443), name) || ofBalancer(groupName(name+"x", 6443), name) || ofBalancer(b, name) {
			t.Errorf("the parts of %s are not recognised", name)
		}
	}
}

func TestNamesOfPublishedImages(t *testing.T) {
	if got := talosName("v1.9.2", "eu-central-1", "x86_64"); got != "talos-v1.9.2-eu-central-1-amd64" {
		t.Error(got)
	}
	if got := talosName("v1.9.2", "eu-central-1", "arm64"); got != "talos-v1.9.2-eu-central-1-arm64" {
		t.Error(got)
	}
}

func TestPrincipalsOfSessions(t *testing.T) {
	for arn, want := range map[string]string{
		"arn:aws:iam::1:user/x":                     "arn:aws:iam::1:user/x",
		"arn:aws:sts::1:assumed-role/admin/session": "arn:aws:iam::1:role/admin",
		"arn:aws-cn:sts::1:assumed-role/a/b":        "arn:aws-cn:iam::1:role/a",
		"arn:aws:sts::1:federated-user/x":           "arn:aws:sts::1:federated-user/x",
		"odd":                                       "odd",
	} {
		if got := principal(arn); got != want {
			t.Errorf("%s is %s, want %s", arn, got, want)
		}
	}
}

func TestTokensDependOnOwnerAttemptAndRequest(t *testing.T) {
	m, a := machines{newPlatform(clients{}, awsSpec(), "x")}, attempt{Subnet: "s", Type: "m5.large", Image: "ami-1", Device: "/dev/xvda", Snapshot: "snap-1"}
	base := cluster()[0]
	seen := map[string]string{}
	add := func(name string, s provider.MachineSpec, a attempt) string {
		r, err := m.request("", s, a)
		if err != nil {
			t.Fatal(err)
		}
		token := value(r.ClientToken)
		if len(token) > 64 || seen[token] != "" || !original(token, s.Owner) {
			t.Errorf("%s has the token %q, as %s", name, token, seen[token])
		}
		seen[token] = name
		return token
	}
	first := add("first", base, a)
	next := a
	next.Number = 1
	add("another attempt", base, next)
	changed := base
	changed.UserData = "x"
	add("another request", changed, a)
	other := base
	other.Owner.ID = "other"
	if add("another owner", other, a); original(first, other.Owner) {
		t.Error("a token is that of two owners")
	}
	delete(seen, first)
	if again := add("the same", base, a); again != first {
		t.Errorf("the same call has %q and %q", first, again)
	}
}

func TestLabelsThatCannotBeTags(t *testing.T) {
	many := map[string]string{}
	for i := range mostTags {
		many[fmt.Sprint("label-", i)] = "x"
	}
	for want, labels := range map[string]map[string]string{
		"accepts no tag":     {strings.Repeat("a", 120) + ".example.com/" + strings.Repeat("b", 63): "x"},
		"AWS reserves names": {"aws:owner": "x"},
		"and AWS allows 50":  many,
	} {
		_, err := machineTags("create", provider.MachineSpec{MachineRef: provider.MachineRef{Name: "m", Owner: provider.Owner{ID: "a"}}, Labels: labels}, "")
		if provider.KindOf(err) != provider.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestImageAndAddressOfTheSettings(t *testing.T) {
	p := &platform{spec: v1alpha1.AWSSpec{AMI: "ami-1", PublicIP: true}}
	for want, s := range map[string]provider.MachineSpec{"ami-1": {}, "ami-2": {Image: "ami-2"}} {
		if got := p.wanted(s); got != want {
			t.Errorf("image %q, want %q", got, want)
		}
	}
	if public := (machines{p}).nic(provider.MachineSpec{}, attempt{}).AssociatePublicIpAddress; !value(public) {
		t.Error("the machine has no public address")
	}
	p.spec.PublicIP = false
	if public := (machines{p}).nic(provider.MachineSpec{}, attempt{}).AssociatePublicIpAddress; public == nil || *public {
		t.Error("the subnet decides on a public address")
	}
}
