// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImagesThatCannotBePulledAreRefused before there are machines: the registry is asked, in
// a rehearsal the simulated one.
func TestImagesThatCannotBePulledAreRefused(t *testing.T) {
	a := newAdm(t)
	faults := file(t, "faults.yaml", "faults:\n- {kind: imageMissing, addon: butler-controller}\n")
	r := a.run("bootstrap", "harvester", "-c", example, "--rehearse", "--faults", faults)
	if r.code != 3 {
		t.Fatalf("code %d, want 3\n%s%s", r.code, r.out, r.err)
	}
	for _, want := range []string{"ghcr.io/butlerdotdev/butler-controller:", "404", "images push", "butlerController.enabled"} {
		if !strings.Contains(r.out+r.err, want) {
			t.Errorf("%q is missing in\n%s%s", want, r.out, r.err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(a.home, "rehearsals")); err == nil && len(left) > 0 {
		t.Errorf("state is left: %v", left)
	}
}

func TestVersionNamesTheParts(t *testing.T) {
	a := newAdm(t)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"version"}, []string{"butleradm v", "commit", "Kubernetes", "v1.36.", "etcd", "v3.6.", "Talos machinery", "Helm", "Cluster API"}},
		{[]string{"version", "-o", "json"}, []string{`"module": "k8s.io/kubernetes"`, `"platform"`}},
	} {
		r := a.run(c.args...)
		for _, want := range c.want {
			if r.code != 0 || !strings.Contains(r.out, want) {
				t.Errorf("%v lacks %q: %d %s%s", c.args, want, r.code, r.out, r.err)
			}
		}
	}
}
