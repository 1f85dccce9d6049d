// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import "strings"

// SplitLabels separates labels that a kubelet may set on its own node, which
// Config uses, from those that the NodeRestriction admission refuses to
// kubelets, which have to be set through the Kubernetes API.
func SplitLabels(labels map[string]string) (own, restricted map[string]string) {
	own, restricted = map[string]string{}, map[string]string{}
	for key, value := range labels {
		if kubeletMaySet(key) {
			own[key] = value
		} else {
			restricted[key] = value
		}
	}
	return own, restricted
}

func kubeletMaySet(key string) bool {
	prefix, _, found := strings.Cut(key, "/")
	if !found || !within(prefix, "kubernetes.io", "k8s.io") {
		return true
	}
	if within(prefix, "kubelet.kubernetes.io", "node.kubernetes.io") {
		return true
	}
	switch key {
	case "kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os",
		"beta.kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/instance-type",
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
		"topology.kubernetes.io/zone", "topology.kubernetes.io/region":
		return true
	}
	return false
}

func within(prefix string, domains ...string) bool {
	for _, domain := range domains {
		if prefix == domain || strings.HasSuffix(prefix, "."+domain) {
			return true
		}
	}
	return false
}
