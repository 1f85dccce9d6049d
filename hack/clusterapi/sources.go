// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

// source is a release of Cluster API or of a provider.
type source struct {
	name, module, version string
	// folder of the definitions in the module.
	folder string
	// kinds by their plural names, and their versions that are kept.
	kinds, versions []string
	// contract is the label that the release's kustomization adds: contracts, and the versions
	// of the kinds that fulfil them.
	contract map[string]string
}

const bases = "config/crd/bases"

func sources() []source {
	var out []source
	release := func(s source, versions ...string) {
		for _, v := range versions {
			s.version = v
			out = append(out, s)
		}
	}
	release(core(bases, "v1alpha1", "v1beta1"), "v1.9.4", "v1.10.4")
	release(core(bases, "v1beta1", "v1beta2"), "v1.11.3")
	release(core("core/"+bases, "v1beta1", "v1beta2"), "v1.14.2")
	release(aws(), "v2.8.4", "v2.9.3", "v2.11.1")
	release(gcp(), "v1.9.0", "v1.10.1", "v1.11.2")
	release(azure(), "v1.19.4", "v1.21.0", "v1.22.4")
	release(nutanix(), "v1.5.3", "v1.7.0", "v1.9.2")
	release(proxmox(), "v0.7.2")
	release(kubevirt(), "v0.1.10", "v0.11.2")
	release(ipam(), "v1.0.1", "v1.0.3")
	return out
}

func core(folder string, versions ...string) source {
	return source{
		name: "core", module: "sigs.k8s.io/cluster-api", folder: folder, versions: versions,
		kinds: []string{
			"clusters", "machines", "machinesets", "machinedeployments", "machinehealthchecks", "machinepools", "machinedrainrules",
			"ipaddresses", "ipaddressclaims", "extensionconfigs", "clusterresourcesets", "clusterresourcesetbindings",
		},
		contract: map[string]string{"v1beta1": "v1beta1"},
	}
}

func aws() source {
	return source{
		name: "aws", module: "sigs.k8s.io/cluster-api-provider-aws/v2", folder: bases, versions: []string{"v1beta2"},
		kinds: []string{
			"awsclusters", "awsmachines", "awsmachinetemplates", "awsclusterstaticidentities", "awsclusterroleidentities",
			"awsclustercontrolleridentities",
		},
		contract: map[string]string{"v1beta1": "v1beta2"},
	}
}

func gcp() source {
	return source{
		name: "gcp", module: "sigs.k8s.io/cluster-api-provider-gcp", folder: bases, versions: []string{"v1beta1"},
		kinds:    []string{"gcpclusters", "gcpmachines", "gcpmachinetemplates"},
		contract: map[string]string{"v1beta1": "v1beta1"},
	}
}

func azure() source {
	return source{
		name: "azure", module: "sigs.k8s.io/cluster-api-provider-azure", folder: bases, versions: []string{"v1beta1"},
		kinds:    []string{"azureclusters", "azuremachines", "azuremachinetemplates", "azureclusteridentities"},
		contract: map[string]string{"v1beta1": "v1beta1"},
	}
}

func nutanix() source {
	return source{
		name: "nutanix", module: "github.com/nutanix-cloud-native/cluster-api-provider-nutanix", folder: bases, versions: []string{"v1beta1"},
		kinds:    []string{"nutanixclusters", "nutanixmachines", "nutanixmachinetemplates"},
		contract: map[string]string{"v1beta1": "v1beta1"},
	}
}

func proxmox() source {
	return source{
		name: "proxmox", module: "github.com/ionos-cloud/cluster-api-provider-proxmox", folder: bases, versions: []string{"v1alpha1"},
		kinds:    []string{"proxmoxclusters", "proxmoxmachines", "proxmoxmachinetemplates"},
		contract: map[string]string{"v1beta1": "v1alpha1"},
	}
}

func kubevirt() source {
	return source{
		name: "kubevirt", module: "sigs.k8s.io/cluster-api-provider-kubevirt", folder: bases, versions: []string{"v1alpha1"},
		kinds:    []string{"kubevirtclusters", "kubevirtmachines", "kubevirtmachinetemplates"},
		contract: map[string]string{"v1beta1": "v1alpha1"},
	}
}

func ipam() source {
	return source{
		name: "ipam-in-cluster", module: "sigs.k8s.io/cluster-api-ipam-provider-in-cluster", folder: bases, versions: []string{"v1alpha2"},
		kinds:    []string{"inclusterippools"},
		contract: map[string]string{"v1beta1": "v1alpha2"},
	}
}
