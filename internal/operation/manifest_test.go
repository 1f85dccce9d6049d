// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/provider"
)

// parse is the HA example with some words replaced, held to some checks.
func parse(t *testing.T, old, replacement string, checks ...manifest.Check) (*manifest.Manifest, error) {
	t.Helper()
	data, err := os.ReadFile("../../configs/examples/harvester-ha.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("the example has no %q", old)
	}
	return manifest.Parse("c.yaml", bytes.Replace(data, []byte(old), []byte(replacement), 1), checks...)
}

func TestPatchesThatTalosDoesNotTakeAreRefusedWithTheirLines(t *testing.T) {
	const patches = `    configPatches:
      - {op: add, path: /machine/sysctls, value: "{a: b}"}
      - {op: replace, path: /machine/sysctls/a, value: "c"}
      - {op: replace, path: /machine/nowhere/x, value: "canary"}
    strategicPatches:
      - patch: "machine: {sysctls: {d: e}}"
      - patch: "machine: {sysctls: canary}"
      - patch: "machine: ["
      - {target: worker, patch: "machine: {nodeLabels: 5}"}
      - patch: "machine: {registries: {config: {r: {auth: {pasword: canary}}}}, nope: [canary]}"
      - patch: "machine: {logging: {destinations: [{endpoint: 'tcp://u:canary@h:x'}]}}"
`
	_, err := parse(t, "    installDisk: /dev/vda\n", patches, Patchable)
	if err == nil {
		t.Fatal("all were taken")
	}
	for _, want := range []string{
		"c.yaml:65: spec.talos.configPatches[2]: Talos does not accept it: failure applying rfc6902 patches to talos machine config: replace operation does not apply: doc is missing path: ",
		"c.yaml:68: spec.talos.strategicPatches[1]: Talos does not accept it: ",
		"c.yaml:69: spec.talos.strategicPatches[2]: Talos does not accept it: ",
		"c.yaml:70: spec.talos.strategicPatches[3]: Talos does not accept it: ",
		"c.yaml:71: spec.talos.strategicPatches[4]: Talos does not accept it: error decoding document /v1alpha1/ (line 1): unknown keys: machine.nope, machine.registries.config.r.auth.pasword",
		"c.yaml:72: spec.talos.strategicPatches[5]: Talos does not accept it: ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 6 || strings.Contains(err.Error(), "canary") {
		t.Errorf("%d problems, or a value is repeated:\n%v", n, err)
	}
}

func TestVersionsThatCannotBeHadAreRefusedAtTheirFields(t *testing.T) {
	for version, want := range map[string]string{
		"    version: v1.2.0": "c.yaml:59: spec.talos.version: talos v1.2.0 is older than ",
		"    version: v9.9.9": "c.yaml:59: spec.talos.version: talos v9.9.9 is newer than ",
	} {
		if _, err := parse(t, "    version: v1.9.2", version, Plannable); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	_, err := parse(t, "    topology: ha", "    topology: ha\n    kubernetesVersion: v1.20.0", Plannable)
	if want := "c.yaml:34: spec.cluster.kubernetesVersion: kubernetes 1.20.0 on talos v1.9.2: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("want %q: %v", want, err)
	}
}

func TestPlatformIsNotWaitedForWithoutBound(t *testing.T) {
	silent := provider.Provider{Connect: func(ctx context.Context, _ provider.Config) (provider.Platform, error) {
		if _, bound := ctx.Deadline(); !bound {
			t.Error("a platform that never answers would hold the command")
		}
		return provider.Platform{}, context.DeadlineExceeded
	}}
	o := &Operation{ctx: t.Context()}
	if _, err := o.ask(silent, provider.Config{Ambient: true}, provider.Basket{}, false); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
