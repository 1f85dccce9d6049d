// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

const vip = "10.0.0.100"

func open(t *testing.T, dir string) *audit.Auditor {
	t.Helper()
	a, err := audit.Open(audit.Options{
		Dir: dir, Shared: []netip.Addr{netip.MustParseAddr(vip)}, Log: slog.New(slog.DiscardHandler),
		Desired: []audit.Desired{{Cluster: "dev", Machines: 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func machine(id, owner string) audit.Object {
	return audit.Object{Resource: fault.Machine, ID: id, Name: "dev-" + id, OwnerID: owner, ClusterID: "c1", Cluster: "dev"}
}

func write(agent string, v fault.Verb, content string) audit.Write {
	return audit.Write{Agent: agent, Call: fault.Call{Verb: v, Resource: fault.Machine, Name: "dev-m1"}, ClusterID: "c1", Content: []byte(content)}
}

func address(s string) netip.Addr { return netip.MustParseAddr(s) }

// feed is what is reported to an auditor, and which invariant that violates, if any.
type feed struct {
	violates audit.Invariant
	report   func(*audit.Auditor)
}

func feeds() map[string]feed {
	leaving := machine("m1", "o1")
	leaving.Leaving = true
	other := machine("m9", "o9")
	other.ClusterID, other.Cluster = "c2", "other"
	disk := machine("d1", "o1")
	disk.Resource = fault.Disk
	return map[string]feed{
		"as many machines as desired": {"", func(a *audit.Auditor) { a.Seen(machine("m1", "o1")); a.Seen(machine("m2", "o2")); a.Seen(other) }},
		"one machine too many": {audit.WithinDesired, func(a *audit.Auditor) {
			a.Seen(machine("m1", "o1"))
			a.Seen(machine("m2", "o2"))
			a.Seen(machine("m3", "o3"))
		}},
		"a successor": {"", func(a *audit.Auditor) {
			a.Seen(machine("m1", "o1"))
			a.Seen(machine("m2", "o2"))
			a.Gone(fault.Machine, "m1")
			a.Seen(machine("m3", "o3"))
		}},
		"a successor of one that is leaving": {"", func(a *audit.Auditor) { a.Seen(leaving); a.Seen(machine("m2", "o2")); a.Seen(machine("m3", "o3")) }},
		"two machines with one owner":        {audit.OneOwner, func(a *audit.Auditor) { a.Seen(machine("m1", "o1")); a.Seen(machine("m2", "o1")) }},
		"two with one owner, one leaving":    {audit.OneOwner, func(a *audit.Auditor) { a.Seen(leaving); a.Seen(machine("m2", "o1")) }},
		"a machine and its copy": {"", func(a *audit.Auditor) {
			a.Seen(machine("m1", "o1"))
			clone := machine("m2", "o1")
			clone.Copy = true
			a.Seen(clone)
		}},
		"a machine and its disk": {"", func(a *audit.Auditor) { a.Seen(machine("m1", "o1")); a.Seen(disk) }},
		"one machine twice":      {"", func(a *audit.Auditor) { a.Seen(machine("m1", "o1")); a.Seen(machine("m1", "o1")) }},
		"two machines with one address": {audit.OneAddress, func(a *audit.Auditor) {
			a.PoweredOn("m1", "dev-m1", address("10.0.0.1"))
			a.PoweredOn("m2", "dev-m2", address("10.0.0.1"))
		}},
		"one address after the other": {"", func(a *audit.Auditor) {
			a.PoweredOn("m1", "dev-m1", address("10.0.0.1"))
			a.PoweredOff("m1")
			a.PoweredOn("m2", "dev-m2", address("10.0.0.1"))
		}},
		"a machine with the shared address": {audit.OneAddress, func(a *audit.Auditor) { a.PoweredOn("m1", "dev-m1", address(vip)) }},
		"a machine with an address that nodes share": {audit.OneAddress, func(a *audit.Auditor) {
			a.Shares(address("10.0.0.9"))
			a.PoweredOn("m1", "dev-m1", address("10.0.0.9"))
		}},
		"nodes that share the address of a machine": {audit.OneAddress, func(a *audit.Auditor) {
			a.PoweredOn("m1", "dev-m1", address("10.0.0.9"))
			a.Shares(address("10.0.0.9"))
		}},
		"an address that nodes have shared": {"", func(a *audit.Auditor) {
			a.Shares(address("10.0.0.9"))()
			a.PoweredOn("m1", "dev-m1", address("10.0.0.9"))
		}},
		"one bootstrap, reported twice": {"", func(a *audit.Auditor) {
			a.Bootstrapped("c1", "1", "m1")
			a.Bootstrapped("c1", "1", "m1")
			a.Bootstrapped("c2", "2", "m2")
		}},
		"a second bootstrap": {audit.OneBootstrap, func(a *audit.Auditor) { a.Bootstrapped("c1", "1", "m1"); a.Bootstrapped("c1", "2", "m2") }},
		"writers one after the other": {"", func(a *audit.Auditor) {
			a.Wrote(write("a", fault.Create, ""))
			a.Wrote(write("b", fault.Create, ""))
			a.Wrote(write("b", fault.Delete, ""))
			a.Wrote(write("a", fault.List, ""))
		}},
		"a writer who comes back": {audit.OneWriter, func(a *audit.Auditor) {
			a.Wrote(write("a", fault.Create, ""))
			a.Wrote(write("b", fault.Create, ""))
			a.Wrote(write("a", fault.Update, ""))
		}},
		"a writer who comes back to delete": {audit.OneWriter, func(a *audit.Auditor) {
			a.Wrote(write("a", fault.Create, ""))
			a.Wrote(write("b", fault.Create, ""))
			a.Wrote(audit.Write{Agent: "a", Call: fault.Call{Verb: fault.Delete, Resource: fault.Machine, Name: "dev-m1"}})
		}},
		"two writers of two clusters": {"", func(a *audit.Auditor) {
			a.Wrote(write("a", fault.Create, ""))
			second := write("b", fault.Create, "")
			second.ClusterID, second.Name = "c2", "other"
			a.Wrote(second)
			a.Wrote(write("a", fault.Create, ""))
		}},
	}
}

func found(t *testing.T, dir string) (all []audit.Invariant) {
	t.Helper()
	violations, err := audit.Violations(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		if v.Message == "" || v.Time.IsZero() {
			t.Errorf("a violation without a message or a time: %+v", v)
		}
		all = append(all, v.Invariant)
	}
	return all
}

func TestWrongIsCaughtAndRightIsNot(t *testing.T) {
	for name, f := range feeds() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f.report(open(t, dir))
			var want []audit.Invariant
			if f.violates != "" {
				want = []audit.Invariant{f.violates}
			}
			if diff := cmp.Diff(want, found(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestKeysAreCaughtHoweverTheyAreWrapped: as a label, in user data, or as user data
// in a Secret, with keys that are encoded themselves.
func TestKeysAreCaughtHoweverTheyAreWrapped(t *testing.T) {
	block := func(kind string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes.Repeat([]byte("der"), 40)}))
	}
	certificate, private := block("CERTIFICATE"), block("EC PRIVATE KEY")
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	config := "machine:\n  ca:\n    crt: " + encode(certificate) + "\n    key: "
	for name, tc := range map[string]struct {
		content string
		secret  bool
	}{
		"nothing":                   {"", false},
		"a certificate":             {certificate, false},
		"a certificate in a config": {encode(config), false},
		"an identity":               {`{"labels":{"owner-id":"0d9c1d3e-7e0f-4a54-a4f0-8f4d9b5f9b52"},"image":"talos-v1.9.2"}`, false},
		"a key":                     {private, true},
		"a key in a config":         {config + encode(private), true},
		"a config in a Secret":      {`{"userdata":"` + encode(config+encode(private)) + `"}`, true},
		"in a binary message":       {"\x0auserdata\x12A" + encode(config+encode(private)), true},
		"a bearer token":            {"Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJib2IifQ.c2lnbmF0dXJlLW9mLWJvYg", true},
		"a token to join":           {`{"u":"` + encode("machine:\n  token: abcdef.0123456789abcdef\n") + `"}`, true},
		"the key of a store":        {"cluster:\n  secretboxEncryptionSecret: " + encode("0123456789abcdef0123456789abcdef"), true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			open(t, dir).Wrote(write("a", fault.Create, tc.content))
			if caught := len(found(t, dir)) > 0; caught != tc.secret {
				t.Errorf("caught: %v", found(t, dir))
			}
		})
	}
}

func TestConfigurationsAreDistinguishedFromOtherUserData(t *testing.T) {
	for text, want := range map[string]bool{
		"version: v1alpha1\nmachine:\n  type: worker\n": true, "#cloud-config\n# -----BEGIN PRIVATE KEY-----\n": false,
		"": false, "# machine: x": false, "---\ncluster:\n  id: x\n": true,
	} {
		if audit.Configures([]byte(text)) != want {
			t.Errorf("%q is a configuration: %v", text, !want)
		}
	}
}

func TestViolationsAndWritersOutliveARestart(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	first.Wrote(write("a", fault.Create, ""))
	first.Wrote(write("b", fault.Create, ""))
	first.Bootstrapped("c1", "1", "m1")
	first.Seen(machine("m1", "o1"))
	first.Seen(machine("m2", "o1"))

	second := open(t, dir)
	second.Seen(machine("m1", "o1")) // what it knew already is reported again after a restart
	second.Seen(machine("m2", "o1"))
	second.Wrote(write("a", fault.Create, ""))
	second.Bootstrapped("c1", "2", "m2")
	if diff := cmp.Diff([]audit.Invariant{audit.OneOwner, audit.OneWriter, audit.OneBootstrap}, found(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsLeftIsReported(t *testing.T) {
	a := open(t, t.TempDir())
	disk := machine("d1", "o1")
	disk.Resource = fault.Disk
	untagged := machine("m2", "")
	for _, o := range []audit.Object{machine("m1", "o1"), disk, untagged} {
		a.Seen(o)
	}
	a.Gone(fault.Machine, "m1")
	if diff := cmp.Diff([]audit.Object{disk}, a.Left()); diff != "" {
		t.Error(diff)
	}
}

// TestMoreMachinesAreAllowedOnceTheManifestHasMore: a manifest with fewer again changes nothing.
func TestMoreMachinesAreAllowedOnceTheManifestHasMore(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	for _, machines := range []int{3, 1} {
		a.Raise([]audit.Desired{{Cluster: "dev", Machines: machines}})
	}
	for _, id := range []string{"1", "2", "3"} {
		a.Seen(machine("m"+id, "o"+id))
	}
	if all := found(t, dir); len(all) != 0 {
		t.Errorf("%v", all)
	}
	a.Seen(machine("m4", "o4"))
	if diff := cmp.Diff([]audit.Invariant{audit.WithinDesired}, found(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestNothingIsAuditedWithoutAnAuditor(t *testing.T) {
	var none *audit.Auditor
	for _, f := range feeds() {
		f.report(none)
	}
	if left := none.Left(); left != nil {
		t.Errorf("left: %v", left)
	}
}

// TestPageListsTheInvariants: each one, under its name in the file.
func TestPageListsTheInvariants(t *testing.T) {
	page, err := os.ReadFile("../../../docs/contributing/invariants.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []audit.Invariant{
		audit.WithinDesired, audit.OneOwner, audit.OneAddress, audit.OneBootstrap, audit.OneWriter, audit.NoSecret,
	} {
		if !strings.Contains(string(page), "| `"+string(i)+"` |") {
			t.Errorf("%s is not on the page", i)
		}
	}
}

// TestTagsAreThoseThatAreWritten: nothing would be audited under other names.
func TestTagsAreThoseThatAreWritten(t *testing.T) {
	o := audit.Object{}.Tagged(tag.Style{}, map[string]string{
		v1alpha1.AnnotationOwnerID: "o1", v1alpha1.AnnotationClusterID: "c1", v1alpha1.LabelCluster: "dev",
	})
	if diff := cmp.Diff(audit.Object{OwnerID: "o1", ClusterID: "c1", Cluster: "dev"}, o); diff != "" {
		t.Error(diff)
	}
}
