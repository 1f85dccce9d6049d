// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

const (
	requested = "{phase: ProvisioningMachines, machines: [{name: a, role: control-plane, phase: Creating}]}"
	running   = "{phase: Ready, machines: [{name: a, role: control-plane, phase: Running, talosConfigured: true, ready: true}]}"
	taken     = "{phase: Failed, machines: [{name: a, role: control-plane, phase: Running, talosConfigured: true}]}"
)

// updateRules are the rules on a change of an object.
func updateRules() map[string]rule {
	const (
		frozen        = "spec is immutable once the machine is being created; delete the request and create a new one"
		frozenCluster = "spec.cluster is immutable once machines are requested, but for workers.replicas of a Ready cluster with topology ha"
		frozenConfig  = "spec.talos and podCIDR, serviceCIDR, vip and vipInterface of spec.network are immutable once a machine is configured, in a cloud once machines are requested"
		frozenAddons  = "type of spec.addons.cni and of spec.addons.storage is immutable once a machine is configured, in a cloud once machines are requested"
		elsewhere     = ": machines created there could no longer be found; create another ProviderConfig"
		frozenGCP     = "gcp.projectID, gcp.region and gcp.zone are immutable" + elsewhere
		frozenAzure   = "azure.subscriptionID and azure.resourceGroup are immutable" + elsewhere
		frozenCarrier = "type and enabled of spec.addons.controlPlaneHA are immutable once a machine is configured, in a cloud once machines are requested"
	)
	const (
		frozenUser  = "machineRequestRef, tenantClusterRef and clusterBootstrapRef are immutable: addresses are released when what they are for is gone"
		frozenOwner = "allocationRef is immutable: an address is released and rests before another IPAllocation gets it"
	)
	return map[string]rule{
		"network of a NetworkPool": {
			file: pool, accepted: fields{"spec.reserved": "null", "spec.tenantAllocation": "null"},
			refused: fields{"spec.cidr": "10.41.0.0/24"}, message: "cidr is immutable: allocations are addresses of it; create another NetworkPool",
		},
		"pool of an IPAllocation": {
			file: allocation, accepted: fields{"spec.count": "9"},
			refused: fields{"spec.poolRef.name": "other"}, message: "poolRef is immutable: addresses come from one pool; create another IPAllocation",
		},
		"user of an IPAllocation": {
			file: allocation, accepted: fields{"spec.count": "7"},
			refused: fields{"spec.clusterBootstrapRef.name": "other"}, message: frozenUser,
		},
		"kind of the user of an IPAllocation": {
			file: allocation, accepted: fields{},
			refused: fields{"spec.clusterBootstrapRef": "null", "spec.machineRequestRef": "{name: x}"}, message: frozenUser,
		},
		"machine of an IPAllocation": {
			file: pinned, accepted: fields{},
			refused: fields{"spec.machineRequestRef.name": "other"}, message: frozenUser,
		},
		"tenant of an IPAllocation": {
			file: "full/ipallocation-tenant.yaml", accepted: fields{},
			refused: fields{"spec.tenantClusterRef.namespace": "other"}, message: frozenUser,
		},
		"type of an IPAllocation": {
			file: allocation, accepted: fields{},
			refused: fields{"spec.type": "nodes"}, message: "type is immutable",
		},
		"count of an IPAllocation for nodes": {
			file: "full/ipallocation-tenant.yaml", accepted: fields{},
			refused: fields{"spec.count": "6"}, message: "count is mutable for type loadbalancer only",
		},
		"pinned range": {
			file: pinned, accepted: fields{},
			refused: fields{"spec.pinnedRange": "null"}, message: "pinnedRange is immutable",
		},
		"count of a pinned range": {
			file: "rules/ipallocation-pinned-lb.yaml", accepted: fields{},
			refused: fields{"spec.count": "3"}, message: "count of a pinned range is immutable",
		},
		"address of a claim": {
			file: "rules/addressclaim-ipv6.yaml", accepted: fields{"spec.releasedAt": "\"2026-03-10T12:00:00Z\""},
			refused: fields{"spec.address": "fd00:0::11"}, message: "address is immutable",
		},
		"pool of a claim": {
			file: claim, accepted: fields{},
			refused: fields{"spec.poolRef.name": "other"}, message: "poolRef is immutable",
		},
		"owner of a claim": {
			file: claim, accepted: fields{},
			refused: fields{"spec.allocationRef.name": "other"}, message: frozenOwner,
		},
		"user of a claim": {
			file: claim, accepted: fields{},
			refused: fields{"spec.usedBy": "null"}, message: "usedBy is immutable",
		},
		"provider of a ClusterBootstrap": {
			file: bootstrap, accepted: fields{"spec.paused": "true"},
			refused: fields{"spec.provider": "nutanix"}, message: "provider is immutable",
		},
		"providerRef of a ClusterBootstrap": {
			file: bootstrap, accepted: fields{"spec.paused": "true"},
			refused: fields{"spec.providerRef.name": "other"}, message: "providerRef is immutable",
		},
		"cluster name": {
			file: bootstrap, accepted: fields{"spec.cluster.controlPlane.cpu": "8"},
			refused: fields{"spec.cluster.name": "other"}, message: "cluster name is immutable",
		},
		"topology": {
			file: bootstrap, accepted: fields{"spec.cluster.workers.replicas": "5"},
			refused: fields{"spec.cluster.topology": "single-node"}, message: "topology is immutable",
		},
		"scheme of a cluster's load balancer": {
			file: onCloud, accepted: fields{"spec.network.loadBalancer": "{allowedCIDRs: [10.0.0.0/8]}"},
			refused: fields{"spec.network.loadBalancer": "{scheme: internal}"}, message: "network.loadBalancer.scheme is immutable",
		},
		"cluster with machines": {
			file: bootstrap, status: requested, accepted: fields{"spec.talos.version": "v1.9.3", "spec.network.vip": "10.40.0.201"},
			refused: fields{"spec.cluster.controlPlane.cpu": "8"}, message: frozenCluster,
		},
		"workers of a cluster that is not Ready": {
			file: bootstrap, status: taken, accepted: fields{"spec.paused": "true"},
			refused: fields{"spec.cluster.workers.replicas": "5"}, message: frozenCluster,
		},
		"workers of a Ready cluster": {
			file: bootstrap, status: running, accepted: fields{"spec.cluster.workers.replicas": "5"},
			refused: fields{"spec.cluster.workers.replicas": "4", "spec.cluster.workers.memoryMB": "65536"}, message: frozenCluster,
		},
		"labels of the workers of a Ready cluster": {
			file: bootstrap, status: running, accepted: fields{"spec.cluster.workers.replicas": "1"},
			refused: fields{"spec.cluster.workers.labels": "{a: b}"}, message: frozenCluster,
		},
		"workers of a Ready cluster that go altogether": {
			file: bootstrap, status: running, accepted: fields{},
			refused: fields{"spec.cluster.workers": "null"}, message: frozenCluster,
		},
		"control planes of a Ready cluster": {
			file: bootstrap, status: running, accepted: fields{},
			refused: fields{"spec.cluster.controlPlane.replicas": "5"}, message: frozenCluster,
		},
		"Kubernetes of a Ready cluster": {
			file: bootstrap, status: running, accepted: fields{},
			refused: fields{"spec.cluster.kubernetesVersion": "v1.33.1"}, message: frozenCluster,
		},
		"workers of a Ready single node": {
			file: singleNode, status: running, accepted: fields{"spec.paused": "true"},
			refused: fields{"spec.cluster.workers": "{replicas: 2, cpu: 4, memoryMB: 8192, diskGB: 50}"}, message: frozenCluster,
		},
		"talos of a configured machine": {
			file: bootstrap, status: taken, accepted: fields{"spec.network.loadBalancerPool.end": "10.40.0.251"},
			refused: fields{"spec.talos.version": "v1.9.3"}, message: frozenConfig,
		},
		"talos in a cloud with machines that are requested": {
			file: onCloud, status: requested, accepted: fields{"spec.paused": "true"},
			refused: fields{"spec.talos.version": "v1.9.3"}, message: frozenConfig,
		},
		"podCIDR of a configured machine": {
			file: bootstrap, status: taken, accepted: fields{"spec.addons.ingress.type": "nginx"},
			refused: fields{"spec.network.podCIDR": "10.245.0.0/16"}, message: frozenConfig,
		},
		"serviceCIDR of a configured machine": {
			file: bootstrap, status: taken, accepted: fields{"spec.paused": "true"},
			refused: fields{"spec.network.serviceCIDR": "10.112.0.0/12"}, message: frozenConfig,
		},
		"VIP of a configured machine": {
			file: bootstrap, status: taken, accepted: fields{"spec.statusCredentials": "SecretOnly"},
			refused: fields{"spec.network.vip": "10.40.0.201"}, message: frozenConfig,
		},
		"VIP interface of a configured machine": {
			file: bootstrap, status: taken, accepted: fields{"spec.remediation": "ReplaceWorkers"},
			refused: fields{"spec.network.vipInterface": "null"}, message: frozenConfig,
		},
		"VIP that a configured machine did not have": {
			file: singleNode, status: taken, accepted: fields{},
			refused: fields{"spec.network.vip": "null"}, message: frozenConfig,
		},
		"type of controlPlaneHA with a configured machine": {
			file: bootstrap, status: taken, accepted: fields{"spec.addons.controlPlaneHA.version": "v0.9.0"},
			refused: fields{"spec.addons.controlPlaneHA.type": "none"}, message: frozenCarrier,
		},
		"controlPlaneHA switched off with a configured machine": {
			file: bootstrap, status: taken, accepted: fields{"spec.addons.certManager.enabled": "false"},
			refused: fields{"spec.addons.controlPlaneHA.enabled": "false"}, message: frozenCarrier,
		},
		"network with a configured machine": {
			file: bootstrap, status: taken, accepted: fields{"spec.addons.cni.version": "1.17.1", "spec.addons.storage.type": "none"},
			refused: fields{"spec.addons.cni.type": "none"}, message: frozenAddons,
		},
		"storage that a configured machine is not ready for": {
			file: withoutStorage, status: taken, accepted: fields{"spec.addons.storage.version": "1.7.3"},
			refused: fields{"spec.addons.storage.type": "longhorn"}, message: frozenAddons,
		},
		"providerRef of a MachineRequest": {
			file: request, accepted: fields{"spec.image": "default/other"},
			refused: fields{"spec.providerRef.name": "other"}, message: "providerRef is immutable",
		},
		"machineName": {
			file: request, status: "{phase: Failed}", accepted: fields{"spec.image": "default/other"},
			refused: fields{"spec.machineName": "other"}, message: "machineName is immutable",
		},
		"address of a MachineRequest": {
			file: addressed, status: "{phase: Failed}", accepted: fields{"spec.network.gateway": "10.40.0.254"},
			refused: fields{"spec.network.address": "10.40.0.12/24"}, message: "network.address is immutable",
		},
		"address that a MachineRequest did not have": {
			file: request, accepted: fields{"spec.networkData": "'version: 2'"},
			refused: fields{"spec.network": "{address: 10.40.0.12/24}"}, message: "network.address is immutable",
		},
		"gateway of a machine that runs": {
			file: addressed, status: "{phase: Running, providerID: x}", accepted: fields{"spec.userData": "null"},
			refused: fields{"spec.userData": "null", "spec.network.gateway": "null"}, message: frozen,
		},
		"request that is being created": {
			file: request, status: "{phase: Creating}", accepted: fields{"metadata.labels": "{a: b}"},
			refused: fields{"spec.cpu": "8"}, message: frozen,
		},
		"request whose machine runs": {
			file: request, status: "{phase: Running, providerID: x}", accepted: fields{"metadata.annotations": "{a: b}"},
			refused: fields{"spec.userData": "x"}, message: frozen,
		},
		"request whose machine broke": {
			file: request, status: "{phase: Failed, providerID: x}", accepted: fields{},
			refused: fields{"spec.labels": "{a: b}"}, message: frozen,
		},
		"user data of a machine that runs": {
			file: "full/machinerequest.yaml", status: "{phase: Running, providerID: x}", accepted: fields{"spec.userData": "null"},
			refused: fields{"spec.userData": "null", "spec.networkData": "null"}, message: frozen,
		},
		"user data of a machine that is being created": {
			file: "full/machinerequest.yaml", status: "{phase: Creating, providerID: x}", accepted: fields{},
			refused: fields{"spec.userData": "null"}, message: frozen,
		},
		"provider of a ProviderConfig": {
			file: harvester, accepted: fields{"spec.harvester.networkName": "default/other"},
			refused: fields{"spec.provider": "nutanix", "spec.harvester": "null", "spec.nutanix": "{endpoint: 'https://p', clusterUUID: c, subnetUUID: s}"}, message: "provider is immutable",
		},
		"namespace on Harvester": {
			file: harvester, accepted: fields{"spec.harvester.imageName": "default/other", "spec.harvester.endpoint": "https://other"},
			refused: fields{"spec.harvester.namespace": "other"}, message: "harvester.namespace is immutable" + elsewhere,
		},
		"namespace on Harvester that is taken back": {
			file: "full/providerconfig-harvester.yaml", accepted: fields{"spec.harvester.storageClassName": "other"},
			refused: fields{"spec.harvester.namespace": "null"}, message: "harvester.namespace is immutable" + elsewhere,
		},
		"cluster of Nutanix": {
			file: "full/providerconfig-nutanix.yaml", accepted: fields{"spec.nutanix.subnetUUID": "other"},
			refused: fields{"spec.nutanix.clusterUUID": "other"}, message: "nutanix.clusterUUID is immutable" + elsewhere,
		},
		"region of AWS": {
			file: "full/providerconfig-aws.yaml", accepted: fields{"spec.aws.ami": "other", "spec.aws.subnetIDs": "[other]"},
			refused: fields{"spec.aws.region": "other"}, message: "aws.region is immutable" + elsewhere,
		},
		"project of Google Cloud": {
			file: gcp, accepted: fields{"spec.gcp.machineType": "other"},
			refused: fields{"spec.gcp.projectID": "other"}, message: frozenGCP,
		},
		"region of Google Cloud": {
			file: gcp, accepted: fields{"spec.gcp.tags": "[other]"},
			refused: fields{"spec.gcp.region": "other"}, message: frozenGCP,
		},
		"zone of Google Cloud": {
			file: gcp, accepted: fields{"spec.gcp.publicIP": "false"},
			refused: fields{"spec.gcp.zone": "null"}, message: frozenGCP,
		},
		"subscription of Azure": {
			file: "full/providerconfig-azure.yaml", accepted: fields{"spec.azure.vmSize": "other"},
			refused: fields{"spec.azure.subscriptionID": "other"}, message: frozenAzure,
		},
		"resource group of Azure": {
			file: "full/providerconfig-azure.yaml", accepted: fields{"spec.azure.location": "other"},
			refused: fields{"spec.azure.resourceGroup": "other"}, message: frozenAzure,
		},
		"security group of Azure": {
			file: "full/providerconfig-azure.yaml", accepted: fields{"spec.azure.subnetName": "other"},
			refused: fields{"spec.azure.securityGroupName": "other"}, message: "azure.securityGroupName is immutable once set: rules of load balancers in it could no longer be found; create another ProviderConfig",
		},
		"clusterName": {
			file: balancer, accepted: fields{"spec.targets": "[{ip: 10.0.0.11}]"},
			refused: fields{"spec.clusterName": "other"}, message: "clusterName is immutable",
		},
		"scheme of a load balancer": {
			file: balancer, accepted: fields{"spec.allowedCIDRs": "[10.0.0.0/8]", "spec.additionalPorts": "[50001]"},
			refused: fields{"spec.scheme": "null"}, message: "scheme is immutable: another one has another endpoint",
		},
		"providerConfigRef": {
			file: balancer, accepted: fields{"spec.targets": "[]"},
			refused: fields{"spec.providerConfigRef.namespace": "other"}, message: "providerConfigRef is immutable",
		},
	}
}
