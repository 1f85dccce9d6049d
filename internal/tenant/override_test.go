// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/tenant"
)

type override = v1alpha1.InfrastructureOverrideSpec

// TestOverridesReplaceFieldsOfTheProviderConfig sets every field of every override.
func TestOverridesReplaceFieldsOfTheProviderConfig(t *testing.T) {
	for name, c := range map[string]struct {
		input    string
		override override
		cluster  map[string]any // of the infrastructure cluster
		template map[string]any // of a machine
	}{
		"harvester": {
			input:    "harvester-caphv",
			override: override{Harvester: &v1alpha1.HarvesterOverride{Namespace: "n", NetworkName: "a/net", ImageName: "a/img"}},
			cluster:  map[string]any{"targetNamespace": "n"},
			template: map[string]any{"networks": []any{"a/net"}, "volumes": []any{map[string]any{"volumeType": "image", "imageName": "a/img", "volumeSize": "100Gi", "bootOrder": int64(0)}}},
		},
		"kubevirt": {
			input:    "harvester-kubevirt",
			override: override{Harvester: &v1alpha1.HarvesterOverride{Namespace: "n"}},
			template: map[string]any{"virtualMachineTemplate.metadata.namespace": "n"},
		},
		"nutanix": {
			input:    "nutanix",
			override: override{Nutanix: &v1alpha1.NutanixOverride{ClusterUUID: "c", SubnetUUID: "s", ImageUUID: "i"}},
			template: map[string]any{"cluster.uuid": "c", "image.uuid": "i", "subnet": []any{map[string]any{"type": "uuid", "uuid": "s"}}},
		},
		"proxmox": {
			input:    "proxmox",
			override: override{Proxmox: &v1alpha1.ProxmoxOverride{Node: "pve9", Storage: "ceph", TemplateID: 777}},
			template: map[string]any{"sourceNode": "pve9", "storage": "ceph", "templateID": int64(777)},
		},
		"aws": {
			input:    "aws",
			override: override{AWS: &v1alpha1.AWSOverride{InstanceType: "t3.large", AMI: "ami-9", SubnetID: "subnet-9"}},
			cluster:  map[string]any{"network.subnets": []any{map[string]any{"id": "subnet-9"}}},
			template: map[string]any{"instanceType": "t3.large", "ami.id": "ami-9", "subnet.id": "subnet-9"},
		},
		"gcp": {
			input:    "gcp",
			override: override{GCP: &v1alpha1.GCPOverride{Zone: "z", MachineType: "e2-medium", ImageFamily: "f", Subnetwork: "s"}},
			cluster:  map[string]any{"failureDomains": []any{"z"}},
			template: map[string]any{"instanceType": "e2-medium", "imageFamily": "projects/shop-1/global/images/family/f", "image": nil, "subnet": "s"},
		},
		"gcp image": {
			input:    "gcp",
			override: override{GCP: &v1alpha1.GCPOverride{Image: "projects/p/global/images/i"}},
			template: map[string]any{"image": "projects/p/global/images/i"},
		},
		"azure": {
			input:    "azure",
			override: override{Azure: &v1alpha1.AzureOverride{VMSize: "v", ImageURN: "p:o:s:1", SubnetName: "s"}},
			cluster:  map[string]any{"networkSpec.subnets": []any{map[string]any{"name": "s", "role": "node", "securityGroup": map[string]any{"name": "nodes"}}}},
			template: map[string]any{"vmSize": "v", "image.marketplace": map[string]any{"publisher": "p", "offer": "o", "sku": "s", "version": "1"}},
		},
	} {
		in := load(t, c.input)
		in.Cluster.Spec.InfrastructureOverride = &c.override
		o := build(t, in)
		for path, want := range c.cluster {
			same(t, name, o.Infrastructure, "spec."+path, want)
		}
		for path, want := range c.template {
			same(t, name, o.Template, "spec.template.spec."+path, want)
		}
	}
}

func same(t *testing.T, name string, u *unstructured.Unstructured, path string, want any) {
	t.Helper()
	if diff := cmp.Diff(want, at(t, u, path)); diff != "" {
		t.Errorf("%s: %s: %s", name, path, diff)
	}
}

func TestTheImageOfTheClusterReplacesThatOfTheProviderConfig(t *testing.T) {
	for input, path := range map[string]string{"aws": "ami.id", "nutanix": "image.uuid", "gcp": "image"} {
		in := load(t, input)
		in.Cluster.Spec.Workers.MachineTemplate.OS.ImageRef = "x/own"
		same(t, input, build(t, in).Template, "spec.template.spec."+path, any("x/own"))
	}
}

// TestTheControlPlaneIsThatOfTheSpec is about the fields that the hosted control plane gets.
func TestTheControlPlaneIsThatOfTheSpec(t *testing.T) {
	in := load(t, "steward-gateway")
	in.Cluster.Spec.ControlPlane.Replicas = 3
	in.Cluster.Spec.ControlPlane.DataStoreRef = &v1alpha1.LocalReference{Name: "fast"}
	in.Cluster.Spec.ControlPlane.CertSANs = []string{"shop.example.com"}
	in.Cluster.Spec.ControlPlane.Resources = &v1alpha1.ControlPlaneResources{APIServer: &v1alpha1.ComponentResources{}}
	o := build(t, in).ControlPlane
	for path, want := range map[string]any{
		"spec.replicas": int64(3), "spec.dataStoreName": "fast", "spec.network.certSANs": []any{"shop.example.com"},
		// Those of the cluster replace those of the ButlerConfig, container by container.
		"spec.apiServer.resources":                               map[string]any{},
		"spec.addons.konnectivity.server.resources.requests.cpu": "50m",
		"spec.addons.coreDNS.dnsServiceIPs":                      []any{"10.96.0.10"},
	} {
		same(t, "steward", o, path, want)
	}
	ip, err := tenant.DNSService(in.Cluster)
	if err != nil || ip != "10.96.0.10" {
		t.Errorf("%s, %v", ip, err)
	}
}
