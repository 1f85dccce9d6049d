// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"net/netip"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	controlPlaneVersion = "v1alpha1"
	// KonnectivityPort is the port of a control plane's Service for konnectivity agents.
	KonnectivityPort int64 = 8132
	// TrustdPort is the one for certificates of the Talos API.
	TrustdPort int64 = 50001
)

func (in Input) controlPlaneKind() string {
	if in.Host == Kamaji {
		return "KamajiControlPlane"
	}
	return "StewardControlPlane"
}

// controlPlane is the hosted control plane. It has the name of the Cluster, so that the Secrets
// of both are the same.
func (in Input) controlPlane() (*unstructured.Unstructured, error) {
	s := in.Cluster.Spec
	network, err := in.network()
	if err != nil {
		return nil, err
	}
	addons, err := in.controlPlaneAddons()
	if err != nil {
		return nil, err
	}
	spec := object{
		"version":  cmp.Or(in.ControlPlaneVersion, s.KubernetesVersion),
		"replicas": int64(cmp.Or(s.ControlPlane.Replicas, 2)),
		"network":  network,
		"addons":   addons,
	}
	if s.ControlPlane.DataStoreRef != nil {
		spec["dataStoreName"] = s.ControlPlane.DataStoreRef.Name
	}
	for name, pick := range components() {
		if r := in.resources(pick); r != nil {
			spec[name] = object{"resources": r}
		}
	}
	u := in.new(controlPlaneGroup+"/"+controlPlaneVersion, in.controlPlaneKind(), in.name(), spec)
	if in.Mode() != v1alpha1.ExposureLoadBalancer {
		u.SetAnnotations(map[string]string{kubeconfigKey: "admin.svc"})
	}
	return u, nil
}

type pick func(v1alpha1.ControlPlaneResources) *v1alpha1.ComponentResources

func components() map[string]pick {
	return map[string]pick{
		"apiServer":         func(r v1alpha1.ControlPlaneResources) *v1alpha1.ComponentResources { return r.APIServer },
		"controllerManager": func(r v1alpha1.ControlPlaneResources) *v1alpha1.ComponentResources { return r.ControllerManager },
		"scheduler":         func(r v1alpha1.ControlPlaneResources) *v1alpha1.ComponentResources { return r.Scheduler },
	}
}

// resources of a container: those of the cluster, or of the ButlerConfig.
func (in Input) resources(of pick) object {
	var found *v1alpha1.ComponentResources
	if in.Config != nil && in.Config.Spec.DefaultControlPlaneResources != nil {
		found = of(*in.Config.Spec.DefaultControlPlaneResources)
	}
	if own := in.Cluster.Spec.ControlPlane.Resources; own != nil {
		found = cmp.Or(of(*own), found)
	}
	if found == nil {
		return nil
	}
	out := object{}
	for name, r := range map[string]*v1alpha1.ComputeResources{"requests": found.Requests, "limits": found.Limits} {
		if r != nil {
			out[name] = compute(*r)
		}
	}
	return out
}

func compute(r v1alpha1.ComputeResources) object {
	out := object{}
	if r.CPU != nil {
		out["cpu"] = r.CPU.String()
	}
	if r.Memory != nil {
		out["memory"] = r.Memory.String()
	}
	return out
}

// controlPlaneAddons are those that the host installs. There is no kube-proxy: Cilium replaces
// it.
func (in Input) controlPlaneAddons() (object, error) {
	dns, err := dnsService(in.Cluster.Spec.Networking.ServiceCIDR)
	if err != nil {
		return nil, err
	}
	server := object{"port": KonnectivityPort}
	if r := in.resources(func(r v1alpha1.ControlPlaneResources) *v1alpha1.ComponentResources { return r.Konnectivity }); r != nil {
		server["resources"] = r
	}
	out := object{"coreDNS": object{"dnsServiceIPs": []any{dns}}, "konnectivity": object{"server": server}}
	if ok, _ := TalosAPI(in); ok {
		out["workerBootstrap"] = in.workerBootstrap()
	}
	if in.Mode() != v1alpha1.ExposureLoadBalancer {
		out["tcpProxy"] = in.tcpProxy()
	}
	return out, nil
}

// workerBootstrap has Steward issue certificates for the Talos API, and approve those of
// kubelets.
func (in Input) workerBootstrap() object {
	talos := object{"port": TrustdPort}
	withText(talos, "imageTag", in.TrustdTag)
	if sans := in.Cluster.Spec.ControlPlane.CertSANs; len(sans) > 0 {
		talos["certSANs"] = list(sans)
	}
	return object{"provider": "talos", "talos": talos, "csrApproval": object{"autoApprove": true}}
}

// dnsService is the tenth address of the range of services.
func dnsService(cidr string) (string, error) {
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		return "", ofTenant("spec.networking.serviceCIDR", "%q is not a CIDR", cidr)
	}
	a := p.Masked().Addr()
	for range 10 {
		a = a.Next()
	}
	if !p.Contains(a) {
		return "", ofTenant("spec.networking.serviceCIDR", "%s has no room for the DNS service; use at least a /28", cidr)
	}
	return a.String(), nil
}

// DNSService returns the address of the DNS service of a tenant cluster.
func DNSService(c *v1alpha1.TenantCluster) (string, error) {
	return dnsService(c.Spec.Networking.ServiceCIDR)
}
