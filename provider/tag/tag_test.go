// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tag

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	ownerID   = "0b9f1c5e-7d3a-4c7e-9a57-3f1d2e4b6a80"
	clusterID = "f3a2b1c0-1111-4222-8333-944455556666"
)

// platforms have each style with what its platform allows, stated apart from the style.
func platforms() map[string]struct {
	Style
	allowed string // the characters of a name and of a value
	name    int    // the most characters of a name
	value   int    // the most characters of a value
	owner   string // the tag of the owner, with its value
} {
	return map[string]struct {
		Style
		allowed     string
		name, value int
		owner       string
	}{
		"kubernetes": {Style{}, `[A-Za-z0-9./_-]`, 317, 63, "butler.butlerlabs.dev/owner-id=" + ownerID},
		"aws":        {AWS(), `[A-Za-z0-9 _.:/=+@-]`, 128, 256, "butler.butlerlabs.dev/owner-id=" + ownerID},
		"azure":      {Azure(), `[^<>%&\\?/]`, 512, 256, "butler-owner-id=" + ownerID},
		"gcp":        {GCP(), `[a-z0-9_-]`, 63, 63, "butler-owner-id=" + ownerID},
		"nutanix":    {Nutanix(), `[^/]`, 64, 64, "butler-owner-id=" + ownerID},
		"proxmox":    {Proxmox(), `[a-z0-9_.+-]`, 128, 0, "butler-owner-id." + ownerID + "="},
	}
}

func TestOwnersSurviveEveryPlatform(t *testing.T) {
	longest := strings.Repeat("a", 63)
	for name, p := range platforms() {
		t.Run(name, func(t *testing.T) {
			for _, set := range []Set{
				{OwnerID: ownerID, ClusterID: clusterID, Cluster: "mgmt", Machine: "mgmt-cp-0"},
				{OwnerID: ownerID, ClusterID: clusterID, Cluster: longest, Machine: longest},
				{OwnerID: ownerID, Machine: "alone"},
				{},
			} {
				tags := p.Write(set)
				if diff := cmp.Diff(set, p.Read(tags)); diff != "" {
					t.Errorf("%v is read as\n%s", tags, diff)
				}
				fits(t, tags, regexp.MustCompile("^"+p.allowed+"*$"), p.name, p.value)
			}
			key, value, _ := strings.Cut(p.owner, "=")
			if got, found := p.Write(Set{OwnerID: ownerID})[key]; !found || got != value {
				t.Errorf("the owner is written as %v, want %s", p.Write(Set{OwnerID: ownerID}), p.owner)
			}
		})
	}
}

func fits(t *testing.T, tags map[string]string, allowed *regexp.Regexp, name, value int) {
	t.Helper()
	for k, v := range tags {
		if len(k) > name || len(v) > value || !allowed.MatchString(k) || !allowed.MatchString(v) {
			t.Errorf("the platform does not take %s=%s", k, v)
		}
	}
}

// TestTagsOfOthersSayNothing has names that begin like ours.
func TestTagsOfOthersSayNothing(t *testing.T) {
	for name, p := range platforms() {
		tags := p.Write(Set{ClusterID: clusterID})
		maps.Copy(tags, map[string]string{"butler-owner-identity": "x", "butler-owner-id-2.y": "", "owner-id": "z", "butler-machines.a": ""})
		if diff := cmp.Diff(Set{ClusterID: clusterID}, p.Read(tags)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLabelsThatAPlatformCannotWriteAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		style  Style
		labels map[string]string
		want   map[string]string
	}{
		"our own":               {GCP(), map[string]string{v1alpha1.LabelRole: "worker"}, map[string]string{"butler-role": "worker"}},
		"lower case":            {GCP(), map[string]string{"tier": "gold"}, map[string]string{"tier": "gold"}},
		"upper case":            {GCP(), map[string]string{"tier": "Gold"}, nil},
		"a domain":              {GCP(), map[string]string{"example.com/tier": "gold"}, nil},
		"a slash":               {Azure(), map[string]string{"example.com/tier": "gold"}, nil},
		"a slash where it goes": {AWS(), map[string]string{"example.com/tier": "Gold"}, map[string]string{"example.com/tier": "Gold"}},
		"too long":              {AWS(), map[string]string{strings.Repeat("a", 129): ""}, nil},
		"a word":                {Proxmox(), map[string]string{"tier": "gold", "spot": ""}, map[string]string{"tier.gold": "", "spot": ""}},
		"no word":               {Proxmox(), map[string]string{"tier": "Gold"}, nil},
		"no value":              {Nutanix(), map[string]string{"tier": ""}, nil},
		"two of one name":       {GCP(), map[string]string{v1alpha1.LabelRole: "a", "butler-role": "b"}, nil},
		"left to the platform":  {Style{}, map[string]string{"any thing": "at all"}, map[string]string{"any thing": "at all"}},
	} {
		got, err := c.style.Labels(c.labels)
		if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) == (c.want == nil) {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// TestTagsInATextAreReadBack has texts of people beside ours.
func TestTagsInATextAreReadBack(t *testing.T) {
	set := Set{OwnerID: "o", ClusterID: clusterID, Cluster: "mgmt", Machine: "mgmt-lb"}
	for text, want := range map[string]Set{GCP().Text(set): set, GCP().Text(Set{}): {}, "made by hand": {}, `{"butler-owner-id": 7}`: {}, "": {}} {
		if diff := cmp.Diff(want, GCP().ReadText(text)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
