// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"slices"
	"strings"
	"testing"
)

// limit is the range of a field: values at its edge that are accepted, and
// values beyond that are refused. All are YAML.
type limit struct {
	file     string
	paths    []string
	accepted []string
	refused  []string
}

func TestSizesAndPatterns(t *testing.T) {
	w := newFixture(t)
	for _, l := range limits() {
		for _, path := range l.paths {
			t.Run(path, func(t *testing.T) {
				base := read(t, l.file)[0]
				for _, v := range l.accepted {
					if err := w.try(changed(t, base, fields{path: v})); err != nil {
						t.Errorf("%s: %v", v, err)
					}
				}
				for _, v := range l.refused {
					refusedAt(t, w.try(changed(t, base, fields{path: v})), path, v)
				}
			})
		}
	}
}

func TestEveryLimitOfTheSchemasHasATest(t *testing.T) {
	tested := map[string]bool{}
	for _, l := range limits() {
		for _, path := range l.paths {
			tested[read(t, l.file)[0].GetKind()+" "+path] = true
		}
	}
	for _, d := range definitions(t) {
		walk("", *d.Spec.Versions[0].Schema.OpenAPIV3Schema, func(path string, s schemaProps) {
			limited := s.Pattern != "" || len(s.Enum) > 0 || s.Minimum != nil || s.Maximum != nil || s.MinLength != nil || s.MinItems != nil
			if key := d.Spec.Names.Kind + " " + path; strings.HasPrefix(path, "spec.") && limited && !tested[key] {
				t.Errorf("no test for the limits of %s", key)
			}
		})
	}
}

// refusedAt fails unless all causes of a refusal lie at a path.
func refusedAt(t *testing.T, err error, path, value string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s was accepted", value)
		return
	}
	at := strings.ReplaceAll(path, "[]", "[0]")
	for _, c := range causes(t, err) {
		if !strings.HasPrefix(c, at) {
			t.Errorf("%s: refused for another cause: %s", value, c)
		}
	}
}

