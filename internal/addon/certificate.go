// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

// certManager goes without the chart's own check of its API: that is a hook
// which blocks the installation, and readiness asks the webhook anyway.
func certManager(_ cluster, a *Addon) {
	a.Values = map[string]any{
		"crds":            map[string]any{"enabled": true},
		"startupapicheck": map[string]any{"enabled": false},
	}
	a.Ready = Readiness{
		Workloads: deployments(a.Namespace.Name, "cert-manager", "cert-manager-cainjector", "cert-manager-webhook"),
		CRDs: []string{
			"certificaterequests.cert-manager.io", "certificates.cert-manager.io", "clusterissuers.cert-manager.io", "issuers.cert-manager.io",
			"challenges.acme.cert-manager.io", "orders.acme.cert-manager.io",
		},
		Webhooks: append(validating("cert-manager-webhook"), mutating("cert-manager-webhook")...),
	}
}
