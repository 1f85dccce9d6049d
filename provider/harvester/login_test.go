// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestOnlyAKubeconfigIsACredentialsFile(t *testing.T) {
	config := &v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{CredentialsRef: &v1alpha1.SecretReference{Name: "x", Key: "config"}}}
	const kubeconfig = "apiVersion: v1\nkind: Config\n"
	if values, err := login().FromFile(config, []byte(kubeconfig)); err != nil || string(values["config"]) != kubeconfig {
		t.Errorf("%q, %v", values, err)
	}
	for _, content := range []string{"canary", ""} {
		if _, err := login().FromFile(config, []byte(content)); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", content, err)
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
	values, source, err := login().FromAmbient(&v1alpha1.ProviderConfig{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(values[v1alpha1.KeyKubeconfig])
	if err != nil {
		t.Fatal(err)
	}
	if len(config.Clusters) != 1 || len(config.AuthInfos) != 1 || string(config.Clusters["h"].CertificateAuthorityData) != "the authority" || config.AuthInfos["u"].Token != "mine" {
		t.Errorf("got clusters %v", config.Clusters)
	}
	if source != `context "here" of your kubeconfig` {
		t.Errorf("from %s", source)
	}
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	if _, _, err := login().FromAmbient(&v1alpha1.ProviderConfig{}); !errors.Is(err, provider.ErrNoAmbient) {
		t.Errorf("without a kubeconfig: %v", err)
	}
}

func TestPlaceIsNamedWithoutItsCredentials(t *testing.T) {
	const kubeconfig = `{"current-context":"c","contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}],` +
		`"clusters":[{"name":"k","cluster":{"server":"https://harvester.example.com"}}],"users":[{"name":"u","user":{"token":"canary"}}]}`
	config := &v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{Harvester: &v1alpha1.HarvesterSpec{Namespace: "tenants"}}}
	for content, want := range map[string]string{
		kubeconfig: "https://harvester.example.com, namespace tenants",
		"":         "namespace tenants",
	} {
		c := provider.NewCredentials(map[string][]byte{v1alpha1.KeyKubeconfig: []byte(content)})
		if got := strings.Join(place(config, c), ", "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
