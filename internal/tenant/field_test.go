// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// TestAFieldThatCannotBeServedIsNamed spoils an input that is good.
func TestAFieldThatCannotBeServedIsNamed(t *testing.T) {
	const image = "spec.workers.machineTemplate.os.imageRef"
	for reason, c := range map[string]struct {
		input string
		spoil func(*tenant.Input)
		field string
	}{
		"kubevirt without an image":    {"harvester-kubevirt", func(in *tenant.Input) { in.Provider.Spec.Harvester.ImageName = "" }, image},
		"no kubeconfig":                {"harvester-kubevirt", func(in *tenant.Input) { delete(in.Credentials, "kubeconfig") }, "kubeconfig"},
		"a key pair is missing":        {"harvester-caphv", func(in *tenant.Input) { in.Provider.Spec.Harvester.SSHKeyPair = "" }, "spec.harvester.sshKeyPair"},
		"EFI":                          {"harvester-caphv", func(in *tenant.Input) { in.Provider.Spec.Harvester.Firmware = v1alpha1.FirmwareEFI }, "spec.harvester.firmware"},
		"no address of Harvester":      {"harvester-caphv", func(in *tenant.Input) { in.Resolved.ServerURL = "" }, "spec.harvester.endpoint"},
		"an API key":                   {"nutanix", func(in *tenant.Input) { delete(in.Credentials, "password") }, "username, password"},
		"processors do not divide":     {"nutanix", func(in *tenant.Input) { in.Cluster.Spec.Workers.MachineTemplate.CPU = 5 }, "spec.workers.machineTemplate.cpu"},
		"nutanix without an image":     {"nutanix", func(in *tenant.Input) { in.Provider.Spec.Nutanix.ImageUUID = "" }, image},
		"an endpoint that is none":     {"nutanix", func(in *tenant.Input) { in.Provider.Spec.Nutanix.Endpoint = "https://" }, "spec.nutanix.endpoint"},
		"a password for Proxmox":       {"proxmox", func(in *tenant.Input) { delete(in.Credentials, "token") }, "token, tokenSecret"},
		"a fingerprint":                {"proxmox", func(in *tenant.Input) { in.Credentials = fingerprint(in.Credentials) }, "fingerprint"},
		"no addresses":                 {"proxmox", func(in *tenant.Input) { in.Addresses.Ranges = nil }, "spec.network.mode"},
		"no gateway":                   {"proxmox", func(in *tenant.Input) { in.Addresses.Gateway = "" }, "spec.network.gateway"},
		"no DNS":                       {"proxmox", func(in *tenant.Input) { in.Provider.Spec.Network.DNSServers = nil }, "spec.network.dnsServers"},
		"a template by name":           {"proxmox", func(in *tenant.Input) { in.Provider.Spec.Proxmox.TemplateID = 0 }, "spec.proxmox.templateID"},
		"a template that is no number": {"proxmox", func(in *tenant.Input) { in.Cluster.Spec.Workers.MachineTemplate.OS.ImageRef = "talos" }, image},
		"no VPC":                       {"aws", func(in *tenant.Input) { in.Provider.Spec.AWS.VPCID = "" }, "spec.aws.vpcID, spec.aws.subnetIDs"},
		"no AMI":                       {"aws", func(in *tenant.Input) { in.Provider.Spec.AWS.AMI = "" }, image},
		"half an access key":           {"aws", func(in *tenant.Input) { delete(in.Credentials, "secretAccessKey") }, "accessKeyID, secretAccessKey"},
		"a web identity":               {"aws", func(in *tenant.Input) { in.Credentials["webIdentityToken"] = []byte("x") }, "webIdentityToken"},
		"an empty Secret":              {"aws", func(in *tenant.Input) { in.Credentials = nil }, "accessKeyID"},
		"no instance is so large":      {"aws", func(in *tenant.Input) { in.Cluster.Spec.Workers.MachineTemplate.Memory = resource.MustParse("8Ti") }, "spec.workers.machineTemplate"},
		"no zone":                      {"gcp", func(in *tenant.Input) { in.Provider.Spec.GCP.Zone = "" }, "spec.infrastructureOverride.gcp.zone"},
		"gcp without an image":         {"gcp", func(in *tenant.Input) { in.Provider.Spec.GCP.Image = "" }, image},
		"no service account":           {"gcp", func(in *tenant.Input) { in.Credentials = nil }, "serviceAccountKey"},
		"no subnet":                    {"azure", func(in *tenant.Input) { in.Provider.Spec.Azure.SubnetName = "" }, "spec.azure.location, spec.azure.vnetName, spec.azure.subnetName"},
		"an image that is none":        {"azure", func(in *tenant.Input) { in.Provider.Spec.Azure.ImageURN = "talos" }, image},
		"a managed identity":           {"azure", func(in *tenant.Input) { in.Credentials = nil }, "tenantID, clientID, clientSecret"},
		"the block of another platform": {"aws", func(in *tenant.Input) {
			in.Cluster.Spec.InfrastructureOverride = &v1alpha1.InfrastructureOverrideSpec{GCP: &v1alpha1.GCPOverride{}}
		}, "spec.infrastructureOverride.gcp"},
		"ClusterIP without an ingress": {"aws", func(in *tenant.Input) { in.Cluster.Spec.ControlPlane.ServiceType = "ClusterIP" }, "spec.controlPlane.serviceType"},
		"Kamaji behind a Gateway":      {"steward-gateway", func(in *tenant.Input) { in.Host = tenant.Kamaji }, "spec.controlPlane.serviceType"},
		"Kamaji behind an Ingress":     {"steward-ingress", func(in *tenant.Input) { in.Host = tenant.Kamaji }, "spec.controlPlane.serviceType"},
		"a name that is too long":      {"steward-gateway", func(in *tenant.Input) { in.Cluster.Namespace = strings.Repeat("a", 230) }, "metadata.name"},
		"an Ingress without k8s": {"steward-ingress", func(in *tenant.Input) {
			in.Config.Spec.ControlPlaneExposure.Hostname = "*.example.com"
		}, "spec.controlPlaneExposure.hostname"},
		"an image without a namespace": {"harvester-kubevirt", func(in *tenant.Input) { in.Cluster.Spec.Workers.MachineTemplate.OS.ImageRef = "talos" }, image},
		"a pool that is none":          {"aws", func(in *tenant.Input) { in.Cluster.Spec.Networking.LoadBalancerPool = pool("fd00::9", "fd00::1") }, "spec.networking.loadBalancerPool"},
		"a pool of pods":               {"aws", func(in *tenant.Input) { in.Cluster.Spec.Networking.LoadBalancerPool = pool("10.244.9.1", "10.244.9.2") }, "spec.networking.loadBalancerPool"},
		"a pool around all pods":       {"aws", func(in *tenant.Input) { in.Cluster.Spec.Networking.LoadBalancerPool = pool("10.243.0.0", "10.245.0.0") }, "spec.networking.loadBalancerPool"},
		"services without room":        {"aws", func(in *tenant.Input) { in.Cluster.Spec.Networking.ServiceCIDR = "10.96.0.0/30" }, "spec.networking.serviceCIDR"},
	} {
		in := load(t, c.input)
		c.spoil(&in)
		in.Endpoint, in.BootstrapSecret = nil, "" // it is refused before anything exists
		_, err := tenant.Build(in)
		found := (*tenant.FieldError)(nil)
		if !errors.As(err, &found) || found.Field != c.field || found.Problem == "" {
			t.Errorf("%s: %v, want an error about %s", reason, err, c.field)
		}
	}
}

