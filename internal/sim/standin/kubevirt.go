// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

// kubevirt is the provider for Harvester that works with hosted control planes.
func kubevirt() provider {
	return provider{
		repository: "kubernetes-sigs/cluster-api-provider-kubevirt", file: infrastructureFile, label: "infrastructure-kubevirt", prefix: "capk",
		image: "quay.io/capk/capk-manager", definitions: onInfrastructure("v1alpha1", "kubevirt", "Kubevirt"),
		validates: []string{"kubevirtmachinetemplates"},
	}
}
