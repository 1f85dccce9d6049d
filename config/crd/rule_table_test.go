// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import "strings"

const (
	bootstrap      = "examples/clusterbootstrap-ha.yaml"
	singleNode     = "examples/clusterbootstrap-single-node.yaml"
	withoutStorage = "rules/clusterbootstrap-no-storage.yaml"
	onCloud        = "examples/clusterbootstrap-gcp.yaml"
	allFields      = "full/clusterbootstrap.yaml"
	request        = "examples/machinerequest.yaml"
	addressed      = "full/machinerequest-network.yaml"
	harvester      = "examples/providerconfig.yaml"
	proxmox        = "full/providerconfig-proxmox.yaml"
	gcp            = "full/providerconfig-gcp.yaml"
	balancer       = "full/loadbalancerrequest.yaml"
	configured     = "full/butlerconfig.yaml"
	pool           = "full/networkpool.yaml"
	oneRange       = "rules/networkpool-range.yaml"
	allocation     = "full/ipallocation.yaml"
	pinned         = "full/ipallocation-pinned.yaml"
	claim          = "full/addressclaim.yaml"
	noAddress      = "address must be the address of a machine with a prefix length, such as 10.40.0.11/24"

	elsewhereGateway = "gateway must be another address of the network of address"
	anyHostname      = `"*.k8s.example.com"`
)

type fields = map[string]string

