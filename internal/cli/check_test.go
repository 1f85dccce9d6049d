// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/ui"
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
	_, err := parse(t, "    installDisk: /dev/vda\n", patches, patchable)
	if err == nil {
		t.Fatal("all were taken")
	}
	for _, want := range []string{
		"c.yaml:65: spec.talos.configPatches[2]: Talos does not take it: failure applying rfc6902 patches to talos machine config: replace operation does not apply: doc is missing path: ",
		"c.yaml:68: spec.talos.strategicPatches[1]: Talos does not take it: ",
		"c.yaml:69: spec.talos.strategicPatches[2]: Talos does not take it: ",
		"c.yaml:70: spec.talos.strategicPatches[3]: Talos does not take it: ",
		"c.yaml:71: spec.talos.strategicPatches[4]: Talos does not take it: error decoding document /v1alpha1/ (line 1): unknown keys: machine.nope, machine.registries.config.r.auth.pasword",
		"c.yaml:72: spec.talos.strategicPatches[5]: Talos does not take it: ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 6 || strings.Contains(err.Error(), "canary") {
		t.Errorf("%d problems, or a value is repeated:\n%v", n, err)
	}
}

func TestCredentialsFileBecomesTheSecret(t *testing.T) {
	harvester := &v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{
		Provider: v1alpha1.ProviderHarvester, CredentialsRef: &v1alpha1.SecretReference{Name: "x", Key: "config"},
	}}
	values, err := credentialValues(harvester, "f", []byte("apiVersion: v1\nkind: Config\n"))
	if err != nil || string(values["config"]) != "apiVersion: v1\nkind: Config\n" {
		t.Errorf("%q, %v", values, err)
	}
	nutanix := &v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderNutanix}}
	values, err = credentialValues(nutanix, "f", []byte("username: a\npassword: b\n"))
	if err != nil || string(values["username"]) != "a" || string(values["password"]) != "b" {
		t.Errorf("%q, %v", values, err)
	}
	for p, text := range map[*v1alpha1.ProviderConfig]string{harvester: "canary", nutanix: "- canary"} {
		if _, err := credentialValues(p, "f", []byte(text)); err == nil || failure.KindOf(err) != failure.Usage || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", p.Spec.Provider, err)
		}
	}
}

func TestAmbientCredentialsAreTheCurrentContextWithItsFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KUBECONFIG", filepath.Join(dir, "config"))
	for name, text := range map[string]string{
		"token-ca": "the authority",
		"config": `apiVersion: v1
kind: Config
current-context: here
clusters:
- {name: h, cluster: {server: "https://harvester.example.com", certificate-authority: token-ca}}
- {name: other, cluster: {server: "https://other.example.com"}}
users:
- {name: u, user: {token: mine}}
- {name: other, user: {token: not-needed}}
contexts:
- {name: here, context: {cluster: h, user: u}}
- {name: there, context: {cluster: other, user: other}}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{
		Provider: v1alpha1.ProviderHarvester, CredentialsRef: &v1alpha1.SecretReference{Name: "x"},
	}}
	values, source, err := ambient(p)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(values["kubeconfig"])
	if err != nil {
		t.Fatal(err)
	}
	if len(config.Clusters) != 1 || len(config.AuthInfos) != 1 || string(config.Clusters["h"].CertificateAuthorityData) != "the authority" || config.AuthInfos["u"].Token != "mine" {
		t.Errorf("got clusters %v", config.Clusters)
	}
	if source != `context "here" of your kubeconfig` {
		t.Errorf("from %s", source)
	}
	p.Spec.Provider = v1alpha1.ProviderProxmox
	if _, _, err := ambient(p); failure.KindOf(err) != failure.Usage {
		t.Errorf("proxmox: %v", err)
	}
}

func TestVersionsThatCannotBeHadAreRefusedAtTheirFields(t *testing.T) {
	for version, want := range map[string]string{
		"    version: v1.2.0": "c.yaml:59: spec.talos.version: talos v1.2.0 is older than ",
		"    version: v9.9.9": "c.yaml:59: spec.talos.version: talos v9.9.9 is newer than ",
	} {
		if _, err := parse(t, "    version: v1.9.2", version, plannable); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	_, err := parse(t, "    topology: ha", "    topology: ha\n    kubernetesVersion: v1.20.0", plannable)
	if want := "c.yaml:34: spec.cluster.kubernetesVersion: kubernetes 1.20.0 on talos v1.9.2: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("want %q: %v", want, err)
	}
}

func TestHelpFitsIntoEightyColumns(t *testing.T) {
	var visit func(*cobra.Command)
	seen := 0
	visit = func(c *cobra.Command) {
		seen++
		for line := range strings.SplitSeq(c.Long+"\n"+c.UsageString(), "\n") {
			if w := ansi.StringWidth(line); w > ui.Columns {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), w, line)
			}
		}
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(App{Providers: []provider.Provider{{Type: v1alpha1.ProviderHarvester}}}.command())
	if seen < 10 {
		t.Errorf("%d commands", seen)
	}
}

func TestPlatformIsNotWaitedForWithoutBound(t *testing.T) {
	silent := provider.Provider{Connect: func(ctx context.Context, _ provider.Config) (provider.Platform, error) {
		if _, bound := ctx.Deadline(); !bound {
			t.Error("a platform that never answers would hold the command")
		}
		return provider.Platform{}, context.DeadlineExceeded
	}}
	if _, err := ask(t.Context(), silent, provider.Config{}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
