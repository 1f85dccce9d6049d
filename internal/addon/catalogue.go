// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// row is a line of the catalogue. What is nil does not apply.
type row struct {
	key       string
	source    Source
	release   string
	version   string // by default
	digest    string // of the chart of that version, where an index of its repository was read
	namespace Namespace
	needs     []need
	// installed reports whether a cluster has it.
	installed func(cluster) bool
	// override is the version that a spec asks for, or empty.
	override func(v1alpha1.AddonsSpec) string
	fill     func(cluster, *Addon) // values, objects, readiness
	// on and off say what to set so that a cluster has it, or goes without.
	on, off string
}

// need is a dependency on another addon. One that is not hard is dropped where
// the other addon is not installed: then the user provides for it.
type need struct {
	key  string
	hard bool
}

func after(keys ...string) (out []need) {
	for _, k := range keys {
		out = append(out, need{key: k})
	}
	return out
}

func requires(key string, more ...need) []need { return append([]need{{key, true}}, more...) }

// PlatformNamespace is where the controllers of this project and the platform's own
// configuration are.
const PlatformNamespace = "butler-system"

const (
	kubeSystem    = "kube-system"
	butlerSystem  = PlatformNamespace
	stewardSystem = "steward-system"
	kamajiSystem  = "kamaji-system"
)

func chart(repository, name string) Source {
	return Source{Kind: ChartRepository, URL: repository, Chart: name}
}

func oci(url, name string) Source { return Source{Kind: ChartOCI, URL: url, Chart: name} }

func carried(name string) Source { return Source{Kind: ChartCarried, Chart: name} }

// catalogue is the table of all addons. Its order is the one in which addons
// are listed that could be installed at the same time.
func catalogue() []row {
	return slices.Concat(network(), clouds(), foundation(), platform(), providers())
}

// usable is when nodes take ordinary pods.
func usable() []need { return after(Cilium, CloudControllerManager) }

func network() []row {
	return []row{
		{
			key: KubeVIP, source: Source{Kind: Objects}, version: "v0.8.7", namespace: Namespace{Name: kubeSystem},
			installed: cluster.kubeVIP, fill: kubeVIP,
			override: func(a v1alpha1.AddonsSpec) string { return a.ControlPlaneHA.Version },
			on:       "spec.addons.controlPlaneHA.type to kube-vip", off: "spec.addons.controlPlaneHA.type to none",
		},
		{
			key: GatewayAPI, source: Source{Kind: Manifest, URL: gatewayManifest}, version: "v1.2.1",
			installed: cluster.gateway, fill: gatewayAPI,
			on: "spec.controlPlaneExposure.mode to Gateway", off: "spec.controlPlaneExposure.mode to LoadBalancer",
		},
		{
			key: Cilium, source: chart("https://helm.cilium.io/", "cilium"), release: "cilium", version: "1.17.0",
			digest:    "sha256:72a820bf01bb3e02c01856892a0508da92dfc94174f8705c7bcb5dbb15e228fe",
			namespace: Namespace{Name: kubeSystem}, needs: after(GatewayAPI),
			installed: cluster.cilium, fill: cilium,
			override: func(a v1alpha1.AddonsSpec) string { return a.CNI.Version },
			on:       "spec.addons.cni.type to cilium", off: "spec.addons.cni.type to none",
		},
	}
}

// clouds have a cloud controller manager each. It does not wait for the
// network: nodes of a cloud refuse ordinary pods until it has initialised them,
// Hubble's among them.
func clouds() []row {
	cloud := func(p v1alpha1.ProviderType) func(cluster) bool {
		return func(c cluster) bool { return c.Provider == p && !c.facts.WithoutCloud }
	}
	return []row{
		{
			key:    CloudControllerManager,
			source: chart("https://kubernetes.github.io/cloud-provider-aws", "aws-cloud-controller-manager"), release: "aws-cloud-controller-manager",
			version:   "0.0.11",
			digest:    "sha256:3da2227e83bce236b8278903fb87ad0bc33c5d4da8e5dd521b974ec0c740886f",
			namespace: Namespace{Name: kubeSystem},
			installed: cloud(v1alpha1.ProviderAWS), fill: awsCloud, on: "spec.provider to aws",
		},
		{
			key:    CloudControllerManager,
			source: chart("https://raw.githubusercontent.com/kubernetes-sigs/cloud-provider-azure/master/helm/repo", "cloud-provider-azure"), release: "cloud-provider-azure",
			version:   "1.36.0",
			digest:    "sha256:f332f19ba19a25c9f7825a10679c9b2bb0d2b0a18a34f8109e3aa61931a9b83d",
			namespace: Namespace{Name: kubeSystem},
			installed: cloud(v1alpha1.ProviderAzure), fill: azureCloud, on: "spec.provider to azure",
		},
		{
			key: CloudControllerManager, source: Source{Kind: Objects}, version: "v32.2.5", namespace: Namespace{Name: kubeSystem},
			installed: cloud(v1alpha1.ProviderGCP), fill: gcpCloud, on: "spec.provider to gcp",
		},
	}
}

