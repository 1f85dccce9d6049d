// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import "strings"

// tenantCreateRules are those that one manifest of a tenant cluster or of a team can break.
func tenantCreateRules() map[string]rule {
	const os = "spec.workers.machineTemplate.os."
	return map[string]rule{
		"name of a tenant cluster": {
			file: tenantCluster, accepted: fields{"metadata.name": "a" + strings.Repeat("1", 39)},
			refused: fields{"metadata.name": "1a"},
			message: "metadata.name must begin with a letter, and have at most 40 characters: lower case letters, digits and dashes",
		},
		"length of the name of a tenant cluster": {
			file: tenantCluster, accepted: fields{"metadata.name": "a"}, refused: fields{"metadata.name": strings.Repeat("a", 41)},
			message: "metadata.name must begin with a letter, and have at most 40 characters: lower case letters, digits and dashes",
		},
		"operating system of workers": {
			file: tenantCluster, accepted: fields{os + "type": "talos"}, refused: fields{os + "type": "rocky"},
			message: "os.type must be talos: workers with other operating systems are not served",
		},
		"version of the operating system": {
			file: tenantCluster, accepted: fields{os + "version": "null"}, refused: fields{os + "version": `"9.5"`},
			message: "os.version must be that of os.talos.version, or left out",
		},
		"no SSH": {
			file: tenantCluster, accepted: fields{os + "sshAuthorizedKey": `""`}, refused: fields{os + "sshAuthorizedKey": "ssh-ed25519 AAAA"},
			message: "os.sshAuthorizedKey is not served: Talos has no SSH; see butleradm tenant talosconfig",
		},
		"memory of workers": {
			file: tenantCluster, accepted: fields{"spec.workers.machineTemplate.memory": "2Gi"}, refused: fields{"spec.workers.machineTemplate.memory": "2047Mi"},
			message: "memory must be at least 2Gi",
		},
		"disk of workers": {
			file: tenantCluster, accepted: fields{"spec.workers.machineTemplate.diskSize": "20Gi"}, refused: fields{"spec.workers.machineTemplate.diskSize": "19Gi"},
			message: "diskSize must be at least 20Gi",
		},
		"bounds of the autoscaler": {
			file: tenantCluster, accepted: fields{"spec.workers.minReplicas": "null", "spec.workers.maxReplicas": "null"}, refused: fields{"spec.workers.minReplicas": "null"},
			message: "minReplicas and maxReplicas belong together",
		},
		"order of the bounds": {
			file: tenantCluster, accepted: fields{"spec.workers.minReplicas": "3", "spec.workers.maxReplicas": "3"},
			refused: fields{"spec.workers.minReplicas": "5", "spec.workers.maxReplicas": "4"}, message: "minReplicas must not exceed maxReplicas",
		},
		"replicas within the bounds": {
			file: tenantCluster, accepted: fields{"spec.workers.replicas": "10"}, refused: fields{"spec.workers.replicas": "11"},
			message: "replicas must lie between minReplicas and maxReplicas",
		},
		"no node ports": {
			file: tenantCluster, accepted: fields{"spec.controlPlane.serviceType": "ClusterIP"}, refused: fields{"spec.controlPlane.serviceType": "NodePort"},
			message: "serviceType NodePort is not served: its endpoint would be the address of one node; use LoadBalancer, or leave it out",
		},
		"names of the API server": {
			file: tenantCluster, accepted: fields{"spec.controlPlane.certSANs": "[a.example.com]"}, refused: fields{"spec.controlPlane.certSANs": "['a.example.com:6443']"},
			message: "certSANs must be IP addresses or DNS names, without a port",
		},
		"pods of a tenant cluster": {
			file: tenantCluster, accepted: fields{"spec.networking.podCIDR": "10.0.0.0/16"}, refused: fields{"spec.networking.podCIDR": "10.0.0.0"},
			message: "podCIDR must be a CIDR such as 10.244.0.0/16",
		},
		"services of a tenant cluster": {
			file: tenantCluster, accepted: fields{"spec.networking.serviceCIDR": "10.0.0.0/16"}, refused: fields{"spec.networking.serviceCIDR": "10.0.0.0"},
			message: "serviceCIDR must be a CIDR such as 10.96.0.0/12",
		},
		"pods and services apart": {
			file: tenantCluster, accepted: fields{"spec.networking.podCIDR": "10.0.0.0/16"}, refused: fields{"spec.networking.podCIDR": "10.96.0.0/16"},
			message: "podCIDR and serviceCIDR must not overlap",
		},
		"a pool or its size": {
			file: tenantCluster, accepted: fields{"spec.networking.loadBalancerPool": "null", "spec.networking.lbPoolSize": "4"},
			refused: fields{"spec.networking.lbPoolSize": "4"}, message: "set loadBalancerPool or lbPoolSize, not both",
		},
		"start of a tenant's pool": {
			file: tenantCluster, accepted: fields{"spec.networking.loadBalancerPool.start": "10.40.0.211"}, refused: fields{"spec.networking.loadBalancerPool.start": "x"},
			message: "start must be an IP address",
		},
		"end of a tenant's pool": {
			file: tenantCluster, accepted: fields{"spec.networking.loadBalancerPool.end": "10.40.0.211"}, refused: fields{"spec.networking.loadBalancerPool.end": "x"},
			message: "end must be an IP address",
		},
		"family of a tenant's pool": {
			file: tenantCluster, accepted: fields{"spec.networking.loadBalancerPool": "{start: 'fd00::1', end: 'fd00::2'}"}, refused: fields{"spec.networking.loadBalancerPool.end": "fd00::2"},
			message: "start and end must both be IPv4 or both be IPv6",
		},
		"direction of a tenant's pool": {
			file: tenantCluster, accepted: fields{"spec.networking.loadBalancerPool.end": "10.40.0.210"}, refused: fields{"spec.networking.loadBalancerPool.end": "10.40.0.209"},
			message: "start must not lie after end",
		},
		"management policy": {
			file: tenantCluster, accepted: fields{"spec.managementPolicy": "{}"}, refused: fields{"spec.managementPolicy.mode": "Observe"},
			message: "managementPolicy.mode must be Active: Observe and GitOps are not served",
		},
		"no workspaces": {
			file: tenantCluster, accepted: fields{"spec.workspaces": "{enabled: false, maxWorkspaces: 3}"}, refused: fields{"spec.workspaces.enabled": "true"},
			message: "workspaces are not served: remove workspaces, or set workspaces.enabled to false",
		},
		"storage of a tenant cluster": {
			file: tenantCluster, accepted: fields{"spec.addons.storage": "{}"}, refused: fields{"spec.addons.storage.provider": "linstor"},
			message: "storage.provider must be longhorn: linstor is not served",
		},
		"GitOps of a tenant cluster": {
			file: tenantCluster, accepted: fields{"spec.addons.gitops": "{}"}, refused: fields{"spec.addons.gitops.provider": "argocd"},
			message: "gitops.provider must be fluxcd: argocd is not served",
		},
		"no repository": {
			file: tenantCluster, accepted: fields{}, refused: fields{"spec.addons.gitops.repository": "{url: 'https://git.example.com/shop', branch: main}"},
			message: "gitops.repository is not served: create the GitRepository and the Kustomization in the tenant cluster",
		},
		"one override": {
			file: tenantCluster, accepted: fields{"spec.infrastructureOverride": "{}"}, refused: fields{"spec.infrastructureOverride.aws": "{}"},
			message: "infrastructureOverride has the block of one provider",
		},
		"image or family": {
			file: onGCP, accepted: fields{"spec.infrastructureOverride.gcp.image": "null", "spec.infrastructureOverride.gcp.imageFamily": "talos"},
			refused: fields{"spec.infrastructureOverride.gcp.imageFamily": "talos"}, message: "set infrastructureOverride.gcp.image or imageFamily, not both",
		},
		"storage container of workers": {
			file: onNutanix, accepted: fields{}, refused: fields{"spec.infrastructureOverride.nutanix.storageContainerUUID": "x"},
			message: "infrastructureOverride.nutanix.storageContainerUUID is not served: Cluster API's provider creates the root disk in the container of the image",
		},
		"name of a team": {
			file: team, accepted: fields{"metadata.name": "1a"}, refused: fields{"metadata.name": "a.b"},
			message: "metadata.name is that of the namespace: at most 63 lower case letters, digits and dashes",
		},
		"namespace of a team": {
			file: team, accepted: fields{"metadata.name": "kubernetes"}, refused: fields{"metadata.name": "kube-system"},
			message: "metadata.name must not be a namespace of the platform",
		},
		"no defaults of clusters": {
			file: team, accepted: fields{}, refused: fields{"spec.clusterDefaults": "{workerCount: 3}"},
			message: "clusterDefaults are not served: a TenantCluster has its own values",
		},
		"no environments": {
			file: team, accepted: fields{"spec.environments": "[]"}, refused: fields{"spec.environments": "[{name: dev}]"},
			message: "environments are not served: use several Teams",
		},
		"no identity provider": {
			file: team, accepted: fields{}, refused: fields{"spec.access.groups[].identityProvider": "okta"},
			message: "identityProvider is not served: groups are those that the API server authenticates",
		},
		"quota of addresses": {
			file: "full/providerconfig-harvester.yaml", accepted: fields{"spec.network.quotaPerTenant": "null"},
			refused: fields{"spec.network": "{quotaPerTenant: {maxNodeIPs: 1}}"}, message: "quotaPerTenant is for mode ipam only",
		},
	}
}

