// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/step"
)

// cloudController reports whether a cloud controller manager initialises the nodes. It runs in
// the tenant, so it acts under the identity of the machines: credentials of the platform
// are never put there.
func (s *session) cloudController() bool {
	e := s.Spec.ControlPlane.ExternalCloudProvider
	return !s.provider.Spec.Provider.OnPrem() && s.provider.Spec.CredentialsRef == nil && (e == nil || *e)
}

// addonSpec is the cluster as the catalogue of addons sees one.
func (s *session) addonSpec() v1alpha1.ClusterBootstrapSpec {
	no, a, w := new(bool), s.Spec.Addons, s.Spec.Workers
	const none = "none"
	spec := v1alpha1.ClusterBootstrapSpec{Provider: s.provider.Spec.Provider}
	spec.Cluster.Name = s.Name
	spec.Cluster.Workers = &v1alpha1.NodePool{Replicas: w.Replicas}
	spec.Network.PodCIDR, spec.Network.ServiceCIDR = s.Spec.Networking.PodCIDR, s.Spec.Networking.ServiceCIDR
	spec.Network.LoadBalancerPool = s.Spec.Networking.LoadBalancerPool
	spec.Addons = v1alpha1.AddonsSpec{
		CNI:         v1alpha1.CNIAddonSpec{Type: addon.Cilium, Version: s.version(a.CNI.Version, cilium), HubbleEnabled: no},
		CertManager: v1alpha1.CertManagerAddonSpec{Enabled: a.CertManager.Enabled, Version: s.version(a.CertManager.Version, certManager)},
		Storage:     v1alpha1.StorageAddonSpec{Type: none}, LoadBalancer: v1alpha1.LoadBalancerAddonSpec{Type: none},
		Ingress: v1alpha1.IngressAddonSpec{Type: none}, GitOps: v1alpha1.GitOpsAddonSpec{Type: none},
		ControlPlaneHA: v1alpha1.ControlPlaneHAAddonSpec{Type: none}, ControlPlaneProvider: v1alpha1.ControlPlaneProviderAddonSpec{Type: none},
	}
	spec.Addons.CAPI.Enabled, spec.Addons.ButlerController.Enabled, spec.Addons.Console.Enabled = no, no, no
	if a.Storage != nil {
		spec.Addons.Storage = v1alpha1.StorageAddonSpec{Type: addon.Longhorn, Version: s.version(a.Storage.Version, longhorn)}
	}
	if a.LoadBalancer != nil {
		spec.Addons.LoadBalancer = v1alpha1.LoadBalancerAddonSpec{Type: addon.MetalLB, Version: s.version(a.LoadBalancer.Version, metalLB)}
	}
	if a.Ingress != nil && (a.Ingress.Enabled == nil || *a.Ingress.Enabled) {
		spec.Addons.Ingress = v1alpha1.IngressAddonSpec{Type: cmp.Or(a.Ingress.Provider, addon.Traefik), Version: a.Ingress.Version}
		if s.ingress() == addon.Traefik {
			spec.Addons.Ingress.Version = s.version(a.Ingress.Version, traefik)
		}
	}
	if a.GitOps != nil {
		spec.Addons.GitOps = v1alpha1.GitOpsAddonSpec{Type: addon.Flux, Version: s.version(a.GitOps.Version, flux)}
	}
	return spec
}

type picked func(v1alpha1.DefaultAddonVersions) string

func cilium(d v1alpha1.DefaultAddonVersions) string      { return d.Cilium }
func certManager(d v1alpha1.DefaultAddonVersions) string { return d.CertManager }
func longhorn(d v1alpha1.DefaultAddonVersions) string    { return d.Longhorn }
func metalLB(d v1alpha1.DefaultAddonVersions) string     { return d.MetalLB }
func traefik(d v1alpha1.DefaultAddonVersions) string     { return d.Traefik }
func flux(d v1alpha1.DefaultAddonVersions) string        { return d.FluxCD }

// version is that of the cluster, of the ButlerConfig, or empty: that of the catalogue.
func (s *session) version(own string, of picked) string {
	if s.config == nil || s.config.Spec.DefaultAddonVersions == nil {
		return own
	}
	return cmp.Or(own, of(*s.config.Spec.DefaultAddonVersions))
}

