// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestAdmissionRefusesVersionsAndNamesAsTheOperatorDoes(t *testing.T) {
	p := &provider{flavour: flavours()[0]}
	for reason, tc := range map[string]struct{ name, present, wanted, want string }{
		"a first version":                 {"demo", "", "v1.32.0", ""},
		"a patch":                         {"demo", "v1.32.0", "v1.32.4", ""},
		"the next minor":                  {"demo", "v1.32.0", "v1.33.0", ""},
		"two minors at once":              {"demo", "v1.32.0", "v1.34.0", "non-sequential"},
		"a downgrade":                     {"demo", "v1.33.0", "v1.32.9", "downgrade"},
		"above what it was built for":     {"demo", "", "v1.36.0", "greater than the supported one"},
		"no version":                      {"demo", "", "latest", "parse"},
		"a name that begins with a digit": {"1demo", "", "v1.32.0", "not valid"},
	} {
		err := p.admit(tc.name, tc.present, tc.wanted)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", reason, err, tc.want)
		}
	}
}

func TestGatesAreArgumentsOfTheDeployment(t *testing.T) {
	for reason, tc := range map[string]struct {
		args []string
		want gates
	}{
		"those of the release": {[]string{"--leader-elect", "--feature-gates=SkipInfraClusterPatch=false,DynamicInfrastructureClusterPatch=false"}, gates{}},
		"skip":                 {[]string{"--feature-gates=SkipInfraClusterPatch=true"}, gates{skipPatch: true}},
		"dynamic": {
			[]string{"--feature-gates", "DynamicInfrastructureClusterPatch=true", "--dynamic-infrastructure-clusters=GCPCluster,HarvesterCluster"},
			gates{dynamicPatch: true, dynamicKinds: []string{"GCPCluster", "HarvesterCluster"}},
		},
	} {
		if diff := cmp.Diff(tc.want, parseGates(tc.args), cmp.AllowUnexported(gates{})); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}

func object(apiVersion, kind string, content map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: content}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace("ns")
	u.SetName("demo")
	return u
}

func TestInfrastructureClustersThatTheProviderPatches(t *testing.T) {
	for reason, tc := range map[string]struct {
		kind, version string
		gates         gates
		refused       bool
		host          string
	}{
		"AWS gets the endpoint":             {kind: "AWSCluster", version: "v1beta2", host: "10.0.0.1"},
		"KubeVirt gets it":                  {kind: "KubevirtCluster", version: "v1alpha1", host: "10.0.0.1"},
		"Nutanix gets it":                   {kind: "NutanixCluster", version: "v1beta1", host: "10.0.0.1"},
		"GCP is not supported":              {kind: "GCPCluster", version: "v1beta1", refused: true},
		"Harvester is not supported":        {kind: "HarvesterCluster", version: "v1alpha1", refused: true},
		"GCP by the gate for dynamic kinds": {kind: "GCPCluster", version: "v1beta1", gates: gates{dynamicPatch: true, dynamicKinds: []string{"GCPCluster"}}, host: "10.0.0.1"},
		"nothing by the gate that skips":    {kind: "GCPCluster", version: "v1beta1", gates: gates{skipPatch: true}},
		"the list of kinds needs its gate":  {kind: "GCPCluster", version: "v1beta1", gates: gates{dynamicKinds: []string{"GCPCluster"}}, refused: true},
	} {
		infra := object("infrastructure.cluster.x-k8s.io/"+tc.version, tc.kind, map[string]any{})
		c := fake.NewClientBuilder().WithObjects(infra).WithStatusSubresource(infra).Build()
		cluster := object("cluster.x-k8s.io/v1beta2", "Cluster", map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"kind": tc.kind, "name": "demo"}}})
		err := (&provider{gates: tc.gates}).patchInfrastructure(t.Context(), c, cluster, "10.0.0.1", 6443)
		if (err != nil) != tc.refused || err != nil && !strings.Contains(err.Error(), "unsupported infrastructure provider") {
			t.Errorf("%s: %v", reason, err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(infra), infra); err != nil {
			t.Fatal(err)
		}
		if got := textOf(infra, "spec", "controlPlaneEndpoint", "host"); got != tc.host {
			t.Errorf("%s: host %q", reason, got)
		}
	}
}

// TestInitializedNeedsTheEndpointOnTheCluster guards the deadlock of Cluster API and hosted
// control planes: neither is played away.
func TestInitializedNeedsTheEndpointOnTheCluster(t *testing.T) {
	p := &provider{host: New(Options{}), flavour: flavours()[0], gates: gates{skipPatch: true}}
	tcp := object("steward.butlerlabs.dev/v1alpha1", "TenantControlPlane", map[string]any{"status": map[string]any{"controlPlaneEndpoint": "10.0.0.1:6443"}})
	_ = unstructured.SetNestedField(tcp.Object, "v1.32.0", "spec", "kubernetes", "version")
	for reason, tc := range map[string]struct {
		endpoint, provisioned, want bool
	}{
		"neither":               {},
		"infrastructure alone":  {provisioned: true},
		"an endpoint alone":     {endpoint: true},
		"endpoint and the rest": {endpoint: true, provisioned: true, want: true},
	} {
		cluster := object("cluster.x-k8s.io/v1beta2", "Cluster", map[string]any{"status": map[string]any{"initialization": map[string]any{"infrastructureProvisioned": tc.provisioned}}})
		if tc.endpoint {
			_ = unstructured.SetNestedField(cluster.Object, "10.0.0.1", "spec", "controlPlaneEndpoint", "host")
		}
		cp := object("controlplane.cluster.x-k8s.io/v1alpha1", "StewardControlPlane", map[string]any{"spec": map[string]any{"version": "v1.32.0"}})
		c := fake.NewClientBuilder().WithObjects(tcp.DeepCopy(), cp.DeepCopy()).Build()
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(cp), cp); err != nil {
			t.Fatal(err)
		}
		_, _ = p.converge(t.Context(), c, cluster, cp)
		if got := isTrue(cp, "status", "initialized"); got != tc.want {
			t.Errorf("%s: initialized %t", reason, got)
		}
	}
}