// tenantUpdateRules are those that a change can break.
func tenantUpdateRules() map[string]rule {
	const runs = "{phase: Ready, observedState: {kubernetesVersion: v1.32.0}}"
	return map[string]rule{
		"no downgrade": {
			file: tenantCluster, status: runs, accepted: fields{"spec.kubernetesVersion": "v1.32.1"}, refused: fields{"spec.kubernetesVersion": "v1.31.9"},
			message: "kubernetesVersion must not be lower than that of the control plane: Kubernetes cannot be downgraded",
		},
		"one minor version at a time": {
			file: tenantCluster, status: runs, accepted: fields{"spec.kubernetesVersion": "v1.33.5"}, refused: fields{"spec.kubernetesVersion": "v1.34.0"},
			message: "kubernetesVersion must be at most one minor version above that of the control plane: upgrade one minor version at a time",
		},
		"an upgrade that has not begun is taken back": {
			file: tenantCluster, status: "{phase: Ready, observedState: {kubernetesVersion: v1.31.0}}",
			accepted: fields{"spec.kubernetesVersion": "v1.31.0"}, refused: fields{"spec.kubernetesVersion": "v1.30.0"},
			message: "kubernetesVersion must not be lower than that of the control plane: Kubernetes cannot be downgraded",
		},
		"team of a tenant cluster": {
			file: tenantCluster, accepted: fields{"spec.workers.replicas": "4"}, refused: fields{"spec.teamRef.name": "x"}, message: "teamRef is immutable",
		},
		"platform of a tenant cluster": {
			file: tenantCluster, status: "{providerConfigRef: {name: harvester-prod, namespace: butler-system}}",
			accepted: fields{"spec.workers.replicas": "4"}, refused: fields{"spec.providerConfigRef.name": "x"},
			message: "providerConfigRef is immutable once it was found: machines do not move between platforms; create another cluster",
		},
		"platform that was not found": {
			file: tenantCluster, status: "{phase: Pending}", accepted: fields{"spec.providerConfigRef.name": "x"},
			refused: fields{"spec.controlPlane.serviceType": "NodePort"},
			message: "serviceType NodePort is not served: its endpoint would be the address of one node; use LoadBalancer, or leave it out",
		},
		"endpoint of a tenant cluster": {
			file: tenantCluster, status: "{controlPlaneEndpoint: '10.0.0.1:6443'}", accepted: fields{"spec.workers.replicas": "4"},
			refused: fields{"spec.controlPlane.serviceType": "ClusterIP"},
			message: "controlPlane.serviceType cannot be changed once the cluster has an endpoint, which workers and kubeconfigs have: create another cluster",
		},
		"endpoint that is not there yet": {
			file: tenantCluster, status: "{phase: Failed}", accepted: fields{"spec.controlPlane.serviceType": "ClusterIP"},
			refused: fields{"spec.controlPlane.serviceType": "NodePort"},
			message: "serviceType NodePort is not served: its endpoint would be the address of one node; use LoadBalancer, or leave it out",
		},
		"networks of a tenant cluster": {
			file: tenantCluster, accepted: fields{"spec.networking.loadBalancerPool.end": "10.40.0.220"}, refused: fields{"spec.networking.podCIDR": "10.0.0.0/16"},
			message: "podCIDR and serviceCIDR are immutable",
		},
		"data of a control plane": {
			file: tenantCluster, accepted: fields{"spec.controlPlane.dataStoreRef.name": "x"}, refused: fields{"spec.controlPlane.dataStoreRef": "null"},
			message: "dataStoreRef cannot be removed: the data would have no place; name another DataStore to move it",
		},
		"namespace of workers on Harvester": {
			file: tenantCluster, accepted: fields{"spec.infrastructureOverride.harvester.imageName": "a/b"}, refused: fields{"spec.infrastructureOverride.harvester.namespace": "x"},
			message: "infrastructureOverride.harvester.namespace is immutable",
		},
		"provider of Cluster API for Harvester": {
			file: "full/providerconfig-harvester.yaml", accepted: fields{"spec.harvester.imageName": "a/b"}, refused: fields{"spec.harvester.clusterAPIProvider": "kubevirt"},
			message: "harvester.clusterAPIProvider is immutable: workers of tenant clusters would be lost; create another ProviderConfig",
		},
	}
}
