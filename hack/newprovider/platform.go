// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// platform is a type of the API with what the skeleton says about it.
type platform struct {
	Type v1alpha1.ProviderType
	// Constant is the name of Type in the API package.
	Constant string
	// Title is the platform's name, for people.
	Title string
	// Block is a minimal spec.<type> of a ProviderConfig, in one line.
	Block string
}

// platforms are the types of the API that had no driver when the API was defined.
func platforms() []platform {
	return []platform{
		{v1alpha1.ProviderAWS, "ProviderAWS", "AWS", "{region: eu-central-1}"},
		{v1alpha1.ProviderGCP, "ProviderGCP", "Google Cloud", "{projectID: example, region: europe-west3}"},
		{v1alpha1.ProviderAzure, "ProviderAzure", "Azure", "{subscriptionID: 00000000-0000-0000-0000-000000000000, resourceGroup: example}"},
		{v1alpha1.ProviderProxmox, "ProviderProxmox", "Proxmox VE", `{endpoint: "https://proxmox.example.com:8006", nodes: [pve1], storage: local-lvm}`},
		{v1alpha1.ProviderNutanix, "ProviderNutanix", "Nutanix", `{endpoint: "https://prism.example.com", clusterUUID: 0006, subnetUUID: 0007}`},
	}
}

func find(name string) (platform, error) {
	var names []string
	for _, p := range platforms() {
		if string(p.Type) == name {
			return p, nil
		}
		names = append(names, string(p.Type))
	}
	return platform{}, fmt.Errorf("NAME=%s is not a provider type of the API without a driver; those are %s; another one needs its types first: api/v1alpha1", name, strings.Join(names, ", "))
}

// OnPrem reports whether clusters on the platform have a virtual IP in place of a load
// balancer.
func (p platform) OnPrem() bool { return p.Type.OnPrem() }
