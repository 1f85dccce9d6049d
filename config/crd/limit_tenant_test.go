// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import "strings"

const (
	tenantCluster = "full/tenantcluster.yaml"
	onAWS         = "full/tenantcluster-aws.yaml"
	onProxmox     = "full/tenantcluster-proxmox.yaml"
	onGCP         = "full/tenantcluster-gcp.yaml"
	onNutanix     = "full/tenantcluster-nutanix.yaml"
	team          = "full/team.yaml"
)

// tenantLimits are those of tenant clusters, of teams, and of what configures both.
func tenantLimits() []limit {
	const platform = "full/providerconfig-harvester.yaml"
	some, none := []string{"x"}, []string{`""`}
	quantity, noQuantity := []string{"1", "500m", "2Gi"}, []string{"x", "1Gib"}
	chart, noChart := []string{"1.2.3", "v1.2.3", "1.2.3-rc.1", `""`}, []string{"latest", "1.2", "v1"}
	version, noVersion := []string{"v1.32.0"}, []string{"1.32.0", "v1.32", "latest", "v1.32.0-rc.0"}
	role, noRole := []string{"admin", "operator", "viewer"}, []string{"owner"}
	return []limit{
		{onAWS, []string{"spec.kubernetesVersion"}, version, noVersion},
		{onAWS, []string{"spec.workers.machineTemplate.os.talos.version"}, []string{"v1.9.3"}, noVersion},
		{tenantCluster, []string{"spec.teamRef.name", "spec.providerConfigRef.name", "spec.providerConfigRef.namespace", "spec.controlPlane.dataStoreRef.name"}, some, none},
		{tenantCluster, []string{"spec.timeServers[]"}, some, none},
		{tenantCluster, []string{"spec.controlPlane.certSANs[]"}, []string{"a.example.com", "10.0.0.1", `"*.example.com"`}, []string{`""`, "a_b", "10.0.0.1:6443"}},
		{tenantCluster, []string{"spec.controlPlane.replicas"}, []string{"1", "3"}, []string{"0", "4"}},
		{tenantCluster, []string{"spec.controlPlane.serviceType"}, []string{"LoadBalancer", "ClusterIP"}, []string{"NodePort", "ExternalName"}},
		{onAWS, []string{"spec.workers.replicas"}, []string{"1", "1000"}, []string{"0", "1001"}},
		{tenantCluster, []string{"spec.workers.minReplicas"}, []string{"1", "3"}, []string{"0"}},
		{tenantCluster, []string{"spec.workers.maxReplicas"}, []string{"3", "1000"}, []string{"1001"}},
		{tenantCluster, []string{"spec.workers.machineTemplate.cpu"}, []string{"1", "128"}, []string{"0", "129"}},
		{tenantCluster, []string{"spec.workers.machineTemplate.memory"}, []string{"2Gi", "1Ti"}, []string{"x"}},
		{tenantCluster, []string{"spec.workers.machineTemplate.diskSize"}, []string{"20Gi", "1Ti"}, []string{"x"}},
		{tenantCluster, []string{"spec.workers.machineTemplate.os.type"}, []string{"talos"}, []string{"rocky", "windows"}},
		{tenantCluster, []string{"spec.workers.machineTemplate.os.schematicID"}, []string{"ce4c98", `""`}, []string{"A", "a/b"}},
		{tenantCluster, []string{"spec.workers.machineTemplate.os.talos.installDisk"}, []string{"/dev/sda"}, []string{"sda", "/dev/"}},
		{onAWS, []string{"spec.networking.lbPoolSize"}, []string{"1", "4096"}, []string{"0", "4097"}},
		{tenantCluster, []string{"spec.managementPolicy.mode"}, []string{"Active"}, []string{"Observe", "Passive"}},
		{tenantCluster, []string{"spec.addons.cni.provider"}, []string{"cilium"}, []string{"calico"}},
		{tenantCluster, []string{"spec.addons.loadBalancer.provider"}, []string{"metallb"}, []string{"kube-vip"}},
		{tenantCluster, []string{"spec.addons.storage.provider"}, []string{"longhorn"}, []string{"linstor", "rook"}},
		{tenantCluster, []string{"spec.addons.ingress.provider"}, []string{"traefik", "nginx"}, []string{"haproxy"}},
		{tenantCluster, []string{"spec.addons.gitops.provider"}, []string{"fluxcd"}, []string{"argocd", "jenkins"}},
		{tenantCluster, ofAddons("version"), chart, noChart},
		{tenantCluster, resourcePaths("spec.controlPlane.resources"), quantity, noQuantity},
		{tenantCluster, []string{"spec.infrastructureOverride.harvester.networkName"}, []string{"a/b"}, []string{"b", "a/b/c"}},
		{tenantCluster, []string{"spec.infrastructureOverride.harvester.imageName"}, []string{"a/b"}, []string{"b", "a/b/c"}},
		{onProxmox, []string{"spec.infrastructureOverride.proxmox.templateID"}, []string{"100", "999999999"}, []string{"99", "1000000000"}},

		{team, []string{"spec.access.users[].name", "spec.access.groups[].name", "spec.providerConfigRef.name"}, some, none},
		{team, []string{"spec.access.users[].role", "spec.access.groups[].role"}, role, noRole},
		{team, below("spec.resourceLimits", []string{"maxClusters", "maxNodesPerCluster", "maxTotalNodes"}), []string{"0", "5"}, []string{"-1"}},
		{team, below("spec.resourceLimits", []string{"maxCPUCores", "maxMemory", "maxStorage"}), quantity, noQuantity},
		{team, below("spec.resourceLimits", []string{"allowedProviders[]", "allowedAddons[]", "deniedAddons[]"}), some, none},
		{team, []string{"spec.resourceLimits.allowedKubernetesVersions[]"}, []string{"v1.32", "v1.32.0"}, []string{"1.32", "v1", "v1.32.x"}},

		{configured, []string{"spec.multiTenancy.mode"}, []string{"Enforced", "Optional", "Disabled"}, []string{"On"}},
		{configured, []string{"spec.defaultNamespace"}, []string{"a", strings.Repeat("a", 63)}, []string{"A", "a.b", `""`, strings.Repeat("a", 64)}},
		{configured, below("spec.defaultTeamLimits", []string{"maxClusters", "maxWorkersPerCluster"}), []string{"0"}, []string{"-1"}},
		{configured, below("spec.defaultTeamLimits", []string{"maxTotalCPU", "maxTotalMemory", "maxTotalStorage"}), quantity, noQuantity},
		{configured, below("spec.defaultAddonVersions", []string{"cilium", "metallb", "certManager", "longhorn", "traefik", "fluxcd"}), chart, noChart},
		{configured, resourcePaths("spec.defaultControlPlaneResources"), quantity, noQuantity},
		{configured, []string{"spec.defaultTimeServers[]"}, some, none},

		{platform, []string{"spec.limits.maxClustersPerTeam", "spec.limits.maxNodesPerTeam"}, []string{"1"}, []string{"0"}},
		{platform, []string{"spec.network.quotaPerTenant.maxNodeIPs", "spec.network.quotaPerTenant.maxLoadBalancerIPs"}, []string{"1"}, []string{"0"}},
		{platform, []string{"spec.network.loadBalancer.initialPoolSize", "spec.network.loadBalancer.growthIncrement"}, []string{"1", "4096"}, []string{"0", "4097"}},
		{platform, []string{"spec.network.loadBalancer.allocationMode"}, []string{"static", "elastic"}, []string{"dynamic"}},
		{platform, []string{"spec.harvester.clusterAPIProvider"}, []string{"kubevirt", "harvester"}, []string{"vsphere"}},
		{platform, []string{"spec.harvester.sshKeyPair"}, []string{"a/b", `""`}, []string{"b", "a/b/c"}},
	}
}

func ofAddons(field string) (out []string) {
	for _, addon := range []string{"cni", "loadBalancer", "certManager", "storage", "ingress", "gitops"} {
		out = append(out, "spec.addons."+addon+"."+field)
	}
	return out
}

// resourcePaths are the quantities of all containers of a control plane.
func resourcePaths(path string) (out []string) {
	for _, container := range []string{"apiServer", "controllerManager", "scheduler", "konnectivity"} {
		for _, of := range []string{"requests", "limits"} {
			out = append(out, below(path+"."+container+"."+of, []string{"cpu", "memory"})...)
		}
	}
	return out
}
