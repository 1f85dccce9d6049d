// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

const twoContexts = `apiVersion: v1
kind: Config
current-context: %s
clusters:
- {name: one, cluster: {server: "https://one.example.com:6443", certificate-authority: ca.crt}}
- {name: two, cluster: {server: "https://two.example.com:6443"}}
users:
- {name: admin, user: {token: secret}}
contexts:
- {name: one, context: {cluster: one, user: admin}}
- {name: two, context: {cluster: two, user: admin}}
`

func kubeconfig(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"config": text, "ca.crt": "a certificate"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return filepath.Join(dir, "config")
}

func TestTheCurrentContextIsKeptWithItsFiles(t *testing.T) {
	data, err := ReadKubeconfig(kubeconfig(t, fmt.Sprintf(twoContexts, "one")))
	must(t, err)
	c, err := clientcmd.Load(data)
	must(t, err)
	if len(c.Clusters) != 1 || string(c.Clusters["one"].CertificateAuthorityData) != "a certificate" {
		t.Errorf("it has %+v", c.Clusters)
	}
}

func TestWhatIsNoKubeconfigIsRefused(t *testing.T) {
	for reason, c := range map[string]struct{ path, want string }{
		"no file":            {filepath.Join(t.TempDir(), "missing"), "no such file"},
		"no YAML":            {kubeconfig(t, "{"), "read the kubeconfig of the plane"},
		"no current context": {kubeconfig(t, fmt.Sprintf(twoContexts, `""`)), "kubectl config use-context NAME"},
		"an unknown context": {kubeconfig(t, fmt.Sprintf(twoContexts, "three")), "three"},
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := ReadKubeconfig(c.path)
			expectUsage(t, err, c.want)
		})
	}
}

func TestAClusterWithoutAdmissionPoliciesIsRefused(t *testing.T) {
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/version") {
			fmt.Fprint(w, `{"major": "1", "minor": "29+", "gitVersion": "v1.29.4-vendor"}`)
			return
		}
		fmt.Fprint(w, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "a"}}`)
	}))
	defer old.Close()
	text := strings.ReplaceAll(fmt.Sprintf(twoContexts, "two"), "https://two.example.com:6443", old.URL)
	_, err := Identify(t.Context(), []byte(text))
	expectUsage(t, err, "has Kubernetes v1.29.4-vendor; a plane needs 1.30 or later")
}