// foundation is what workloads expect of a cluster: certificates, storage,
// addresses, a way in.
func foundation() []row {
	return []row{
		{
			key: CertManager, source: chart("https://charts.jetstack.io", "cert-manager"), release: "cert-manager", version: "v1.16.2",
			namespace: Namespace{"cert-manager", Baseline}, needs: usable(),
			installed: func(c cluster) bool { return on(c.Addons.CertManager.Enabled) }, fill: certManager,
			override: func(a v1alpha1.AddonsSpec) string { return a.CertManager.Version },
			on:       "spec.addons.certManager.enabled to true", off: "spec.addons.certManager.enabled to false",
		},
		{
			key: Longhorn, source: chart("https://charts.longhorn.io", "longhorn"), release: "longhorn", version: "1.7.2",
			namespace: Namespace{longhornSystem, Privileged}, needs: usable(),
			installed: cluster.longhorn, fill: longhorn,
			override: func(a v1alpha1.AddonsSpec) string { return a.Storage.Version },
			on:       "spec.addons.storage.type to longhorn", off: "spec.addons.storage.type to none",
		},
		{
			key: MetalLB, source: chart("https://metallb.github.io/metallb", "metallb"), release: "metallb", version: "0.14.9",
			digest:    "sha256:e808428c9047d0c218634bc0f7cc92b8545d4c207470b3b563cfcbb46ab31ae9",
			namespace: Namespace{metalLBSystem, Privileged}, needs: usable(),
			installed: cluster.metalLB, fill: metalLB,
			override: func(a v1alpha1.AddonsSpec) string { return a.LoadBalancer.Version },
			on:       "spec.network.loadBalancerPool", off: "spec.addons.loadBalancer.type to none",
		},
		{
			key: Traefik, source: traefikChart(), release: "traefik", version: "34.3.0",
			namespace: Namespace{"traefik", Baseline}, needs: append(after(MetalLB), usable()...),
			installed: func(c cluster) bool { return c.ingress(Traefik) }, fill: traefik,
			override: func(a v1alpha1.AddonsSpec) string { return a.Ingress.Version },
			on:       "spec.addons.ingress.type to traefik", off: "spec.addons.ingress.type to none",
		},
		{
			key: IngressNginx, source: chart("https://kubernetes.github.io/ingress-nginx", "ingress-nginx"), release: "ingress-nginx", version: "4.15.1",
			digest:    "sha256:3eff0bd18151d6e6b1c441463410571443dda1ac78292cb189346628de784f0c",
			namespace: Namespace{"ingress-nginx", Baseline}, needs: append(after(MetalLB), usable()...),
			installed: func(c cluster) bool { return c.ingress("nginx") }, fill: ingressNginx,
			override: func(a v1alpha1.AddonsSpec) string { return a.Ingress.Version },
			on:       "spec.addons.ingress.type to nginx", off: "spec.addons.ingress.type to none",
		},
	}
}

