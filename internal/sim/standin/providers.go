// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import "github.com/butlerdotdev/butler/config/clusterapi"

const (
	coreGroup           = "cluster.x-k8s.io"
	infrastructureGroup = "infrastructure.cluster.x-k8s.io"
	controlPlaneGroup   = "controlplane.cluster.x-k8s.io"
	infrastructureFile  = "infrastructure-components.yaml"
	controlPlaneFile    = "control-plane-components.yaml"
)

// providers is the table of all stand-ins for providers of Cluster API.
func providers() []provider {
	return []provider{
		core(), kubeadm(), hostedProvider("steward", "butlerdotdev", "ghcr.io/butlerdotdev/capi-steward"),
		hostedProvider("kamaji", "clastix", "docker.io/clastix/cluster-api-control-plane-provider-kamaji"),
		harvester(), kubevirt(), nutanix(), proxmox(), gcp(), aws(), azure(), inCluster(),
	}
}

func core() provider {
	definitions := define(coreGroup, "v1beta1",
		"clusters Cluster", "clusterclasses ClusterClass", "machines Machine", "machinesets MachineSet", "machinedeployments MachineDeployment",
		"machinehealthchecks MachineHealthCheck", "machinepools MachinePool", "machinedrainrules MachineDrainRule")
	definitions = append(definitions, define("addons."+coreGroup, "v1beta1",
		"clusterresourcesets ClusterResourceSet", "clusterresourcesetbindings ClusterResourceSetBinding")...)
	definitions = append(definitions, define("ipam."+coreGroup, "v1beta1", "ipaddresses IPAddress", "ipaddressclaims IPAddressClaim")...)
	return provider{
		repository: coreRepository, file: "core-components.yaml", label: "cluster-api", prefix: "capi",
		image: "registry.k8s.io/cluster-api/cluster-api-controller", definitions: definitions,
		arguments: []any{
			"--diagnostics-address=${CAPI_DIAGNOSTICS_ADDRESS:=:8443}", "--insecure-diagnostics=${CAPI_INSECURE_DIAGNOSTICS:=false}",
			"--feature-gates=MachinePool=${EXP_MACHINE_POOL:=true},ClusterTopology=${CLUSTER_TOPOLOGY:=false}",
		},
		validates: []string{"clusters", "machines", "machinesets", "machinedeployments", "machinehealthchecks", "machinedrainrules"},
		mutates:   []string{"clusters", "machines", "machinesets", "machinedeployments", "machinehealthchecks"},
		rules:     coreAccess(), carried: clusterapi.Core, releases: []string{coreRelease},
	}
}

func kubeadm() provider {
	return provider{
		repository: coreRepository, file: "bootstrap-components.yaml", label: "bootstrap-kubeadm", prefix: "capi-kubeadm-bootstrap",
		image: "registry.k8s.io/cluster-api/kubeadm-bootstrap-controller",
		definitions: define("bootstrap."+coreGroup, "v1beta1",
			"kubeadmconfigs KubeadmConfig", "kubeadmconfigtemplates KubeadmConfigTemplate"),
		arguments: []any{"--bootstrap-token-ttl=${KUBEADM_BOOTSTRAP_TOKEN_TTL:=15m}"},
		validates: []string{"kubeadmconfigs", "kubeadmconfigtemplates"}, mutates: []string{"kubeadmconfigs"},
	}
}

// hostedProvider is the counterpart of an operator of control planes, in the
// namespace of which it lives.
func hostedProvider(name, owner, image string) provider {
	kind := map[string]string{"steward": "Steward", "kamaji": "Kamaji"}[name]
	return provider{
		repository: owner + "/cluster-api-control-plane-provider-" + name, file: controlPlaneFile, label: "control-plane-" + name,
		prefix: "capi-" + name, namespace: name + "-system", image: image,
		definitions: define(controlPlaneGroup, "v1alpha1",
			name+"controlplanes "+kind+"ControlPlane", name+"controlplanetemplates "+kind+"ControlPlaneTemplate"),
		carried: name, releases: []string{"v0.3.0", "v0.14.2"},
	}
}

