// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const exampleHA = "../../configs/examples/harvester-ha.yaml"

// complete is a manifest in which every field with required parts is set.
func complete(t *testing.T) (provider, cluster map[string]any) {
	t.Helper()
	data, err := os.ReadFile(exampleHA)
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(string(data), "---\n")
	for text, to := range map[string]*map[string]any{first: &provider, second: &cluster} {
		if err := yaml.Unmarshal([]byte(text), to); err != nil {
			t.Fatal(err)
		}
	}
	more := map[string]any{
		"spec.talos.configPatches":                 []any{map[string]any{"op": "add", "path": "/machine/sysctls/x", "value": "1"}},
		"spec.addons.capi.infrastructureProviders": []any{map[string]any{"name": "aws", "credentialsSecretRef": map[string]any{"name": "aws"}}},
		"spec.controlPlaneExposure":                map[string]any{"mode": "Gateway", "hostname": "*.k8s.example.com", "gatewayRef": "butler-system/gateway"},
	}
	for path, value := range more {
		if err := unstructured.SetNestedField(cluster, value, strings.Split(path, ".")...); err != nil {
			t.Fatal(err)
		}
	}
	return provider, cluster
}

// without removes the field at a path, in which a number is an index of a list.
func without(t *testing.T, object map[string]any, path string) {
	t.Helper()
	keys := strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		name, first := strings.CutSuffix(key, "[0]")
		next := object[name]
		if list, ok := next.([]any); ok && first {
			next = list[0]
		}
		inner, ok := next.(map[string]any)
		if !ok {
			t.Fatalf("%s has no %s", path, key)
		}
		object = inner
	}
	last := keys[len(keys)-1]
	if _, ok := object[last]; !ok {
		t.Fatalf("the manifest has no %s", path)
	}
	delete(object, last)
}

// Each field that the reference calls required, and each that it calls required under
// a condition, is missed by its name. Only the Secret of a ProviderConfig has a name
// of its own where none is given.
func TestEveryRequiredFieldIsMissed(t *testing.T) {
	const missing = ""
	provider, cluster := complete(t)
	if got := problems(t, yamlOf(t, provider)+"---\n"+yamlOf(t, cluster)); got != nil {
		t.Fatalf("the complete manifest is refused: %q", got)
	}
	for kind, fields := range map[string]map[string]string{
		"ClusterBootstrap": {
			"metadata.name": missing,
			"spec":          missing, "spec.provider": missing, "spec.providerRef": missing, "spec.providerRef.name": missing,
			"spec.cluster": missing, "spec.cluster.name": missing, "spec.cluster.controlPlane": missing,
			"spec.cluster.controlPlane.replicas": missing, "spec.cluster.controlPlane.cpu": missing,
			"spec.cluster.controlPlane.memoryMB": missing, "spec.cluster.controlPlane.diskGB": missing,
			"spec.cluster.workers.replicas": missing, "spec.cluster.workers.cpu": missing,
			"spec.cluster.workers.memoryMB": missing, "spec.cluster.workers.diskGB": missing,
			"spec.cluster.workers.extraDisks[0].sizeGB": missing,
			"spec.network": missing, "spec.network.podCIDR": missing, "spec.network.serviceCIDR": missing,
			"spec.network.loadBalancerPool.start": missing, "spec.network.loadBalancerPool.end": missing,
			"spec.talos": missing, "spec.talos.version": missing, "spec.talos.schematic": missing,
			"spec.talos.configPatches[0].op": missing, "spec.talos.configPatches[0].path": missing,
			"spec.talos.configPatches[0].value":                "spec.talos.configPatches[0]: value is required for add and replace",
			"spec.addons.capi.infrastructureProviders[0].name": missing,
			"spec.controlPlaneExposure.hostname":               "spec.controlPlaneExposure.hostname: is required when controlPlaneExposure.mode is Gateway",
			"spec.controlPlaneExposure.gatewayRef":             "spec.controlPlaneExposure.gatewayRef: is required when controlPlaneExposure.mode is Gateway",
		},
		"ProviderConfig": {
			"metadata.name": missing, "spec": missing, "spec.provider": missing,
			"spec.credentialsRef.name":   missing,
			"spec.harvester":             "spec: block harvester is required for provider harvester",
			"spec.harvester.networkName": missing,
		},
	} {
		for field, want := range fields {
			if want == missing {
				want = field + ": is missing, but required"
			}
			t.Run(kind+" "+field, func(t *testing.T) { expectMissed(t, kind, field, want) })
		}
	}
}

func expectMissed(t *testing.T, kind, field, want string) {
	t.Helper()
	provider, cluster := complete(t)
	without(t, map[string]map[string]any{"ClusterBootstrap": cluster, "ProviderConfig": provider}[kind], field)
	got := problems(t, yamlOf(t, provider)+"---\n"+yamlOf(t, cluster))
	if !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, " "+want) }) {
		t.Errorf("no problem is %q:\n%s", want, strings.Join(got, "\n"))
	}
}

func yamlOf(t *testing.T, object map[string]any) string {
	t.Helper()
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