// values are those that the user adds, by the key of the addon.
func (s *session) values(key string) (map[string]any, error) {
	a := s.Spec.Addons
	charts := map[string]*v1alpha1.TenantChartSpec{addon.Cilium: &a.CNI.TenantChartSpec, addon.CertManager: &a.CertManager.TenantChartSpec}
	if a.Storage != nil {
		charts[addon.Longhorn] = &a.Storage.TenantChartSpec
	}
	if a.LoadBalancer != nil {
		charts[addon.MetalLB] = &a.LoadBalancer.TenantChartSpec
	}
	if a.Ingress != nil {
		charts[addon.Traefik], charts[addon.IngressNginx] = &a.Ingress.TenantChartSpec, &a.Ingress.TenantChartSpec
	}
	if a.GitOps != nil {
		charts[addon.Flux] = &a.GitOps.TenantChartSpec
	}
	chart := charts[key]
	if chart == nil || chart.Values == nil || len(chart.Values.Raw) == 0 {
		return nil, nil
	}
	var out map[string]any
	if err := json.Unmarshal(chart.Values.Raw, &out); err != nil {
		return nil, fmt.Errorf("spec.addons: the values of %s are not an object", key)
	}
	return out, nil
}

// merge puts values over others, map by map.
func merge(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range over {
		inner, is := value.(map[string]any)
		below, has := out[key].(map[string]any)
		if is && has {
			value = merge(below, inner)
		}
		out[key] = value
	}
	return out
}

// wanted are the addons of the cluster.
func (s *session) wanted() ([]addon.Addon, error) {
	facts := addon.Facts{
		Endpoint: s.input.Endpoint.Host, KubernetesVersion: s.Spec.KubernetesVersion, Platform: s.provider.Spec, Registry: s.Addons.Registry(),
		Hosted: true, WithoutCloud: !s.cloudController(), Ranges: s.balancerRanges(),
	}
	if s.byHostname() {
		facts.APIServer = s.input.Endpoint.String() // there is no KubePrism
	}
	all, err := addon.For(s.addonSpec(), facts)
	if err != nil {
		return nil, err
	}
	for i := range all {
		own, err := s.values(all[i].Key)
		if err != nil {
			return nil, err
		}
		if own != nil {
			all[i].Values = merge(all[i].Values, own)
		}
	}
	return all, nil
}

// installAddons starts the addons, beside the walk, and records their state. It waits for
// none: nodes become Ready with the pod network.
func installAddons(_ context.Context, s *session) (*step.Obstacle, error) {
	addons, err := s.wanted()
	if err != nil {
		return nil, &step.Failure{Reason: "InvalidAddons", Message: err.Error()}
	}
	states := s.Addons.Advance(install.Target{
		ID: client.ObjectKeyFromObject(s.TenantCluster).String(), Config: s.remote.Config, Platform: s.provider.Spec, Revision: s.revision(),
		Credentials: func(*v1alpha1.SecretReference) (map[string][]byte, error) { return nil, nil },
	}, addons)
	s.states, s.addonsSeen = states, true
	out := []v1alpha1.TenantAddonStatus{}
	for _, state := range states {
		s.addonsSeen = s.addonsSeen && state.Phase != ""
		out = append(out, v1alpha1.TenantAddonStatus{Name: state.Key, Version: state.Version, Status: s.addonState(state.Phase), ManagedBy: "butler"})
	}
	s.observed().Addons = out
	return nil, nil
}

// revision is a constant: no addon of a tenant is made from credentials.
func (s *session) revision() string { return fmt.Sprintf("%x", sha256.Sum256(nil)) }

// addonState is that of an addon. One that is not ready is degraded in a cluster that was.
func (s *session) addonState(p v1alpha1.AddonPhase) v1alpha1.TenantAddonState {
	switch p {
	case v1alpha1.AddonReady:
		return v1alpha1.TenantAddonHealthy
	case v1alpha1.AddonWaiting:
		if s.Status.Phase == v1alpha1.TenantReady {
			return v1alpha1.TenantAddonDegraded
		}
		return v1alpha1.TenantAddonInstalling
	case v1alpha1.AddonInstalling:
		return v1alpha1.TenantAddonInstalling
	case v1alpha1.AddonFailing:
		return v1alpha1.TenantAddonFailed
	case v1alpha1.AddonPending:
	}
	return v1alpha1.TenantAddonPending
}

// awaitAddons follows the addons until all are ready. The installer reports changes.
func awaitAddons(_ context.Context, s *session) (*step.Obstacle, error) {
	var all []v1alpha1.BootstrapAddonStatus
	for _, state := range s.states {
		all = append(all, v1alpha1.BootstrapAddonStatus{Name: state.Key, Version: state.Version, Phase: cmp.Or(state.Phase, v1alpha1.AddonPending), Message: state.Message})
	}
	if o := bootstrap.AddonObstacle(all); o != nil || s.addonsSeen {
		return o, nil
	}
	return reported("WaitingForAddons", "checking whether the addons are still ready"), nil
}
