// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/sim/registry"
)

// scenarios are clusters that have every addon between them.
func scenarios() map[string]v1alpha1.ClusterBootstrapSpec {
	all := map[string]v1alpha1.ClusterBootstrapSpec{
		"single-node": spec(v1alpha1.ProviderHarvester, func(s *v1alpha1.ClusterBootstrapSpec) {
			s.Cluster.Topology, s.Cluster.ControlPlane.Replicas, s.Cluster.Workers = v1alpha1.TopologySingleNode, 1, nil
		}),
		"gateway": spec(v1alpha1.ProviderNutanix, func(s *v1alpha1.ClusterBootstrapSpec) {
			s.ControlPlaneExposure = &v1alpha1.ControlPlaneExposureSpec{
				Mode: v1alpha1.ExposureGateway, Hostname: "*.k8s.example.com", GatewayRef: "butler-system/tenants",
			}
			s.Addons.Console = v1alpha1.ConsoleAddonSpec{Enabled: new(true), Ingress: &v1alpha1.ConsoleIngressSpec{
				Enabled: true, Host: "butler.example.com", ClassName: "traefik", TLS: true,
			}}
		}),
		"less usual": spec(v1alpha1.ProviderProxmox, func(s *v1alpha1.ClusterBootstrapSpec) {
			s.Addons.CNI.HubbleEnabled = new(false)
			s.Addons.Ingress.Type = "nginx"
			s.Addons.ControlPlaneProvider.Type = "kamaji"
			s.Addons.Console = v1alpha1.ConsoleAddonSpec{Enabled: new(true), Version: "0.17.0"}
			s.ControlPlaneExposure = &v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureIngress, Hostname: "*.k8s.example.com"}
		}),
	}
	for _, p := range []v1alpha1.ProviderType{
		v1alpha1.ProviderHarvester, v1alpha1.ProviderNutanix, v1alpha1.ProviderProxmox,
		v1alpha1.ProviderGCP, v1alpha1.ProviderAWS, v1alpha1.ProviderAzure,
	} {
		all[string(p)] = spec(p, func(*v1alpha1.ClusterBootstrapSpec) {})
	}
	return all
}

func spec(p v1alpha1.ProviderType, change func(*v1alpha1.ClusterBootstrapSpec)) v1alpha1.ClusterBootstrapSpec {
	s := v1alpha1.ClusterBootstrapSpec{
		Provider: p,
		Cluster: v1alpha1.ClusterSpec{
			Name: "butler-mgmt", Topology: v1alpha1.TopologyHA,
			ControlPlane: v1alpha1.NodePool{Replicas: 3}, Workers: &v1alpha1.NodePool{Replicas: 3},
		},
		Network: v1alpha1.NetworkSpec{
			PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", VIP: "10.40.0.200",
			LoadBalancerPool: &v1alpha1.AddressRange{Start: "10.40.0.210", End: "10.40.0.250"},
		},
	}
	change(&s)
	return s
}

// newer is a cluster with other versions than the default ones.
func newer() v1alpha1.ClusterBootstrapSpec {
	return spec(v1alpha1.ProviderHarvester, func(s *v1alpha1.ClusterBootstrapSpec) {
		s.Addons.CNI.Version, s.Addons.CertManager.Version, s.Addons.CAPI.Version = "1.17.1", "v1.17.0", "v1.11.0"
		s.Addons.CAPI.InfrastructureProviders = []v1alpha1.CAPIInfraProviderSpec{{Name: v1alpha1.ProviderHarvester, Version: "v0.2.10"}}
	})
}

// ipv6 is a cluster without IPv4.
func ipv6() v1alpha1.ClusterBootstrapSpec {
	return spec(v1alpha1.ProviderHarvester, func(s *v1alpha1.ClusterBootstrapSpec) {
		s.Network = v1alpha1.NetworkSpec{
			PodCIDR: "fd00:10:244::/56", ServiceCIDR: "fd00:10:96::/112", VIP: "fd00:40::200",
			LoadBalancerPool: &v1alpha1.AddressRange{Start: "fd00:40::210", End: "fd00:40::250"},
		}
		s.Addons.Ingress.Type = "nginx"
	})
}

// addons that a spec asks for and that are fetched from somewhere.
func addons(t *testing.T, s v1alpha1.ClusterBootstrapSpec) (out []addon.Addon) {
	t.Helper()
	all, err := addon.For(s, addon.Facts{Endpoint: "10.40.0.200", KubernetesVersion: "v1.32.0", Version: "v0.1.0", Platform: v1alpha1.ProviderConfigSpec{
		Provider: s.Provider, CredentialsRef: &v1alpha1.SecretReference{Name: "credentials"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if len(artifacts(a)) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// artifacts are what an addon is fetched as.
func artifacts(a addon.Addon) (out []registry.Artifact) {
	switch a.Source.Kind {
	case addon.ChartRepository, addon.ChartOCI:
		return []registry.Artifact{{Addon: a.Key, Kind: registry.Chart, URL: a.Source.URL, Name: a.Source.Chart, Version: a.Version}}
	case addon.Manifest:
		return []registry.Artifact{{Addon: a.Key, Kind: registry.Manifest, URL: a.Source.URL, Version: a.Version}}
	default:
		for _, p := range a.Providers {
			out = append(out, registry.Artifact{Addon: a.Key, Kind: registry.Provider, URL: p.URL(), Version: p.Version})
		}
		return out
	}
}

// catalogue are the artifacts of all scenarios.
func catalogue(t *testing.T) (out []registry.Artifact) {
	t.Helper()
	seen := map[registry.Artifact]bool{}
	for _, s := range append(values(scenarios()), newer(), ipv6()) {
		for _, a := range addons(t, s) {
			for _, one := range artifacts(a) {
				if !seen[one] {
					seen[one] = true
					out = append(out, one)
				}
			}
		}
	}
	return out
}

func values[K comparable, V any](m map[K]V) (out []V) {
	for _, v := range m {
		out = append(out, v)
	}
	return out
}
