// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

const fluxSystem = "flux-system"

func flux(_ cluster, a *Addon) {
	a.Values = map[string]any{"installCRDs": true, "clusterDomain": "cluster.local"}
	a.Ready = Readiness{
		Workloads: deployments(fluxSystem,
			"source-controller", "kustomize-controller", "helm-controller", "notification-controller",
			"image-automation-controller", "image-reflector-controller"),
		CRDs: []string{
			"gitrepositories.source.toolkit.fluxcd.io", "helmrepositories.source.toolkit.fluxcd.io", "ocirepositories.source.toolkit.fluxcd.io",
			"kustomizations.kustomize.toolkit.fluxcd.io", "helmreleases.helm.toolkit.fluxcd.io",
		},
	}
}