// createRules are the rules that one manifest alone can break.
func createRules() map[string]rule {
	return map[string]rule{
		"network of a pool": {
			file: pool, accepted: fields{"spec.cidr": "fd00::/64"},
			refused: fields{"spec.cidr": "10.40.0.0/33"}, message: "cidr must be a CIDR such as 10.40.0.0/24",
		},
		"reserved network of a pool": {
			file: pool, accepted: fields{"spec.reserved": "[{cidr: 10.40.0.1/32}]"},
			refused: fields{"spec.reserved": "[{cidr: 10.40.0.1}]"}, message: "reserved cidr must be a CIDR such as 10.40.0.0/28",
		},
		"start of the range of a pool": {
			file: oneRange, accepted: fields{"spec.tenantAllocation.start": "10.40.0.20"},
			refused: fields{"spec.tenantAllocation.start": "10.40.0.300"}, message: "start must be an IP address",
		},
		"end of the range of a pool": {
			file: oneRange, accepted: fields{"spec.tenantAllocation.end": "10.40.0.20"},
			refused: fields{"spec.tenantAllocation.end": "x"}, message: "end must be an IP address",
		},
		"both ends of the range of a pool": {
			file: oneRange, accepted: fields{"spec.tenantAllocation": "{}"},
			refused: fields{"spec.tenantAllocation.end": "null"}, message: "start and end belong together",
		},
		"a range or ranges": {
			file: oneRange, accepted: fields{"spec.tenantAllocation.ranges": "[]"},
			refused: fields{"spec.tenantAllocation.ranges": "[{start: 10.40.0.1, end: 10.40.0.2}]"}, message: "start and end, or ranges, but not both",
		},
		"family of a range of a pool": {
			file: pool, accepted: fields{"spec.tenantAllocation.ranges": "[{start: 'fd00::1', end: 'fd00::2'}]"},
			refused: fields{"spec.tenantAllocation.ranges": "[{start: 10.40.0.1, end: 'fd00::2'}]"}, message: "start and end must both be IPv4 or both be IPv6",
		},
		"direction of a range of a pool": {
			file: pool, accepted: fields{"spec.tenantAllocation.ranges": "[{start: 10.40.0.9, end: 10.40.0.9}]"},
			refused: fields{"spec.tenantAllocation.ranges": "[{start: 10.40.0.9, end: 10.40.0.8}]"}, message: "start must not lie after end",
		},
		"rest of an address": {
			file: pool, accepted: fields{"spec.reuseAfter": "8760h"},
			refused: fields{"spec.reuseAfter": "8761h"}, message: "reuseAfter is at most 8760h",
		},
		"what addresses are for": {
			file: allocation, accepted: fields{"spec.clusterBootstrapRef": "null", "spec.machineRequestRef": "{name: x}"},
			refused: fields{"spec.machineRequestRef": "{name: x}"}, message: "exactly one of machineRequestRef, tenantClusterRef and clusterBootstrapRef is required",
		},
		"addresses for nothing": {
			file: allocation, accepted: fields{},
			refused: fields{"spec.clusterBootstrapRef": "null"}, message: "exactly one of machineRequestRef, tenantClusterRef and clusterBootstrapRef is required",
		},
		"start of a pinned range": {
			file: pinned, accepted: fields{"spec.pinnedRange.startAddress": "fd00::1"},
			refused: fields{"spec.pinnedRange.startAddress": "10.40.0"}, message: "startAddress must be an IP address",
		},
		"end of a pinned range": {
			file: pinned, accepted: fields{"spec.pinnedRange.endAddress": "fd00::1"},
			refused: fields{"spec.pinnedRange.endAddress": "10.40.0"}, message: "endAddress must be an IP address",
		},
		"rest of a claim": {
			file: claim, accepted: fields{"spec.reuseAfter": "8760h"},
			refused: fields{"spec.reuseAfter": "8761h"}, message: "reuseAfter is at most 8760h",
		},
		"claim of an address": {
			file: claim, accepted: fields{"metadata.name": "10.40.0.17", "spec.address": "10.40.0.17"},
			refused: fields{"metadata.name": "x", "spec.address": "x"}, message: "address must be an IP address",
		},
		"name of a claim": {
			file: claim, accepted: fields{},
			refused: fields{"metadata.name": "10.40.0.17"}, message: "the name must be the address, for IPv6 in full and with dashes",
		},
		"name of a claim of IPv6": {
			file: claim, accepted: fields{"metadata.name": "fd00-0000-0000-0000-0000-0000-0000-0011", "spec.address": "fd00::11"},
			refused: fields{"metadata.name": "fd00-0000-0000-0000-0000-0000-0000-0012", "spec.address": "fd00::11"}, message: "the name must be the address, for IPv6 in full and with dashes",
		},
		"a name fits into a label": {
			file:     bootstrap,
			accepted: fields{"metadata.name": strings.Repeat("a", 63)},
			refused:  fields{"metadata.name": strings.Repeat("a", 64)},
			message:  "metadata.name must have at most 63 characters",
		},
		"podCIDR is a CIDR": {
			file:     bootstrap,
			accepted: fields{"spec.network.podCIDR": "fd00:10::/56"},
			refused:  fields{"spec.network.podCIDR": "10.244.0.0/33"},
			message:  "podCIDR must be a CIDR such as 10.244.0.0/16",
		},
		"podCIDR has real octets": {
			file:     bootstrap,
			accepted: fields{"spec.network.podCIDR": "10.244.0.0/16"},
			refused:  fields{"spec.network.podCIDR": "999.244.0.0/16"},
			message:  "podCIDR must be a CIDR such as 10.244.0.0/16",
		},
		"serviceCIDR is a CIDR": {
			file:     bootstrap,
			accepted: fields{"spec.network.serviceCIDR": "172.30.0.0/16"},
			refused:  fields{"spec.network.serviceCIDR": "172.30.0.0"},
			message:  "serviceCIDR must be a CIDR such as 10.96.0.0/12",
		},
		"pods and services do not share addresses": {
			file:     bootstrap,
			accepted: fields{"spec.network.serviceCIDR": "10.245.0.0/16"},
			refused:  fields{"spec.network.serviceCIDR": "10.244.128.0/20"},
			message:  "podCIDR and serviceCIDR must not overlap",
		},
		"pods within the service range": {
			file:     bootstrap,
			accepted: fields{"spec.network.serviceCIDR": "10.96.0.0/12"},
			refused:  fields{"spec.network.serviceCIDR": "10.240.0.0/12"},
			message:  "podCIDR and serviceCIDR must not overlap",
		},
		"the VIP can be a name": {
			file:     bootstrap,
			accepted: fields{"spec.network.vip": "api.k8s-1.example.com"},
			refused:  fields{"spec.network.vip": "api_k8s.example.com"},
			message:  "vip must be an IP address or a DNS name",
		},
		"what looks like an IPv4 address is one": {
			file:     bootstrap,
			accepted: fields{"spec.network.vip": "10.40.0.30"},
			refused:  fields{"spec.network.vip": "10.40.0.300"},
			message:  "vip must be an IP address or a DNS name",
		},
		"a name does not end in a number": {
			file:     bootstrap,
			accepted: fields{"spec.network.vip": "10.example"},
			refused:  fields{"spec.network.vip": "10.40.0"},
			message:  "vip must be an IP address or a DNS name",
		},
		"the VIP can be reached": {
			file:     bootstrap,
			accepted: fields{"spec.network.vip": `"fd00::1"`},
			refused:  fields{"spec.network.vip": "127.0.0.1"},
			message:  "vip must not be a loopback, link-local, multicast or unspecified address",
		},
		"the VIP is not a pod's or service's": {
			file:     bootstrap,
			accepted: fields{"spec.network.vip": "10.243.255.255"},
			refused:  fields{"spec.network.vip": "10.244.0.1"},
			message:  "vip must lie outside podCIDR and serviceCIDR",
		},
		"the VIP lies before the pool": {
			file:     bootstrap,
			accepted: fields{"spec.network.vip": "10.40.0.209"},
			refused:  fields{"spec.network.vip": "10.40.0.210"},
			message:  "vip must lie outside loadBalancerPool",
		},
		"the VIP lies behind the pool": {
			file:     bootstrap,
			accepted: fields{"spec.network.vip": "10.40.0.251"},
			refused:  fields{"spec.network.vip": "10.40.0.250"},
			message:  "vip must lie outside loadBalancerPool",
		},
		"octets are compared as numbers": {
			file:     bootstrap,
			accepted: fields{"spec.network.loadBalancerPool": "{start: 10.40.0.9, end: 10.40.0.100}"},
			refused:  fields{"spec.network.loadBalancerPool": "{start: 10.40.0.100, end: 10.40.0.9}"},
			message:  "start must not lie after end",
		},
		"higher octets count first": {
			file:     bootstrap,
			accepted: fields{"spec.network.loadBalancerPool": "{start: 10.40.1.200, end: 10.41.0.1}"},
			refused:  fields{"spec.network.loadBalancerPool": "{start: 10.41.0.1, end: 10.40.1.200}"},
			message:  "start must not lie after end",
		},
		"a pool has one family": {
			file:     bootstrap,
			accepted: fields{"spec.network.loadBalancerPool": `{start: "fd00::1", end: "fd00::9"}`},
			refused:  fields{"spec.network.loadBalancerPool": `{start: 10.40.0.210, end: "fd00::9"}`},
			message:  "start and end must both be IPv4 or both be IPv6",
		},
		"a pool starts with an address": {
			file:     bootstrap,
			accepted: fields{"spec.network.loadBalancerPool.start": "10.40.0.250"},
			refused:  fields{"spec.network.loadBalancerPool.start": "10.40.0.256"},
			message:  "start must be an IP address",
		},
		"a pool ends with an address": {
			file:     bootstrap,
			accepted: fields{"spec.network.loadBalancerPool.end": "10.40.0.210"},
			refused:  fields{"spec.network.loadBalancerPool.end": "010.040.000.250"},
			message:  "end must be an IP address",
		},
		"no pool in a cloud": {
			file:     onCloud,
			accepted: fields{"spec.network.vip": "api.example.com"},
			refused:  fields{"spec.network.loadBalancerPool": "{start: 10.0.0.1, end: 10.0.0.9}"},
			message:  "network.loadBalancerPool and network.vipInterface are for harvester, nutanix and proxmox only",
		},
		"no VIP interface in a cloud": {
			file:     onCloud,
			accepted: fields{},
			refused:  fields{"spec.network.vipInterface": "eth0"},
			message:  "network.loadBalancerPool and network.vipInterface are for harvester, nutanix and proxmox only",
		},
		"no load balancer on-prem": {
			file:     bootstrap,
			accepted: fields{},
			refused:  fields{"spec.network.loadBalancer": "{scheme: internal}"},
			message:  "network.loadBalancer and network.nodeAccess are for gcp, aws and azure only",
		},
		"nodes on-prem are reached directly": {
			file:     bootstrap,
			accepted: fields{},
			refused:  fields{"spec.network.nodeAccess": "Direct"},
			message:  "network.loadBalancer and network.nodeAccess are for gcp, aws and azure only",
		},
		"clients of a cluster's load balancer are CIDRs": {
			file:     onCloud,
			accepted: fields{"spec.network.loadBalancer": `{scheme: internal, allowedCIDRs: [10.0.0.0/8, "fd00::/8"]}`},
			refused:  fields{"spec.network.loadBalancer": "{allowedCIDRs: [10.0.0.1]}"},
			message:  "allowedCIDRs must be CIDRs such as 203.0.113.0/24",
		},
		"a patch that sets has a value": {
			file:     bootstrap,
			accepted: fields{"spec.talos.configPatches": "[{op: remove, path: /machine/sysctls}]"},
			refused:  fields{"spec.talos.configPatches": "[{op: add, path: /machine/sysctls}]"},
			message:  "value is required for add and replace",
		},
		"Ingress needs a hostname": {
			file:     bootstrap,
			accepted: fields{"spec.controlPlaneExposure": "{mode: Ingress, hostname: " + anyHostname + "}"},
			refused:  fields{"spec.controlPlaneExposure": "{mode: Ingress}"},
			message:  "hostname is required when controlPlaneExposure.mode is Ingress",
		},
		"Gateway needs a hostname": {
			file:     bootstrap,
			accepted: fields{"spec.controlPlaneExposure": "{mode: Gateway, gatewayRef: a/b, hostname: " + anyHostname + "}"},
			refused:  fields{"spec.controlPlaneExposure": `{mode: Gateway, gatewayRef: a/b, hostname: ""}`},
			message:  "hostname is required when controlPlaneExposure.mode is Gateway",
		},
		"Gateway needs a gateway": {
			file:     bootstrap,
			accepted: fields{"spec.controlPlaneExposure": "{mode: Gateway, gatewayRef: a/b, hostname: " + anyHostname + "}"},
			refused:  fields{"spec.controlPlaneExposure": "{mode: Gateway, hostname: " + anyHostname + "}"},
			message:  "gatewayRef is required when controlPlaneExposure.mode is Gateway",
		},
		"Ingress needs a hostname in the ButlerConfig": {
			file:     configured,
			accepted: fields{"spec.controlPlaneExposure.mode": "Ingress"},
			refused:  fields{"spec.controlPlaneExposure": "{mode: Ingress}"},
			message:  "hostname is required when controlPlaneExposure.mode is Ingress",
		},
		"Gateway needs a hostname in the ButlerConfig": {
			file:     configured,
			accepted: fields{},
			refused:  fields{"spec.controlPlaneExposure.hostname": "null"},
			message:  "hostname is required when controlPlaneExposure.mode is Gateway",
		},
		"Gateway needs a gateway in the ButlerConfig": {
			file:     configured,
			accepted: fields{},
			refused:  fields{"spec.controlPlaneExposure.gatewayRef": "null"},
			message:  "gatewayRef is required when controlPlaneExposure.mode is Gateway",
		},
		"there is one ButlerConfig": {
			file:     configured,
			accepted: fields{},
			refused:  fields{"metadata.name": "second"},
			message:  "the only ButlerConfig is named butler",
		},
		"on-prem needs credentials": {
			file:     harvester,
			accepted: fields{"spec.credentialsRef": "{name: other}"},
			refused:  fields{"spec.credentialsRef": "null"},
			message:  "credentialsRef is required for harvester, nutanix and proxmox",
		},
		"provider harvester has its block": {
			file:     harvester,
			accepted: fields{},
			refused:  fields{"spec.harvester": "null"},
			message:  "block harvester is required for provider harvester, and for no other",
		},
		"provider nutanix has its block": {
			file:     "full/providerconfig-nutanix.yaml",
			accepted: fields{},
			refused:  fields{"spec.nutanix": "null"},
			message:  "block nutanix is required for provider nutanix, and for no other",
		},
		"provider proxmox has its block": {
			file:     proxmox,
			accepted: fields{},
			refused:  fields{"spec.proxmox": "null"},
			message:  "block proxmox is required for provider proxmox, and for no other",
		},
		"only provider aws has the block aws": {
			file:     harvester,
			accepted: fields{},
			refused:  fields{"spec.aws": "{region: eu-central-1}"},
			message:  "block aws is required for provider aws, and for no other",
		},
		"only provider gcp has the block gcp": {
			file:     "full/providerconfig-aws.yaml",
			accepted: fields{},
			refused:  fields{"spec.gcp": "{projectID: p, region: r}"},
			message:  "block gcp is required for provider gcp, and for no other",
		},
		"only provider azure has the block azure": {
			file:     gcp,
			accepted: fields{},
			refused:  fields{"spec.azure": "{subscriptionID: s, resourceGroup: g}"},
			message:  "block azure is required for provider azure, and for no other",
		},
		"scope team names the team": {
			file:     harvester,
			accepted: fields{"spec.scope": "{type: team, teamRef: {name: storefront}}"},
			refused:  fields{"spec.scope": "{type: team}"},
			message:  "teamRef is required for scope team",
		},
		"scope platform names no team": {
			file:     harvester,
			accepted: fields{"spec.scope": "{type: platform}"},
			refused:  fields{"spec.scope": "{teamRef: {name: storefront}}"},
			message:  "teamRef is for scope team only",
		},
		"ipam needs pools": {
			file:     harvester,
			accepted: fields{"spec.network": "{mode: ipam, poolRefs: [{name: nodes}]}"},
			refused:  fields{"spec.network": "{mode: ipam, poolRefs: []}"},
			message:  "poolRefs are required for mode ipam, and for no other",
		},
		"pools need ipam": {
			file:     harvester,
			accepted: fields{"spec.network": "{mode: cloud}"},
			refused:  fields{"spec.network": "{poolRefs: [{name: nodes}]}"},
			message:  "poolRefs are required for mode ipam, and for no other",
		},
		"a range of load balancers needs pools": {
			file:     harvester,
			accepted: fields{"spec.network": "{mode: ipam, poolRefs: [{name: nodes}], loadBalancer: {defaultPoolSize: 4096}}"},
			refused:  fields{"spec.network": "{loadBalancer: {defaultPoolSize: 8}}"},
			message:  "loadBalancer is for mode ipam only",
		},
		"no ipam in a cloud": {
			file:     gcp,
			accepted: fields{"spec.network": "{mode: cloud}"},
			refused:  fields{"spec.network": "{mode: ipam, poolRefs: [{name: nodes}]}"},
			message:  "network.mode ipam is for harvester, nutanix and proxmox only",
		},
		"subnet is a CIDR": {
			file:     harvester,
			accepted: fields{"spec.network": "{subnet: 10.40.0.0/24}"},
			refused:  fields{"spec.network": "{subnet: 10.40.0.0/240}"},
			message:  "subnet must be a CIDR such as 10.40.0.0/24",
		},
		"gateway is an address": {
			file:     harvester,
			accepted: fields{"spec.network": "{gateway: 10.40.0.1}"},
			refused:  fields{"spec.network": "{gateway: router}"},
			message:  "gateway must be an IP address",
		},
		"gateway lies in the subnet": {
			file:     harvester,
			accepted: fields{"spec.network": "{subnet: 10.40.0.0/24, gateway: 10.40.0.254}"},
			refused:  fields{"spec.network": "{subnet: 10.40.0.0/24, gateway: 10.40.1.1}"},
			message:  "gateway must lie within subnet",
		},
		"DNS servers are addresses": {
			file:     harvester,
			accepted: fields{"spec.network": `{dnsServers: [10.40.0.2, "fd00::2"]}`},
			refused:  fields{"spec.network": "{dnsServers: [10.40.0.2, dns.example.com]}"},
			message:  "dnsServers must be IP addresses",
		},
		"address of a machine": {
			file:     addressed,
			accepted: fields{"spec.network": `{address: "fd00:40::11/64"}`},
			refused:  fields{"spec.network": "{address: 10.40.0.11}"},
			message:  noAddress,
		},
		"address of a machine is not one of many": {
			file:     addressed,
			accepted: fields{"spec.network": "{address: 10.40.0.11/32}"},
			refused:  fields{"spec.network": "{address: 224.0.0.5/24}"},
			message:  noAddress,
		},
		"gateway of a machine is an address": {
			file:     addressed,
			accepted: fields{"spec.network.gateway": "null"},
			refused:  fields{"spec.network.gateway": "router"},
			message:  "gateway must be an IP address",
		},
		"gateway of a machine is in its network": {
			file:     addressed,
			accepted: fields{"spec.network.gateway": "10.40.0.254"},
			refused:  fields{"spec.network.gateway": "10.40.1.1"},
			message:  elsewhereGateway,
		},
		"gateway of a machine has its family": {
			file:     addressed,
			accepted: fields{"spec.network": `{address: "fd00:40::11/64", gateway: "fd00:40::1"}`},
			refused:  fields{"spec.network": `{address: 10.40.0.11/24, gateway: "fd00:40::1"}`},
			message:  elsewhereGateway,
		},
		"gateway of a machine is another one": {
			file:     addressed,
			accepted: fields{"spec.network.address": "10.40.0.12/24"},
			refused:  fields{"spec.network.gateway": "10.40.0.11"},
			message:  elsewhereGateway,
		},
		"DNS servers of a machine are addresses": {
			file:     addressed,
			accepted: fields{"spec.network.dnsServers": "[]"},
			refused:  fields{"spec.network.dnsServers": "[dns.example.com]"},
			message:  "dnsServers must be IP addresses",
		},
		"one configuration of a machine's network": {
			file:     addressed,
			accepted: fields{"spec.network": "null", "spec.networkData": "'version: 2'"},
			refused:  fields{"spec.networkData": "'version: 2'"},
			message:  "network or networkData, but not both",
		},
		"VM ids are a range": {
			file:     proxmox,
			accepted: fields{"spec.proxmox.vmidRange": "{start: 200, end: 200}"},
			refused:  fields{"spec.proxmox.vmidRange": "{start: 201, end: 200}"},
			message:  "start must not lie after end",
		},
		"one template": {
			file:     proxmox,
			accepted: fields{"spec.proxmox.template": "talos", "spec.proxmox.templateID": "null"},
			refused:  fields{"spec.proxmox.template": "talos"},
			message:  "set templateID or template, not both",
		},
		"a subnet of Nutanix has a UUID or a name": {
			file:     "full/providerconfig-nutanix.yaml",
			accepted: fields{"spec.nutanix.subnetUUID": "null", "spec.nutanix.subnetName": "vlan40"},
			refused:  fields{"spec.nutanix.subnetName": "vlan40"},
			message:  "set nutanix.subnetUUID or nutanix.subnetName, one of them",
		},
		"an image of Nutanix has a UUID or a name": {
			file:     "full/providerconfig-nutanix.yaml",
			accepted: fields{"spec.nutanix.imageUUID": "null", "spec.nutanix.imageName": "talos"},
			refused:  fields{"spec.nutanix.imageName": "talos"},
			message:  "set nutanix.imageUUID or nutanix.imageName, not both",
		},
		"a storage container of Nutanix has a UUID or a name": {
			file:     "full/providerconfig-nutanix.yaml",
			accepted: fields{"spec.nutanix.storageContainerUUID": "null", "spec.nutanix.storageContainerName": "default"},
			refused:  fields{"spec.nutanix.storageContainerName": "default"},
			message:  "set nutanix.storageContainerUUID or nutanix.storageContainerName, not both",
		},
		"a target's ip is an address": {
			file:     balancer,
			accepted: fields{"spec.targets": `[{ip: "fd00::1"}]`},
			refused:  fields{"spec.targets": "[{ip: full-cp-0}]"},
			message:  "ip must be an IP address",
		},
		"clients of a load balancer are CIDRs": {
			file:     balancer,
			accepted: fields{"spec.allowedCIDRs": `[0.0.0.0/0, "::/0"]`},
			refused:  fields{"spec.allowedCIDRs": "[office]"},
			message:  "allowedCIDRs must be CIDRs such as 203.0.113.0/24",
		},
		"a port has one listener": {
			file:     balancer,
			accepted: fields{"spec.additionalPorts": "[50000, 50001]"},
			refused:  fields{"spec.additionalPorts": "[50000, 6443]"},
			message:  "additionalPorts must not repeat port",
		},
		"a target can be found": {
			file:     balancer,
			accepted: fields{"spec.targets": "[{instanceName: full-cp-0}]"},
			refused:  fields{"spec.targets": "[{}]"},
			message:  "a target needs ip, instanceID or instanceName",
		},
	}
}
