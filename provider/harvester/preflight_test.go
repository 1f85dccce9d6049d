// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// verdicts maps what was looked at to what was found.
func verdicts(t *testing.T, p provider.Platform, specs ...provider.MachineSpec) map[string]provider.Verdict {
	t.Helper()
	findings, err := p.Preflight.Check(t.Context(), specs)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]provider.Verdict{}
	for _, f := range findings {
		all[f.Check] = f.Verdict
		if f.Verdict != provider.Passed && (f.Message == "" || f.Hint == "") {
			t.Errorf("a finding without message or hint: %+v", f)
		}
	}
	return all
}

const (
	onMachines  = "permissions on virtualmachines.kubevirt.io in namespace default"
	onInstances = "permissions on virtualmachineinstances.kubevirt.io in namespace default"
	onClaims    = "permissions on persistentvolumeclaims in namespace default"
	onSecrets   = "permissions on secrets in namespace default"
	onIdentity  = "identity of the platform"
)

func TestPreflightPassesWhatIsInOrder(t *testing.T) {
	p := connected(t, func(c *provider.Config) {
		c.Spec.Harvester.ImageName, c.Spec.Harvester.StorageClassName = "default/image-5rs6d", "longhorn"
	})
	want := map[string]provider.Verdict{
		onMachines: provider.Passed, onInstances: provider.Passed, onClaims: provider.Passed, onSecrets: provider.Passed, onIdentity: provider.Passed,
		"image default/image-5rs6d":                                       provider.Passed,
		"storage class longhorn-image-5rs6d of image default/image-5rs6d": provider.Passed,
		"network default/workloads":                                       provider.Passed,
		"storage class longhorn":                                          provider.Passed,
	}
	if diff := cmp.Diff(want, verdicts(t, p)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	offers, err := p.Offers(t.Context())
	for field, value := range map[string]string{
		"spec.harvester.imageName": "default/image-5rs6d", "spec.harvester.networkName": "default/workloads", "spec.harvester.storageClassName": "longhorn",
	} {
		if err != nil || !slices.ContainsFunc(offers[field], func(o provider.Offer) bool { return o.Value == value }) {
			t.Errorf("%s: %v, %v", field, offers[field], err)
		}
	}
	if c, err := p.Choose(t.Context(), wanted("fine")); err != nil || c.Image != "default/image-5rs6d" {
		t.Errorf("it chooses %+v, %v", c, err)
	}
	// The nodes may not be read.
	want["capacity"], want["name fine"] = provider.Unknown, provider.Passed
	if diff := cmp.Diff(want, verdicts(t, p, wanted("fine"))); diff != "" {
		t.Errorf("with a machine (-want +got)\n%s", diff)
	}
}

func TestPreflightRefusesWhatWouldFail(t *testing.T) {
	object := conflictingMachine("preflight-taken")
	if err := shared.admin.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.admin.Delete(context.Background(), object); err != nil {
			t.Error(err)
		}
	})
	p := connected(t, func(c *provider.Config) {
		c.Spec.Harvester.NetworkName, c.Spec.Harvester.StorageClassName = "default/nowhere", "no-class"
	})
	got := verdicts(t, p, wanted("preflight-taken", func(s *provider.MachineSpec) {
		s.Image = "default/no-image"
		s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 1, StorageClass: "no-other-class"}}
	}), wanted("unnamed", func(s *provider.MachineSpec) { s.Image = "nonsense" }))
	for _, check := range []string{
		"network default/nowhere", "storage class no-class", "storage class no-other-class", "image default/no-image", "image", "name preflight-taken",
	} {
		if got[check] != provider.Refused {
			t.Errorf("%s is %q among %v", check, got[check], got)
		}
	}
	if got["name unnamed"] != provider.Passed {
		t.Errorf("a free name is %s", got["name unnamed"])
	}
}

func TestPreflightDoesNotRefuseAMachineThatExistsAlready(t *testing.T) {
	p := connected(t)
	s := wanted("preflight-own")
	create(t, p.Machines, s)
	if got := verdicts(t, p, s); got["name preflight-own"] != provider.Passed {
		t.Errorf("found %v", got)
	}
}

func TestPreflightCallsUnknownWhatMayNotBeRead(t *testing.T) {
	p := connected(t, func(c *provider.Config) { c.Spec.Harvester.StorageClassName = "longhorn" })
	documentedOnly(t, p.Machines)
	want := map[string]provider.Verdict{
		onMachines: provider.Passed, onInstances: provider.Passed, onClaims: provider.Passed,
		onIdentity:                   provider.Passed, // it was read before
		onSecrets:                    provider.Unknown,
		"image default/talos-v1.9.2": provider.Unknown,
		"storage class longhorn-talos-v1.9.2 of image default/talos-v1.9.2": provider.Unknown,
		"network default/workloads":                                         provider.Unknown,
		"storage class longhorn":                                            provider.Unknown,
	}
	if diff := cmp.Diff(want, verdicts(t, p)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	long := wanted("long", func(s *provider.MachineSpec) { s.UserData = provider.Sensitive(strings.Repeat("x", 3000)) })
	if got := verdicts(t, p, long); got[onSecrets] != provider.Refused {
		t.Errorf("cloud-init data that cannot be stored is %s", got[onSecrets])
	}
}

func TestPreflightRefusesMissingPermissions(t *testing.T) {
	p := connected(t).Preflight.(preflight)
	for _, c := range []struct {
		grant   grant
		want    provider.Verdict
		message string
	}{
		{grant{needed: []string{"get", "patch", "update"}}, provider.Refused, "patch, update is not granted"},
		{grant{needed: []string{"get"}, wanted: []string{"patch"}, otherwise: "so"}, provider.Unknown, "patch is not granted: so"},
	} {
		c.grant.group, c.grant.resource = "kubevirt.io", "virtualmachines"
		f, err := p.permission(t.Context(), c.grant)
		if err != nil || f.Verdict != c.want || f.Message != c.message {
			t.Errorf("%+v, %v", f, err)
		}
	}
}

func TestPreflightFailsWhenThePlatformCannotBeAsked(t *testing.T) {
	p := connected(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if findings, err := p.Preflight.Check(ctx, nil); provider.KindOf(err) != provider.Unavailable || findings != nil {
		t.Errorf("%v, %v", findings, err)
	}
}