// onInfrastructure has the kinds that every infrastructure provider has.
func onInfrastructure(version, plural, kind string) []definition {
	return define(infrastructureGroup, version,
		plural+"clusters "+kind+"Cluster", plural+"clustertemplates "+kind+"ClusterTemplate",
		plural+"machines "+kind+"Machine", plural+"machinetemplates "+kind+"MachineTemplate")
}

// kubevirt is the provider for Harvester that works with hosted control planes.
func kubevirt() provider {
	return provider{
		repository: "kubernetes-sigs/cluster-api-provider-kubevirt", file: infrastructureFile, label: "infrastructure-kubevirt", prefix: "capk",
		image: "quay.io/capk/capk-manager", definitions: onInfrastructure("v1alpha1", "kubevirt", "Kubevirt"),
		rules: infrastructureAccess(), carried: clusterapi.Kubevirt, releases: []string{"v0.1.10"},
		validates: []string{"kubevirtmachinetemplates"},
	}
}

func harvester() provider {
	return provider{
		repository: "rancher-sandbox/cluster-api-provider-harvester", file: infrastructureFile, label: "infrastructure-harvester", prefix: "caphv",
		image: "ghcr.io/rancher-sandbox/cluster-api-provider-harvester", definitions: onInfrastructure("v1alpha1", "harvester", "Harvester"),
		rules: infrastructureAccess(), carried: clusterapi.Harvester, releases: []string{"v0.2.9"},
		validates: []string{"harvesterclusters"},
	}
}

func nutanix() provider {
	return provider{
		repository: "nutanix-cloud-native/cluster-api-provider-nutanix", file: infrastructureFile, label: "infrastructure-nutanix", prefix: "capx",
		image: "ghcr.io/nutanix-cloud-native/cluster-api-provider-nutanix/controller", definitions: onInfrastructure("v1beta1", "nutanix", "Nutanix"),
		rules: infrastructureAccess(), carried: clusterapi.Nutanix, releases: []string{"v1.9.2", "v1.5.3"},
		arguments: []any{"--zap-log-level=${NUTANIX_LOG_LEVEL=info}"},
		secret: &secret{name: "capx-nutanix-creds", data: map[string]string{
			"credentials":  `[{"type": "basic_auth", "data": {"prismCentral": {"username": "${NUTANIX_USER}", "password": "${NUTANIX_PASSWORD}"}}}]` + "\n",
			"prismCentral": `{"address": "${NUTANIX_ENDPOINT}", "port": ${NUTANIX_PORT=9440}, "insecure": ${NUTANIX_INSECURE=false}}` + "\n",
			"ca.crt":       "${NUTANIX_ADDITIONAL_TRUST_BUNDLE=''}",
		}},
	}
}

func proxmox() provider {
	return provider{
		repository: "ionos-cloud/cluster-api-provider-proxmox", file: infrastructureFile, label: "infrastructure-proxmox", prefix: "capmox",
		image: "ghcr.io/ionos-cloud/cluster-api-provider-proxmox", definitions: onInfrastructure("v1alpha1", "proxmox", "Proxmox"),
		rules: infrastructureAccess(), carried: clusterapi.Proxmox, releases: []string{"v0.7.2"},
		arguments: []any{"--v=${CAPMOX_LOGLEVEL:=0}"}, validates: []string{"proxmoxclusters", "proxmoxmachines"},
		secret: &secret{name: "capmox-manager-credentials", data: map[string]string{
			"url": `${PROXMOX_URL=""}`, "token": `${PROXMOX_TOKEN=""}`, "secret": `${PROXMOX_SECRET=""}`,
		}},
	}
}

