// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestExamplesAreAcceptedAsWritten(t *testing.T) {
	w := newFixture(t)
	for _, file := range append(append(files(t, "examples"), files(t, "full")...), "../../../configs/examples/team.yaml") {
		for _, o := range read(t, file) {
			if err := w.try(o); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// TestManifestsOfPagesAreAccepted takes each object of this project in a block of any page.
func TestManifestsOfPagesAreAccepted(t *testing.T) {
	w, kinds := newFixture(t), map[string]int{}
	for _, page := range pages(t) {
		for i, o := range manifests(t, page) {
			kinds[o.GetKind()]++
			if err := w.try(o); err != nil {
				t.Errorf("%s, manifest %d, %s: %v", page, i+1, o.GetKind(), err)
			}
		}
	}
	for _, kind := range []string{"ProviderConfig", "MachineRequest", "ClusterBootstrap", "TenantCluster", "NetworkPool", "Team"} {
		if kinds[kind] == 0 {
			t.Errorf("no page has a %s", kind)
		}
	}
}

func pages(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			all = append(all, path)
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d pages: %v", len(all), err)
	}
	return all
}

// manifests are the whole objects of this project in the YAML blocks of a page.
func manifests(t *testing.T, page string) (all []*unstructured.Unstructured) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(data), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for text := range strings.SplitSeq(block, "---\n") {
			if !strings.Contains(text, "apiVersion: "+v1alpha1.GroupVersion().String()+"\n") {
				continue
			}
			o := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(text), o); err != nil {
				t.Errorf("%s: %v", page, err)
			}
			if _, whole := o.Object["spec"]; whole {
				all = append(all, o)
			}
		}
	}
	return all
}

func TestUnknownFieldIsRefused(t *testing.T) {
	o := read(t, "examples/machinerequest.yaml")[0]
	set(o.Object, "spec.cpus", int64(4))
	if err := newFixture(t).try(o); err == nil {
		t.Error("a misspelt field was accepted")
	}
}

func TestOmittedAddonsTakeTheirDefaults(t *testing.T) {
	const defaults = `
cni: {type: cilium, hubbleEnabled: true}
storage: {type: longhorn, replicaCount: 3}
loadBalancer: {enabled: true, type: metallb}
controlPlaneHA: {enabled: true, type: kube-vip}
certManager: {enabled: true}
ingress: {enabled: true, type: traefik}
controlPlaneProvider: {enabled: true, type: steward}
capi: {enabled: true, version: v1.9.4}
butlerController: {enabled: true, image: ghcr.io/butlerdotdev/butler-controller}
gitOps: {enabled: true, type: flux}
console: {enabled: false, version: latest}
`
	o := newFixture(t).apply(read(t, "examples/clusterbootstrap-single-node.yaml")[0])
	same(t, "spec.addons", o, defaults)
	same(t, "spec.talos.installDisk", o, "/dev/vda")
	same(t, "spec.statusCredentials", o, "SecretOnly")
	same(t, "spec.remediation", o, "None")
}

// tenantDefaults is the spec of a TenantCluster that names a version and a number of workers.
const tenantDefaults = `
kubernetesVersion: v1.32.0
controlPlane: {replicas: 2, externalCloudProvider: true}
workers:
  replicas: 3
  machineTemplate: {cpu: 4, memory: 16Gi, diskSize: 100Gi, os: {type: talos, talos: {version: v1.9.3, installDisk: /dev/vda}}}
networking: {podCIDR: 10.244.0.0/16, serviceCIDR: 10.96.0.0/12}
addons: {cni: {provider: cilium}, certManager: {enabled: true}}
`

func TestOmittedFieldsTakeTheirDefaults(t *testing.T) {
	w := newFixture(t)
	for _, o := range read(t, "columns/objects.yaml") {
		switch created := w.apply(o); o.GetKind() {
		case "ClusterBootstrap":
			same(t, "spec.cluster.topology", created, "ha")
		case "ProviderConfig":
			same(t, "spec.scope", created, "{type: platform}")
			same(t, "spec.harvester.namespace", created, "default")
			same(t, "spec.harvester.clusterAPIProvider", created, "kubevirt")
		case "LoadBalancerRequest":
			same(t, "spec.port", created, "6443")
		case "NetworkPool":
			same(t, "spec.reuseAfter", created, "10m")
		case "IPAllocation":
			same(t, "spec.count", created, "1")
		case "ButlerConfig":
			same(t, "spec.controlPlaneExposure.mode", created, "LoadBalancer")
			same(t, "spec.multiTenancy", created, "{mode: Disabled}")
			same(t, "spec.defaultNamespace", created, "butler-tenants")
		case "TenantCluster":
			same(t, "spec", created, tenantDefaults)
		case "Team":
			same(t, "spec.access.users", created, "[{name: ada@example.com, role: viewer}]")
		}
	}
	for file, want := range map[string]map[string]string{
		"full/providerconfig-nutanix.yaml": {"spec.nutanix.port": "9440", "spec.nutanix.insecure": "false"},
		"full/providerconfig-proxmox.yaml": {"spec.proxmox.insecure": "false"},
		"full/providerconfig-harvester.yaml": {
			"spec.network.poolRefs[].priority": "0", "spec.network.loadBalancer.allocationMode": "static",
			"spec.network.loadBalancer.initialPoolSize": "2", "spec.network.loadBalancer.growthIncrement": "2",
		},
		"full/tenantcluster.yaml": {
			"spec.providerConfigRef.namespace": "butler-system", "spec.addons.storage.provider": "longhorn", "spec.addons.ingress.provider": "traefik",
			"spec.addons.ingress.enabled": "true", "spec.addons.loadBalancer.provider": "metallb", "spec.addons.gitops.provider": "fluxcd",
			"spec.managementPolicy.mode": "Active",
		},
		"examples/clusterbootstrap-gateway.yaml":    {"spec.addons.console.ingress.enabled": "false", "spec.addons.console.ingress.tls": "false"},
		"full/clusterbootstrap.yaml":                {"spec.talos.configPatches[].target": "all", "spec.talos.strategicPatches[].target": "all"},
		"examples/clusterbootstrap-ha.yaml":         {"spec.controlPlaneExposure.mode": "LoadBalancer"},
		"full/providerconfig-proxmox-template.yaml": {"spec.network": "{mode: cloud}"},
	} {
		o := read(t, file)[0]
		for path := range want {
			set(o.Object, path, nil)
		}
		if _, ok := want["spec.network"]; ok {
			set(o.Object, "spec.network", map[string]any{})
		}
		o.SetName("defaults")
		created := newFixture(t).apply(o)
		for path, value := range want {
			same(t, path, created, value)
		}
	}
}

func TestFalseCanBeSaidWhereTheDefaultIsTrue(t *testing.T) {
	o := newFixture(t).apply(read(t, "full/clusterbootstrap.yaml")[0])
	for _, addon := range []string{"loadBalancer", "controlPlaneHA", "certManager", "ingress", "controlPlaneProvider", "capi", "butlerController", "gitOps"} {
		same(t, "spec.addons."+addon+".enabled", o, "false")
	}
	same(t, "spec.addons.cni.hubbleEnabled", o, "false")
}

// same compares what stands at a path with a value written in YAML.
func same(t *testing.T, path string, o *unstructured.Unstructured, want string) {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(want), &value); err != nil {
		t.Fatal(err)
	}
	got, err := yaml.Marshal(get(o.Object, path))
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(wanted), string(got)); diff != "" {
		t.Errorf("%s of %s: %s", path, o.GetName(), diff)
	}
}
