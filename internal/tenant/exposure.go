// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// The ports of API servers behind an ingress controller and behind a Gateway.
const (
	ingressPort int32 = 443
	gatewayPort int32 = 6443
)

// exposure returns that of the ButlerConfig; without one it is LoadBalancer.
func (in Input) exposure() v1alpha1.ControlPlaneExposureSpec {
	if in.Config == nil || in.Config.Spec.ControlPlaneExposure == nil {
		return v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureLoadBalancer}
	}
	return *in.Config.Spec.ControlPlaneExposure
}

// Mode returns how the control plane of the cluster is exposed.
func (in Input) Mode() v1alpha1.ExposureMode {
	if in.Cluster.Spec.ControlPlane.ServiceType == "LoadBalancer" {
		return v1alpha1.ExposureLoadBalancer
	}
	return cmp.Or(in.exposure().Mode, v1alpha1.ExposureLoadBalancer)
}

// hostname of the API server behind an ingress controller or a Gateway.
func (in Input) hostname() string {
	domain := strings.TrimPrefix(in.exposure().Hostname, "*.")
	return strings.Join([]string{in.name(), in.Cluster.Namespace, domain}, ".")
}

// KnownEndpoint returns the endpoint that is known before the control plane exists; nil if the
// Service gets an address first.
func KnownEndpoint(in Input) *Endpoint {
	switch in.Mode() {
	case v1alpha1.ExposureIngress:
		return &Endpoint{Host: in.hostname(), Port: ingressPort}
	case v1alpha1.ExposureGateway:
		return &Endpoint{Host: in.hostname(), Port: gatewayPort}
	case v1alpha1.ExposureLoadBalancer:
	}
	return nil
}

// TalosAPI reports whether the Talos API of the workers can be reached, and if not, why.
func TalosAPI(in Input) (bool, string) {
	switch {
	case in.Host != Steward:
		return false, "the control plane is hosted by " + string(in.Host) + ", which issues no certificates for the Talos API"
	case in.Mode() != v1alpha1.ExposureLoadBalancer:
		return false, "the control plane is exposed by mode " + string(in.Mode()) + "; set spec.controlPlane.serviceType to LoadBalancer"
	}
	return true, ""
}

// network is the part of the control plane object that exposes it.
func (in Input) network() (object, error) {
	out := object{"serviceType": "LoadBalancer"}
	if sans := in.Cluster.Spec.ControlPlane.CertSANs; len(sans) > 0 {
		out["certSANs"] = list(sans)
	}
	mode := in.Mode()
	if mode == v1alpha1.ExposureLoadBalancer {
		if in.Cluster.Spec.ControlPlane.ServiceType == "ClusterIP" {
			return nil, ofTenant("spec.controlPlane.serviceType", "ClusterIP is for exposure by Ingress or Gateway, and the ButlerConfig says LoadBalancer; leave it out")
		}
		withText(out, "serviceAddress", in.ServiceAddress)
		if in.Provider.Spec.AWS != nil {
			out["serviceAnnotations"] = awsBalancer()
		}
		return out, nil
	}
	out["serviceType"] = "ClusterIP"
	if mode == v1alpha1.ExposureIngress {
		out["ingress"] = in.ingress()
		return out, nil
	}
	if in.Host == Kamaji {
		return nil, ofTenant("spec.controlPlane.serviceType", "Kamaji's provider does not serve exposure by Gateway; set LoadBalancer")
	}
	out["gateway"] = in.gateway()
	return out, nil
}

func (in Input) ingress() object {
	e := in.exposure()
	out := object{"hostname": in.hostname()}
	withText(out, "className", e.IngressClassName)
	if in.Host == Steward {
		withText(out, "controllerType", e.ControllerType)
	}
	return out
}

func (in Input) gateway() object {
	namespace, name, _ := strings.Cut(in.exposure().GatewayRef, "/")
	return object{"hostname": in.hostname(), "parentRefs": []any{object{"name": name, "namespace": namespace}}}
}