func gcp() provider {
	return provider{
		repository: "kubernetes-sigs/cluster-api-provider-gcp", file: infrastructureFile, label: "infrastructure-gcp", prefix: "capg",
		image: "registry.k8s.io/cluster-api-gcp/cluster-api-gcp-controller", definitions: onInfrastructure("v1beta1", "gcp", "GCP"),
		rules: infrastructureAccess(), carried: clusterapi.GCP, releases: []string{"v1.9.0"},
		arguments: []any{"--v=${CAPG_LOGLEVEL:=0}", "--diagnostics-address=${CAPG_DIAGNOSTICS_ADDRESS:=:8443}"},
		validates: []string{"gcpclusters", "gcpmachines"}, mutates: []string{"gcpclusters", "gcpmachines"},
		secret: &secret{name: "capg-manager-bootstrap-credentials", encoded: true, data: map[string]string{
			"credentials.json": "${GCP_B64ENCODED_CREDENTIALS}",
		}},
	}
}

func aws() provider {
	return provider{
		repository: "kubernetes-sigs/cluster-api-provider-aws", file: infrastructureFile, label: "infrastructure-aws", prefix: "capa",
		image: "registry.k8s.io/cluster-api-aws/cluster-api-aws-controller", definitions: onInfrastructure("v1beta2", "aws", "AWS"),
		rules: infrastructureAccess(), carried: clusterapi.AWS, releases: []string{"v2.8.4"},
		arguments: []any{"--v=${CAPA_LOGLEVEL:=0}", "--feature-gates=EKS=${CAPA_EKS:=true},MachinePool=${EXP_MACHINE_POOL:=false}"},
		validates: []string{"awsclusters", "awsmachines"}, mutates: []string{"awsclusters", "awsmachines"},
		secret:      &secret{name: "capa-manager-bootstrap-credentials", encoded: true, data: map[string]string{"credentials": "${AWS_B64ENCODED_CREDENTIALS}"}},
		annotations: map[string]string{"iam.amazonaws.com/role": `${AWS_CONTROLLER_IAM_ROLE:=""}`},
	}
}

func azure() provider {
	return provider{
		repository: "kubernetes-sigs/cluster-api-provider-azure", file: infrastructureFile, label: "infrastructure-azure", prefix: "capz",
		image: "registry.k8s.io/cluster-api-azure/cluster-api-azure-controller", definitions: onInfrastructure("v1beta1", "azure", "Azure"),
		rules: infrastructureAccess(), carried: clusterapi.Azure, releases: []string{"v1.19.4"},
		arguments: []any{"--diagnostics-address=${CAPZ_DIAGNOSTICS_ADDRESS:=:8443}"},
		validates: []string{"azureclusters", "azuremachines"}, mutates: []string{"azureclusters", "azuremachines"},
		secret: &secret{name: "aso-controller-settings", encoded: true, data: map[string]string{
			"AZURE_SUBSCRIPTION_ID": `${AZURE_SUBSCRIPTION_ID_B64:=""}`,
		}},
		beside: map[string]string{"azureserviceoperator-controller-manager": "mcr.microsoft.com/k8s/azureserviceoperator:v2.8.0"},
	}
}

func inCluster() provider {
	return provider{
		repository: "kubernetes-sigs/cluster-api-ipam-provider-in-cluster", file: "ipam-components.yaml", label: "ipam-in-cluster", prefix: "capi-ipam-in-cluster",
		image: "registry.k8s.io/capi-ipam-ic/cluster-api-ipam-in-cluster-controller",
		definitions: define("ipam."+coreGroup, "v1alpha2",
			"inclusterippools InClusterIPPool", "globalinclusterippools *GlobalInClusterIPPool"),
		validates: []string{"inclusterippools"}, mutates: []string{"inclusterippools"}, deletions: true,
		rules: ipamAccess(), carried: clusterapi.IPAMInCluster, releases: []string{"v1.0.1"},
	}
}