// platform returns the addons above the foundation.
func platform() []row {
	hosted := func(a v1alpha1.AddonsSpec) string { return a.ControlPlaneProvider.Version }
	return []row{
		{
			key: Steward, source: oci("oci://ghcr.io/butlerdotdev/charts/steward", "steward"), release: "steward", version: "0.4.0",
			namespace: Namespace{stewardSystem, Baseline}, needs: requires(CertManager, append(after(Longhorn, GatewayAPI), usable()...)...),
			installed: func(c cluster) bool { return c.controlPlaneProvider(Steward) }, fill: steward, override: hosted,
			on: "spec.addons.controlPlaneProvider.type to steward", off: "spec.addons.controlPlaneProvider.type to none",
		},
		{
			key: Kamaji, source: chart("https://clastix.github.io/charts", "kamaji"), release: "kamaji", version: "1.0.0",
			digest:    "sha256:2e642a485eae8bd964c0a363b4ce01bd8379d05b42960b7919676f96f7c63b36",
			namespace: Namespace{kamajiSystem, Baseline}, needs: requires(CertManager, append(after(Longhorn), usable()...)...),
			installed: func(c cluster) bool { return c.controlPlaneProvider(Kamaji) }, fill: kamaji, override: hosted,
			on: "spec.addons.controlPlaneProvider.type to kamaji", off: "spec.addons.controlPlaneProvider.type to none",
		},
		{
			// The control plane provider watches kinds that Steward or Kamaji define.
			key: CAPI, source: Source{Kind: Components}, version: "v1.9.4",
			needs:     requires(CertManager, append(after(Steward, Kamaji), usable()...)...),
			installed: func(c cluster) bool { return on(c.Addons.CAPI.Enabled) }, fill: capi,
			override: func(a v1alpha1.AddonsSpec) string { return a.CAPI.Version },
			on:       "spec.addons.capi.enabled to true", off: "spec.addons.capi.enabled to false",
		},
		{
			key: Flux, source: chart("https://fluxcd-community.github.io/helm-charts", "flux2"), release: "flux", version: "2.14.1",
			digest:    "sha256:1c4a797cfe11370e9f2ea29b1d4834805ce4160d65008198389c91ecd8a3cdb9",
			namespace: Namespace{fluxSystem, Baseline}, needs: usable(),
			installed: cluster.flux, fill: flux,
			override: func(a v1alpha1.AddonsSpec) string { return a.GitOps.Version },
			on:       "spec.addons.gitOps.type to flux", off: "spec.addons.gitOps.type to none",
		},
		{
			key: ButlerCRDs, source: carried(ButlerCRDs), release: ButlerCRDs, namespace: Namespace{butlerSystem, Restricted},
			installed: cluster.butler, fill: butlerCRDs, on: butlerOn, off: butlerOff,
		},
		{
			key: ButlerController, source: carried(ButlerController), release: ButlerController, namespace: Namespace{butlerSystem, Restricted},
			needs: requires(ButlerCRDs, usable()...), installed: cluster.butler, fill: butlerController, on: butlerOn, off: butlerOff,
		},
		{
			// It takes over in the pivot, and a single node has none.
			key: ButlerBootstrap, source: carried(ButlerBootstrap), release: ButlerBootstrap, namespace: Namespace{butlerSystem, Restricted},
			needs: requires(ButlerCRDs, usable()...), installed: func(c cluster) bool { return c.butler() && !c.single() }, fill: butlerBootstrap,
			on: butlerOn, off: butlerOff,
		},
		{
			key: Console, source: oci("oci://ghcr.io/butlerdotdev/charts/butler-console", "butler-console"), release: "butler-console", version: "0.14.2",
			namespace: Namespace{butlerSystem, Restricted}, needs: requires(ButlerController, after(Traefik, IngressNginx)...),
			installed: cluster.console, fill: console,
			on: "spec.addons.console.enabled to true", off: "spec.addons.console.enabled to false",
		},
	}
}

const butlerOn, butlerOff = "spec.addons.butlerController.enabled to true", "spec.addons.butlerController.enabled to false"

// providers are this project's own controllers, one per provider: a cluster
// has that of its own.
func providers() (out []row) {
	for _, p := range []v1alpha1.ProviderType{
		v1alpha1.ProviderHarvester, v1alpha1.ProviderNutanix, v1alpha1.ProviderProxmox,
		v1alpha1.ProviderGCP, v1alpha1.ProviderAWS, v1alpha1.ProviderAzure,
	} {
		name := ButlerProvider + string(p)
		out = append(out, row{
			key: name, source: carried(name), release: name, namespace: Namespace{butlerSystem, Restricted},
			needs:     requires(ButlerCRDs, usable()...),
			installed: func(c cluster) bool { return c.butler() && c.Provider == p }, fill: butlerProvider,
			on: butlerOn, off: butlerOff,
		})
	}
	return out
}