func limits() []limit {
	const (
		nutanix = "full/providerconfig-nutanix.yaml"
		named   = "full/providerconfig-nutanix-names.yaml"
		aws     = "full/providerconfig-aws.yaml"
		azure   = "full/providerconfig-azure.yaml"
		team    = "full/providerconfig-harvester.yaml"
	)
	name := []string{"a", "a-1", strings.Repeat("x", 63)}
	noName := []string{`""`, "A", "-a", "a-", "a.b", "a_b", strings.Repeat("x", 64)}
	some, none := []string{"x"}, []string{`""`}
	url, noURL := []string{"http://h", "https://h:1/x"}, []string{"h", "ftp://h"}
	provider, noProvider := []string{"harvester"}, []string{"vsphere", `""`}
	version, noVersion := []string{"v1.9.2"}, []string{"1.9.2", "v1.9", "latest", "v1.9.2-rc.0"}
	port, noPort := []string{"1", "65535"}, []string{"0", "65536"}
	exposure := func(file string) []limit {
		return []limit{
			{file, []string{"spec.controlPlaneExposure.mode"}, []string{"LoadBalancer", "Ingress", "Gateway"}, []string{"NodePort"}},
			{file, []string{"spec.controlPlaneExposure.controllerType"}, []string{"haproxy", "nginx", "traefik", "generic"}, []string{"envoy"}},
			{file, []string{"spec.controlPlaneExposure.hostname"}, []string{`"*.k8s.example.com"`, "k8s.example.com"}, []string{`"*"`, `"k8s.*.com"`, "a..b", "-a"}},
			{file, []string{"spec.controlPlaneExposure.gatewayRef"}, []string{"butler-system/tenant-gateway", "a/b.c"}, []string{"tenant-gateway", "a/b/c", "/b", "a/"}},
		}
	}
	pools := func(field string) []string {
		return []string{"spec.cluster.controlPlane." + field, "spec.cluster.workers." + field}
	}
	all := []limit{
		{allFields, []string{"spec.provider"}, provider, noProvider},
		{allFields, []string{"spec.providerRef.name"}, some, none},
		{allFields, []string{"spec.cluster.name"}, name, noName},
		{allFields, []string{"spec.cluster.topology"}, []string{"single-node", "ha"}, []string{"multi"}},
		{allFields, []string{"spec.cluster.kubernetesVersion", "spec.talos.version"}, version, noVersion},
		{allFields, pools("replicas"), []string{"1", "10"}, []string{"0", "11"}},
		{allFields, pools("cpu"), []string{"1", "128"}, []string{"0", "129"}},
		{allFields, pools("memoryMB"), []string{"2048"}, []string{"2047"}},
		{allFields, pools("diskGB"), []string{"20"}, []string{"19"}},
		{allFields, pools("extraDisks[].sizeGB"), []string{"1"}, []string{"0"}},
		{allFields, []string{"spec.network.vipInterface"}, []string{"eth0", "enp1s0"}, []string{"eth 0", "a/b", strings.Repeat("x", 16)}},
		{allFields, []string{"spec.talos.schematic"}, []string{"ce4c98"}, []string{`""`, "a/b", "A"}},
		{allFields, []string{"spec.talos.installDisk"}, []string{"/dev/sda"}, []string{"sda", "/dev/"}},
		{allFields, []string{"spec.talos.configPatches[].op"}, []string{"add", "remove", "replace"}, []string{"test", "move"}},
		{allFields, []string{"spec.talos.configPatches[].path"}, []string{"/machine"}, []string{"machine"}},
		{allFields, []string{"spec.talos.configPatches[].target", "spec.talos.strategicPatches[].target"}, []string{"all", "control-plane", "worker"}, []string{"workers"}},
		{allFields, []string{"spec.talos.strategicPatches[].patch"}, []string{"a"}, none},
		{allFields, []string{"spec.registries[].host"}, []string{"registry.example.com", "10.40.0.5:5000", "localhost"}, []string{`""`, "https://registry.example.com", "registry.example.com/path", "registry.example.com:port"}},
		{allFields, []string{"spec.registries[].secretRef.name"}, some, none},
		{allFields, []string{"spec.addons.cni.type"}, []string{"cilium", "none"}, []string{"flannel"}},
		{allFields, []string{"spec.addons.storage.type"}, []string{"longhorn", "none"}, []string{"rook"}},
		{allFields, []string{"spec.addons.storage.replicaCount"}, []string{"1"}, []string{"0"}},
		{allFields, []string{"spec.addons.loadBalancer.type"}, []string{"metallb", "none"}, []string{"cilium"}},
		{allFields, []string{"spec.addons.controlPlaneHA.type"}, []string{"kube-vip", "none"}, []string{"keepalived"}},
		{allFields, []string{"spec.addons.ingress.type"}, []string{"traefik", "nginx", "none"}, []string{"haproxy"}},
		{allFields, []string{"spec.addons.controlPlaneProvider.type"}, []string{"steward", "kamaji", "none"}, []string{"k0smotron"}},
		{allFields, []string{"spec.addons.gitOps.type"}, []string{"flux", "none"}, []string{"argocd"}},
		{allFields, []string{"spec.addons.capi.infrastructureProviders[].name"}, []string{"harvester", "nutanix", "proxmox", "gcp", "aws", "azure"}, noProvider},
		{allFields, []string{"spec.addons.capi.infrastructureProviders[].credentialsSecretRef.name"}, some, none},
		{allFields, []string{"spec.statusCredentials"}, []string{"Inline", "SecretOnly"}, []string{"Hidden"}},
		{allFields, []string{"spec.remediation"}, []string{"None", "ReplaceWorkers"}, []string{"ReplaceAll"}},

		{request, []string{"spec.providerRef.name"}, some, none},
		{request, []string{"spec.machineName"}, name, noName},
		{request, []string{"spec.userData"}, []string{strings.Repeat("x", 262144)}, []string{strings.Repeat("x", 262145)}},
		{request, []string{"spec.networkData"}, []string{strings.Repeat("x", 65536)}, []string{strings.Repeat("x", 65537)}},
		{request, []string{"spec.role"}, []string{"control-plane", "worker"}, []string{"master", `""`}},
		{request, []string{"spec.cpu"}, []string{"1", "128"}, []string{"0", "129"}},
		{request, []string{"spec.memoryMB"}, []string{"1024"}, []string{"1023"}},
		{request, []string{"spec.diskGB"}, []string{"10"}, []string{"9"}},
		{request, []string{"spec.extraDisks[].sizeGB"}, []string{"1"}, []string{"0"}},
		{request, []string{"spec.talosVersion"}, version, noVersion},
		{request, []string{"spec.schematic"}, []string{"ce4c98"}, []string{"a/b"}},

		{harvester, []string{"spec.provider"}, provider, []string{"vsphere", `""`}},
		{harvester, []string{"spec.credentialsRef.name"}, some, none},
		{team, []string{"spec.scope.type"}, []string{"team"}, []string{"tenant"}},
		{team, []string{"spec.scope.teamRef.name", "spec.network.poolRefs[].name"}, some, none},
		{team, []string{"spec.network.mode"}, []string{"ipam"}, []string{"dhcp"}},
		{team, []string{"spec.network.timeServers[]"}, some, none},
		{team, []string{"spec.network.loadBalancer.defaultPoolSize"}, []string{"1", "4096"}, []string{"0", "4097"}},
		{team, []string{"spec.harvester.endpoint"}, url, noURL},
		{harvester, []string{"spec.harvester.networkName"}, []string{"default/vlan40-workloads"}, []string{"workloads", "a/b/c", "A/b"}},
		{team, []string{"spec.harvester.firmware"}, []string{"BIOS", "EFI", "SecureBoot"}, []string{"efi", "UEFI", `""`}},
		{harvester, []string{"spec.harvester.imageName"}, []string{"default/talos-v1.9.2"}, []string{"talos", "a/b/c", "a/"}},
		{nutanix, []string{"spec.nutanix.endpoint"}, url, noURL},
		{nutanix, []string{"spec.nutanix.port"}, port, noPort},
		{nutanix, []string{"spec.nutanix.clusterUUID", "spec.nutanix.subnetUUID"}, some, none},
		{named, []string{"spec.nutanix.subnetName"}, some, none},
		{nutanix, []string{"spec.nutanix.coresPerSocket"}, []string{"1", "64"}, []string{"0", "65"}},
		{proxmox, []string{"spec.proxmox.endpoint"}, url, noURL},
		{proxmox, []string{"spec.proxmox.nodes"}, []string{"[a]"}, []string{"[]"}},
		{proxmox, []string{"spec.proxmox.nodes[]", "spec.proxmox.storage"}, some, none},
		{proxmox, []string{"spec.proxmox.templateID"}, []string{"100", "999999999"}, []string{"99", "1000000000"}},
		{proxmox, []string{"spec.proxmox.vmidRange.start"}, []string{"100"}, []string{"99"}},
		{proxmox, []string{"spec.proxmox.vmidRange.end"}, []string{"999999999"}, []string{"1000000000"}},
		{proxmox, []string{"spec.proxmox.vlan"}, []string{"0", "4094"}, []string{"-1", "4095"}},
		{proxmox, []string{"spec.proxmox.cpuType"}, []string{"host", "x86-64-v2-AES"}, []string{"host,flags=+aes", "-v3"}},
		{aws, []string{"spec.aws.region", "spec.aws.subnetIDs[]", "spec.aws.securityGroupIDs[]"}, some, none},
		{aws, []string{"spec.aws.endpoint"}, url, noURL},
		{gcp, []string{"spec.gcp.projectID", "spec.gcp.region", "spec.gcp.tags[]"}, some, none},
		{gcp, []string{"spec.gcp.endpoint"}, url, noURL},
		{azure, []string{"spec.azure.subscriptionID", "spec.azure.resourceGroup"}, some, none},
		{azure, []string{"spec.azure.endpoint", "spec.azure.authorityHost"}, url, noURL},

		{balancer, []string{"spec.clusterName"}, name, noName},
		{balancer, []string{"spec.providerConfigRef.name"}, some, none},
		{balancer, []string{"spec.port", "spec.healthCheckPort"}, port, noPort},
		{balancer, []string{"spec.additionalPorts[]"}, port, noPort},
		{balancer, []string{"spec.scheme"}, []string{"internal", "internet-facing"}, []string{"public"}},
		{onCloud, []string{"spec.network.nodeAccess"}, []string{"LoadBalancer", "Direct"}, []string{"VPN", `""`}},
		{onCloud, []string{"spec.network.loadBalancer.scheme"}, []string{"internal", "internet-facing"}, []string{"public"}},
		{balancer, []string{"spec.targets[].instanceID", "spec.targets[].instanceName"}, some, none},

		{pool, []string{"spec.reuseAfter"}, []string{"0s", "1h30m", "1.5m", "8760h"}, []string{"10", "-10m", "10d", strings.Repeat("1s", 17), "8761h"}},
		{allocation, []string{"spec.type"}, []string{"nodes", "loadbalancer"}, []string{"vip"}},
		{allocation, []string{"spec.count"}, []string{"1", "4096"}, []string{"0", "4097"}},
		{allocation, []string{"spec.poolRef.name", "spec.clusterBootstrapRef.name"}, some, none},
		{pinned, []string{"spec.machineRequestRef.name"}, some, none},
		{"full/ipallocation-tenant.yaml", []string{"spec.tenantClusterRef.name", "spec.tenantClusterRef.namespace"}, some, none},
		{claim, []string{"spec.poolRef.name", "spec.poolRef.namespace", "spec.allocationRef.name", "spec.allocationRef.namespace", "spec.usedBy.name", "spec.usedBy.namespace"}, some, none},
		{claim, []string{"spec.reuseAfter"}, []string{"0s", "1h30m", "8760h"}, []string{"10", "-10m", "10d", strings.Repeat("1s", 17), "8761h"}},
		{claim, []string{"spec.usedBy.kind"}, []string{"MachineRequest", "ClusterBootstrap", "TenantCluster"}, []string{"Pod"}},

		{configured, []string{"spec.defaultProviderConfigRef.name"}, some, none},
	}
	return slices.Concat(all, exposure(allFields), exposure(configured), tenantLimits())
}
