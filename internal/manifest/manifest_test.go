// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"os"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const example = "../../configs/examples/harvester-single-node.yaml"

func TestExampleIsAccepted(t *testing.T) {
	m, err := Load(example)
	if err != nil {
		t.Fatal(err)
	}
	if m.Cluster.Name != "dev-cluster" || m.Provider.Spec.Provider != v1alpha1.ProviderHarvester {
		t.Errorf("got %s on %s", m.Cluster.Name, m.Provider.Spec.Provider)
	}
	if key, ok := m.CredentialsKey(); !ok || key.String() != "butler-system/harvester-kubeconfig" {
		t.Errorf("credentials in %s, %v", key, ok)
	}
}

func TestWrongManifestIsRefusedWithItsCause(t *testing.T) {
	data, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	provider, cluster, found := strings.Cut(good, "---\n")
	if !found {
		t.Fatalf("%s has one document after %q", example, provider)
	}
	for reason, c := range map[string]struct{ manifest, want string }{
		"no YAML":                      {"a: [", "line 1: "},
		"nothing in it":                {"# empty\n", "there is no ClusterBootstrap"},
		"unknown field":                {strings.Replace(good, "topology:", "topolgy:", 1), `line 18: ClusterBootstrap: unknown field "spec.cluster.topolgy"`},
		"field twice":                  {strings.Replace(good, "  provider: harvester\n", "  provider: harvester\n  provider: aws\n", 1), `key "provider" already set`},
		"wrong type":                   {strings.Replace(good, "cpu: 4", "cpu: four", 1), "cpu"},
		"foreign kind":                 {good + "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n", `a "Pod" of "v1" does not belong here`},
		"without name":                 {strings.Replace(good, "  name: harvester-dev\n  namespace", "  namespace", 1), "ProviderConfig: metadata.name is missing"},
		"two clusters":                 {good + "---\n" + cluster, "only one object of this kind is expected"},
		"provider config not there":    {cluster, "there is no ProviderConfig"},
		"provider config of a name":    {strings.Replace(good, "name: harvester-dev\n  namespace: butler-system\nspec:\n  provider: harvester\n  cred", "name: other\n  namespace: butler-system\nspec:\n  provider: harvester\n  cred", 1), "spec.providerRef names ProviderConfig butler-system/harvester-dev, but the file has butler-system/other"},
		"two providers":                {strings.Replace(good, "provider: harvester\n  providerRef", "provider: nutanix\n  providerRef", 1), `for provider "nutanix", the ProviderConfig for "harvester"`},
		"secret that nobody refers to": {good + "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: x\n", "secret butler-system/x is not the one"},
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := Parse([]byte(c.manifest))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v does not say %q", err, c.want)
			}
		})
	}
}

func TestAllProblemsAreReportedAtOnce(t *testing.T) {
	_, err := Parse([]byte("kind: A\n---\nkind: B\n"))
	if err == nil || !strings.Contains(err.Error(), "line 1: ") || !strings.Contains(err.Error(), "line 3: ") {
		t.Errorf("error: %v", err)
	}
}
