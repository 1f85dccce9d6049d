// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/manifest"
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
`
	_, err := parse(t, "    installDisk: /dev/vda\n", patches, patchable)
	if err == nil {
		t.Fatal("all were taken")
	}
	for _, want := range []string{
		"c.yaml:65: spec.talos.configPatches[2]: Talos does not take it: ",
		"c.yaml:68: spec.talos.strategicPatches[1]: Talos does not take it: ",
		"c.yaml:69: spec.talos.strategicPatches[2]: Talos does not take it: ",
		"c.yaml:70: spec.talos.strategicPatches[3]: Talos does not take it: ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 4 || strings.Contains(err.Error(), "canary") {
		t.Errorf("%d problems, or a value is repeated:\n%v", n, err)
	}
}

func TestAddonsThatAreOffAreNotMissing(t *testing.T) {
	off := new(bool)
	if got := missingAddons(v1alpha1.AddonsSpec{
		CNI: v1alpha1.CNIAddonSpec{Type: "none"}, Storage: v1alpha1.StorageAddonSpec{Type: "none"},
		LoadBalancer: v1alpha1.LoadBalancerAddonSpec{Type: "metallb", Enabled: off}, CertManager: v1alpha1.CertManagerAddonSpec{Enabled: off},
		Ingress: v1alpha1.IngressAddonSpec{Type: "none"}, ControlPlaneProvider: v1alpha1.ControlPlaneProviderAddonSpec{Type: "kamaji", Enabled: off},
		CAPI: v1alpha1.CAPIAddonSpec{Enabled: off}, ButlerController: v1alpha1.ButlerControllerAddonSpec{Enabled: off},
		GitOps: v1alpha1.GitOpsAddonSpec{Type: "flux", Enabled: off}, Console: v1alpha1.ConsoleAddonSpec{Enabled: off},
		ControlPlaneHA: v1alpha1.ControlPlaneHAAddonSpec{Type: "kube-vip"},
	}); len(got) != 0 {
		t.Errorf("missing: %v", got)
	}
	m, err := parse(t, "    gitOps:", "    console: {enabled: true}\n    gitOps:")
	if err != nil {
		t.Fatal(err)
	}
	want := "this version does not install cilium, longhorn, metallb, cert-manager, traefik, steward, Cluster API, butler-controller, flux, console"
	if got := addonWarning(m.Cluster.Spec.Addons); got != want {
		t.Errorf("got %q", got)
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
		if _, err := credentialValues(p, "f", []byte(text)); err == nil || codeOf(err) != exitUsage || strings.Contains(err.Error(), "canary") {
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
	if _, _, err := ambient(p); codeOf(err) != exitUsage {
		t.Errorf("proxmox: %v", err)
	}
}

func TestWordsAreQuotedForAShell(t *testing.T) {
	for word, want := range map[string]string{"a/b.yaml": "a/b.yaml", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		if got := quoted(word); got != want {
			t.Errorf("%q is %s, want %s", word, got, want)
		}
	}
}
