// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const example = "../../configs/examples/harvester-single-node.yaml"

func TestExamplesAreAccepted(t *testing.T) {
	files, err := filepath.Glob("../../configs/examples/[^t]*.yaml") // those of tenant clusters are others
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if _, err := Load(file); err != nil {
			t.Error(err)
		}
	}
}

func TestDefaultsAreApplied(t *testing.T) {
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
	if s := m.Cluster.Spec; s.Addons.CNI.Type != "cilium" || s.Talos.InstallDisk != "/dev/vda" || s.Remediation != v1alpha1.RemediationNone {
		t.Errorf("defaults are missing: %+v", s)
	}
}

func TestSecretsOfAddonsMayBeInTheFile(t *testing.T) {
	text := good(t)
	aws := func(namespace string) string {
		return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: aws, namespace: " + namespace + "}\nstringData: {accessKeyID: a, secretAccessKey: b}\n"
	}
	const names = "  addons:\n    capi:\n      infrastructureProviders:\n        - {name: aws, credentialsSecretRef: {name: aws, namespace: clouds}}\n"
	own := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: harvester-kubeconfig}\nstringData: {kubeconfig: x}\n"
	m, err := Parse("c.yaml", []byte(text+names+own+aws("clouds")))
	if err != nil {
		t.Fatal(err)
	}
	if m.Secret == nil || m.Secret.Name != "harvester-kubeconfig" || len(m.Others) != 1 || m.Others[0].Name != "aws" || !slices.Contains(m.Namespaces(), "clouds") {
		t.Errorf("%v, %v in %v", m.Secret, m.Others, m.Namespaces())
	}
	for reason, more := range map[string]string{"nor does spec.addons.capi": aws("other"), "second Secret clouds/aws": aws("clouds") + aws("clouds")} {
		if _, err := Parse("c.yaml", []byte(text+names+more)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestHarvesterWithoutCredentialsRefGetsASecretOfItsOwn(t *testing.T) {
	m, err := Parse("c.yaml", []byte(strings.Replace(good(t), "  credentialsRef:\n    name: harvester-kubeconfig\n", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if key, ok := m.CredentialsKey(); !ok || key.String() != "butler-system/harvester-dev-credentials" {
		t.Errorf("credentials in %s, %v", key, ok)
	}
}

// good is the example, as text that tests spoil.
func good(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// withPool is a manifest whose ProviderConfig refers to NetworkPool lan, which it lacks.
func withPool(text string) string {
	return strings.Replace(text, "  harvester:\n", "  network: {mode: ipam, poolRefs: [{name: lan}]}\n  harvester:\n", 1)
}

// pool is the document of a NetworkPool.
func pool(name, metadata string) string {
	return "---\napiVersion: butler.butlerlabs.dev/v1alpha1\nkind: NetworkPool\nmetadata:\n  name: " + name + "\n" + metadata + "spec:\n  cidr: 10.40.0.0/24\n"
}

func TestNetworkPoolsOfTheFileAreThoseOfTheProviderConfig(t *testing.T) {
	m, err := Parse("c.yaml", []byte(withPool(good(t))+pool("lan", "")))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Pools) != 1 || m.Pools[0].Namespace != Namespace || m.Pools[0].Spec.CIDR != "10.40.0.0/24" || m.Pools[0].Spec.ReuseAfter == nil {
		t.Errorf("%+v", m.Pools)
	}
	if m, err := Parse("c.yaml", []byte(withPool(good(t)))); err != nil || len(m.Pools) != 0 {
		t.Errorf("%v: the pool may be on the plane already", err)
	}
}

// problems are the lines that a manifest is refused with.
func problems(t *testing.T, text string, checks ...Check) []string {
	t.Helper()
	_, err := Parse("c.yaml", []byte(text), checks...)
	if err == nil {
		return nil
	}
	if !errors.As(err, new(*Invalid)) {
		t.Fatalf("%v is a %T", err, err)
	}
	return strings.Split(err.Error(), "\n")
}

func TestWrongManifestIsRefusedWithLineAndSuggestion(t *testing.T) {
	text := good(t)
	_, cluster, _ := strings.Cut(text, "---\n")
	fromPool := withPool(text)
	for reason, c := range map[string]struct{ old, new, want string }{
		"misspelled field":            {"memoryMB:", "memoryMb:", "c.yaml:34: spec.cluster.controlPlane.memoryMb: unknown field; did you mean memoryMB?"},
		"swapped letters":             {"topology:", "toplogy:", "c.yaml:30: spec.cluster.toplogy: unknown field; did you mean topology?"},
		"field of another object":     {"  talos:\n", "  talos:\n    podCIDR: 10.0.0.0/8\n", "c.yaml:41: spec.talos.podCIDR: unknown field; it belongs at spec.network.podCIDR"},
		"field of no object":          {"  talos:\n", "  talos:\n    xylophone: 1\n", "c.yaml:41: spec.talos.xylophone: unknown field; remove it"},
		"misspelled metadata":         {"  name: dev-cluster\n  namespace:", "  name: dev-cluster\n  namepsace:", "c.yaml:22: metadata.namepsace: unknown field; did you mean namespace?"},
		"unknown field in a list":     {"diskGB: 100", "diskGB: 100\n      extraDisks:\n        - sizeGB: 5\n          class: x", "c.yaml:38: spec.cluster.controlPlane.extraDisks[0].class: unknown field; did you mean storageClass?"},
		"field twice":                 {"cpu: 4", "cpu: 4\n      cpu: 8", "c.yaml:34: spec.cluster.controlPlane.cpu: is set twice, on line 33 too; remove one"},
		"wrong type":                  {"cpu: 4", "cpu: four", "c.yaml:33: spec.cluster.controlPlane.cpu: must be of type integer, not string"},
		"list for an object":          {"controlPlane:\n", "controlPlane: []\n    workers:\n", "c.yaml:31: spec.cluster.controlPlane: must be of type object, not array"},
		"missing field":               {"      diskGB: 100\n", "", "c.yaml:31: spec.cluster.controlPlane.diskGB: is missing, but required"},
		"out of range":                {"cpu: 4", "cpu: 0", "c.yaml:33: spec.cluster.controlPlane.cpu: 0 should be greater than or equal to 1"},
		"not one of a list":           {"topology: single-node", "topology: singlenode", `c.yaml:30: spec.cluster.topology: "singlenode" is none of "single-node", "ha"; did you mean single-node?`},
		"pattern":                     {"version: v1.9.2", "version: 1.9.2", `c.yaml:41: spec.talos.version: "1.9.2" should match '^v[0-9]+\.[0-9]+\.[0-9]+$'; did you mean v1.9.2?`},
		"rule about another field":    {"  harvester:\n", "  network: {mode: ipam}\n  harvester:\n", "c.yaml:13: spec.network.poolRefs: are required for mode ipam, and for no other"},
		"pool nothing refers to":      {text, text + pool("lan", ""), "c.yaml:47: metadata.name: nothing refers to NetworkPool lan; name it in spec.network.poolRefs of the ProviderConfig, and set spec.network.mode to ipam"},
		"second pool of a name":       {text, fromPool + pool("lan", "") + pool("lan", ""), "c.yaml:55: metadata.name: this is a second NetworkPool lan"},
		"pool elsewhere":              {text, fromPool + pool("lan", "  namespace: prod\n"), "c.yaml:49: metadata.namespace: is prod, but the ClusterBootstrap is in butler-system"},
		"field of a pool":             {text, fromPool + pool("lan", "") + "  range: x\n", "c.yaml:51: spec.range: unknown field"},
		"what Go alone can check":     {"vip: \"10.40.0.100\"", "vip: \"10.40.0.100\"\n    loadBalancerPool: {start: fd00::2, end: fd00::1}", "c.yaml:40: spec.network.loadBalancerPool: start fd00::2 must not lie after end fd00::1"},
		"label that no node can have": {"diskGB: 100", "diskGB: 100\n      labels:\n        example.com/zone: a b", "c.yaml:36: spec.cluster.controlPlane.labels: value \"a b\" of example.com/zone: "},
		"status":                      {"kind: ClusterBootstrap\n", "kind: ClusterBootstrap\nstatus: {phase: Ready}\n", "c.yaml:20: status: is written by the controllers; remove it"},
		"without name":                {"  name: harvester-dev\n  namespace", "  namespace", "c.yaml:6: metadata.name: is missing, but required"},
		"name that is none":           {"name: harvester-dev\n  namespace", "name: Harvester_Dev\n  namespace", `c.yaml:7: metadata.name: "Harvester_Dev" is invalid: a lowercase RFC 1123 subdomain`},
		"generated name":              {"  name: dev-cluster\n  namespace", "  generateName: dev-\n  namespace", "c.yaml:21: metadata.generateName: has no effect here; set metadata.name"},
		"id of another cluster":       {"  name: dev-cluster\n  namespace", "  name: dev-cluster\n  annotations: {butler.butlerlabs.dev/cluster-id: x}\n  namespace", "c.yaml:22: metadata.annotations: butler.butlerlabs.dev/cluster-id is given by the controllers, once; remove it"},
		"id of a ProviderConfig":      {"  name: harvester-dev\n  namespace", "  name: harvester-dev\n  annotations: {butler.butlerlabs.dev/cluster-id: x}\n  namespace", "c.yaml:8: metadata.annotations: butler.butlerlabs.dev/cluster-id is given by the controllers, once; remove it"},
		"id of a request":             {"  name: dev-cluster\n  namespace", "  name: dev-cluster\n  annotations: {butler.butlerlabs.dev/owner-id: x}\n  namespace", "c.yaml:22: metadata.annotations: butler.butlerlabs.dev/owner-id is given by the controllers, once; remove it"},
		"who is in charge":            {"  name: dev-cluster\n  namespace", "  name: dev-cluster\n  annotations: {butler.butlerlabs.dev/fenced: x}\n  namespace", "c.yaml:22: metadata.annotations: butler.butlerlabs.dev/fenced says which plane is in charge, and only butleradm sets it; remove it"},
		"foreign kind":                {"kind: ProviderConfig", "kind: Pod", `c.yaml:5: kind: a "Pod" of "butler.butlerlabs.dev/v1alpha1" is not allowed in a manifest, which holds a ClusterBootstrap and a ProviderConfig, and optionally NetworkPools, of butler.butlerlabs.dev/v1alpha1, and optionally Secrets of v1`},
		"misspelled kind":             {"kind: ProviderConfig", "kind: ProviderConf", `c.yaml:5: kind: there is no "ProviderConf"; did you mean ProviderConfig?`},
		"other version":               {"v1alpha1\nkind: ProviderConfig", "v1\nkind: ProviderConfig", `c.yaml:4: apiVersion: is "butler.butlerlabs.dev/v1", but a ProviderConfig is of butler.butlerlabs.dev/v1alpha1`},
		"second cluster":              {text, text + "---\n" + cluster, "c.yaml:44: this is a second ClusterBootstrap; a manifest holds one"},
		"provider config of a name":   {"    name: harvester-dev\n", "    name: other\n", "c.yaml:25: spec.providerRef: names ProviderConfig butler-system/other, but the file has butler-system/harvester-dev"},
		"provider config of a team":   {"  credentialsRef:", "  scope: {type: team, teamRef: {name: blue}}\n  credentialsRef:", "c.yaml:11: spec.scope.type: is team, but a management cluster needs a ProviderConfig of scope platform"},
		"provider config elsewhere":   {"  name: dev-cluster\n  namespace: butler-system", "  name: dev-cluster\n  namespace: prod", "c.yaml:6: metadata.annotations: do not allow namespace prod to refer to it; add butler.butlerlabs.dev/allowed-namespaces: prod"},
		"two providers":               {"provider: harvester\n  providerRef", "provider: nutanix\n  providerRef", `c.yaml:24: spec.provider: is "nutanix", but the ProviderConfig is for "harvester"`},
		"secret without a reference":  {text, text + "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: x\n", "c.yaml:47: metadata.name: secret butler-system/x is not the one"},
		"unknown field of a Secret":   {text, text + "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: harvester-kubeconfig\nstringdata: {kubeconfig: x}\n", "c.yaml:48: stringdata: unknown field; did you mean stringData?"},
		"number in a Secret":          {text, text + "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: harvester-kubeconfig\nstringData:\n  kubeconfig: 5\n", "c.yaml:49: stringData.kubeconfig: must be text; put it in quotes"},
		"tab":                         {"    controlPlane:", "\tcontrolPlane:", "c.yaml:31: this is not YAML: found a tab character that violates indentation; indent with spaces, not tabs"},
		"brace that is left open":     {"credentialsRef:", "credentialsRef: {", "c.yaml:1"},
		"tab in another place":        {"  harvester:\n", "  harvester:\n \t namespace: x\n", "c.yaml:14: this is not YAML: "},
		"other encoding":              {"name: dev-cluster\n  name", "name: dev-\xe9\n  name", "c.yaml:21: this is not UTF-8; save the file in that encoding"},
		"control character":           {"name: dev-cluster\n  name", "name: dev-\x00\n  name", "c.yaml:21: this is not YAML: control characters are not allowed"},
		"content behind a separator":  {text, text + "--- {apiVersion: v1, kind: Pod}\n", `c.yaml:43: kind: a "Pod" of "v1" is not allowed in a manifest, `},
		"content behind an end":       {text, text + "...\napiVersion: v1\nkind: Pod\n", `c.yaml:45: kind: a "Pod" of "v1" is not allowed in a manifest, `},
		"without kind":                {"kind: ProviderConfig\n", "", "c.yaml:4: kind: is missing, but required; it is ClusterBootstrap, ProviderConfig, NetworkPool or Secret"},
		"fraction":                    {"cpu: 4", "cpu: 4.5", "c.yaml:33: spec.cluster.controlPlane.cpu: must be of type integer, not number"},
		"rule about two fields":       {"podCIDR: 10.244.0.0/16", "podCIDR: 10.96.0.0/16", "c.yaml:36: spec.network: podCIDR and serviceCIDR must not overlap"},
		"rule that names its field":   {"podCIDR: 10.244.0.0/16", "podCIDR: 10.244.0.0/33", "c.yaml:37: spec.network.podCIDR: must be a CIDR such as 10.244.0.0/16"},
		"label that is no text":       {"  name: dev-cluster\n  name", "  name: dev-cluster\n  labels:\n    zone: 1\n  name", "c.yaml:23: metadata.labels.zone: must be text; put it in quotes"},
		"plain text for base64":       {text, text + "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: harvester-kubeconfig\ndata:\n  kubeconfig: canary!\n", "c.yaml:49: data.kubeconfig: must be base64; put plain text below stringData"},
		"scalar":                      {text, text + "---\njust words\n", "c.yaml:44: an object is expected here"},
		"patch is not repeated":       {"  talos:\n", "  talos:\n    configPatches:\n      - {op: add, path: canary, value: canary}\n", "c.yaml:42: spec.talos.configPatches[0].path: should match '^/'"},
	} {
		t.Run(reason, func(t *testing.T) {
			spoilt := strings.Replace(text, c.old, c.new, 1)
			if spoilt == text {
				t.Fatalf("%q is not in the example", c.old)
			}
			got := problems(t, spoilt)
			found := false
			for _, line := range got {
				found = found || strings.HasPrefix(line, c.want)
				if strings.Contains(line, "canary") || strings.Contains(line, "<nil>") {
					t.Errorf("a secret or nothing is repeated: %.200s", line)
				}
			}
			if !found {
				t.Errorf("no problem is %q:\n%s", c.want, strings.Join(got, "\n"))
			}
		})
	}
}

func TestEverythingIsReportedAtOnceInTheOrderOfTheFile(t *testing.T) {
	text := strings.NewReplacer("imageName:", "imagName:", "cpu: 4", "cpu: 0", "topology: single-node", "topology: ha",
		"diskGB: 100", "diskGb: 100", "    vip: \"10.40.0.100\"\n", "", "version: v1.9.2", "version: [1]").Replace(good(t))
	check := func(m *Manifest) []Problem {
		return []Problem{m.At(m.Cluster, "spec.cluster.workers.cpu", "is looked for"), m.At(m.Provider, "", "is of no field")}
	}
	want := []string{
		"c.yaml:16: spec.harvester.imagName: unknown field; did you mean imageName?",
		"c.yaml:31: spec.cluster.controlPlane.diskGB: is missing, but required",
		"c.yaml:33: spec.cluster.controlPlane.cpu: 0 should be greater than or equal to 1",
		"c.yaml:35: spec.cluster.controlPlane.diskGb: unknown field; did you mean diskGB?",
		"c.yaml:40: spec.talos.version: must be of type string, not array",
	}
	if diff := cmp.Diff(want, problems(t, text, check)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want = []string{"c.yaml:4: is of no field", "c.yaml:28: spec.cluster.workers.cpu: is looked for"}
	if diff := cmp.Diff(want, problems(t, good(t), check)); diff != "" {
		t.Errorf("checks (-want +got)\n%s", diff)
	}
}

func TestMissingObjectsAreNamed(t *testing.T) {
	want := []string{"c.yaml: there is no ClusterBootstrap", "c.yaml: there is no ProviderConfig; add the one that spec.providerRef names"}
	if diff := cmp.Diff(want, problems(t, "# nothing\n---\n")); diff != "" {
		t.Error(diff)
	}
	if got := problems(t, "a: [\n"); len(got) != 1 || !strings.HasPrefix(got[0], "c.yaml:") {
		t.Errorf("what cannot be read is said to be missing: %q", got)
	}
}

func TestAnchorsPointToTheirLines(t *testing.T) {
	text := strings.NewReplacer("controlPlane:\n", "controlPlane: &pool\n", "  network:\n", "    workers: *pool\n  network:\n", "cpu: 4", "cpu: 0").Replace(good(t))
	got := problems(t, text)
	want := []string{
		"c.yaml:33: spec.cluster.controlPlane.cpu: 0 should be greater than or equal to 1",
		"c.yaml:33: spec.cluster.workers.cpu: 0 should be greater than or equal to 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSummaryCounts(t *testing.T) {
	for n, want := range map[int]string{1: "1 problem in c.yaml; nothing was changed", 2: "2 problems in c.yaml; nothing was changed"} {
		if got := (&Invalid{File: "c.yaml", Problems: make([]Problem, n)}).Summary(); got != want {
			t.Errorf("got %q", got)
		}
	}
}

func TestNearestFindsWhatWasMeant(t *testing.T) {
	candidates := []string{"memoryMB", "cpu", "diskGB", "replicas"}
	for word, want := range map[string]string{"memorymb": "memoryMB", "memory": "memoryMB", "pcu": "cpu", "replica": "replicas", "disk": "diskGB", "ram": "", "x": ""} {
		if got := Nearest(word, candidates); got != want {
			t.Errorf("%s is taken for %q, want %q", word, got, want)
		}
	}
}