func pool(start, end string) *v1alpha1.AddressRange {
	return &v1alpha1.AddressRange{Start: start, End: end}
}

func TestAPoolBesidePodsAndServicesIsServed(t *testing.T) {
	for _, r := range []*v1alpha1.AddressRange{pool("10.40.0.210", "10.40.0.219"), pool("10.40.0.9", "10.40.0.9"), pool("fd00::1", "fd00::9")} {
		in := load(t, "aws")
		in.Cluster.Spec.Networking.LoadBalancerPool = r
		if _, err := tenant.Build(in); err != nil {
			t.Error(err)
		}
	}
}

func fingerprint(credentials map[string][]byte) map[string][]byte {
	delete(credentials, "caBundle")
	credentials["fingerprint"] = []byte("aa:bb")
	return credentials
}

func TestAnInputThatIsNotCompleteIsRefused(t *testing.T) {
	for reason, spoil := range map[string]func(*tenant.Input){
		"version of core": func(in *tenant.Input) { in.Core = "v1alpha4" },
		"namespace":       func(in *tenant.Input) { in.Namespace = "" },
		"cluster id":      func(in *tenant.Input) { in.ClusterID = "" },
		"platform":        func(in *tenant.Input) { in.Provider.Spec.AWS = nil },
	} {
		in := load(t, "aws")
		spoil(&in)
		if _, err := tenant.Build(in); err == nil {
			t.Errorf("%s: no error", reason)
		}
	}
}

func TestInstanceTypesAreChosenBySize(t *testing.T) {
	for _, c := range []struct {
		input  string
		cpu    int32
		memory string
		path   string
		want   string
	}{
		{"aws", 4, "16Gi", "instanceType", "m6i.xlarge"},
		{"aws", 2, "4Gi", "instanceType", "c6i.large"},
		{"aws", 4, "32Gi", "instanceType", "r6i.xlarge"},
		{"aws", 9, "16Gi", "instanceType", "c6i.4xlarge"},
		{"gcp", 4, "16Gi", "instanceType", "n2-standard-4"},
		{"gcp", 8, "64Gi", "instanceType", "n2-highmem-8"},
		{"azure", 4, "16Gi", "vmSize", "Standard_D4s_v5"},
		{"azure", 4, "32Gi", "vmSize", "Standard_E4s_v5"},
	} {
		in := load(t, c.input)
		in.Cluster.Spec.Workers.MachineTemplate.CPU = c.cpu
		in.Cluster.Spec.Workers.MachineTemplate.Memory = resource.MustParse(c.memory)
		if got := at(t, build(t, in).Template, "spec.template.spec."+c.path); got != c.want {
			t.Errorf("%s, %d processors and %s: %v, want %s", c.input, c.cpu, c.memory, got, c.want)
		}
	}
}
