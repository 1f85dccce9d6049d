// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

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
