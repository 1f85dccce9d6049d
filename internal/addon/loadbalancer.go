// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

const metalLBSystem = "metallb-system"

// metalLB answers for addresses by ARP and NDP alone, so that it needs no
// routing daemon. Talos labels control planes so that load balancers leave them
// out: where there are no other nodes, the label must not count.
func metalLB(c cluster, a *Addon) {
	speaker := map[string]any{"frr": map[string]any{"enabled": false}}
	if c.workerless() {
		speaker["ignoreExcludeLB"] = true
	}
	a.Values = map[string]any{"speaker": speaker}
	a.Objects = metalLBObjects(c.ranges())
	a.Ready = Readiness{
		Workloads: append(deployments(metalLBSystem, "metallb-controller"), daemonSets(metalLBSystem, "metallb-speaker")...),
		CRDs:      []string{"ipaddresspools.metallb.io", "l2advertisements.metallb.io"},
		Webhooks:  validating("metallb-webhook-configuration"),
	}
}

// metalLBObjects are the pool and its advertisement. They are accepted once
// MetalLB's webhook answers.
func metalLBObjects(ranges []string) []*unstructured.Unstructured {
	const version, name = "metallb.io/v1beta1", "default"
	var addresses []any
	for _, r := range ranges {
		addresses = append(addresses, r)
	}
	return []*unstructured.Unstructured{
		object(version, "IPAddressPool", metalLBSystem, name, map[string]any{
			"spec": map[string]any{"addresses": addresses},
		}),
		object(version, "L2Advertisement", metalLBSystem, name, map[string]any{
			"spec": map[string]any{"ipAddressPools": []any{name}},
		}),
	}
}
