// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// network is the part of the control plane object that exposes it.
func (in Input) network() (object, error) {
	out := object{"serviceType": "LoadBalancer"}
	if sans := in.Cluster.Spec.ControlPlane.CertSANs; len(sans) > 0 {
		out["certSANs"] = list(sans)
	}
	if in.Mode() == v1alpha1.ExposureLoadBalancer {
		if in.Cluster.Spec.ControlPlane.ServiceType == "ClusterIP" {
			return nil, ofTenant("spec.controlPlane.serviceType", "ClusterIP is for exposure by Ingress or Gateway, and the control plane is exposed by LoadBalancer; leave it out")
		}
		withText(out, "serviceAddress", in.ServiceAddress)
		if in.Provider.Spec.AWS != nil {
			out["serviceAnnotations"] = awsBalancer()
		}
		return out, nil
	}
	if err := in.checkHostname(); err != nil {
		return nil, err
	}
	out["serviceType"] = "ClusterIP"
	if in.Mode() == v1alpha1.ExposureIngress {
		out["ingress"] = in.ingress()
		return out, nil
	}
	out["gateway"] = in.gateway()
	return out, nil
}

// checkHostname refuses what cannot be served behind a hostname.
func (in Input) checkHostname() error {
	host, mode := in.hostname(), in.Mode()
	switch {
	case in.Host == Kamaji:
		return ofTenant("spec.controlPlane.serviceType", "Kamaji serves no exposure by %s: pods and konnectivity agents of the tenant would not reach the API server; set LoadBalancer, or host control planes with Steward", mode)
	case len(in.konnectivityHostname()) > longestName:
		return ofTenant("metadata.name", "the hostname %s is longer than %d characters; choose shorter names", host, longestName)
	case mode == v1alpha1.ExposureIngress && in.konnectivityHostname() == host:
		return ofConfig("spec.controlPlaneExposure.hostname", "%s has no label k8s, such as *.k8s.example.com: Steward replaces it by konnectivity, and with exposure by Ingress both names share a port; set such a domain, or spec.controlPlane.serviceType LoadBalancer of the TenantCluster", domain(in.exposure()))
	}
	return nil
}

func (in Input) ingress() object {
	out := object{"hostname": in.hostname()}
	kind, class := IngressController(in)
	withText(out, "className", class)
	withText(out, "controllerType", kind)
	return out
}

func (in Input) gateway() object {
	namespace, name := Gateway(in)
	return object{"hostname": in.hostname(), "parentRefs": []any{object{"name": name, "namespace": namespace}}}
}

// tcpProxy is the part of the control plane object for the proxy that the Service kubernetes of
// the tenant points to. It finds the hostname without DNS.
func (in Input) tcpProxy() object {
	if in.ExposureAddress == "" {
		return object{}
	}
	return object{"hostAliases": []any{object{"ip": in.ExposureAddress, "hostnames": []any{in.hostname()}}}}
}

// konnectivityIngress leads konnectivity agents to the control plane. Steward creates a route
// for them with Traefik and with a Gateway, and none with other ingress controllers. Nil where
// none is needed.
func (in Input) konnectivityIngress() *unstructured.Unstructured {
	kind, class := IngressController(in)
	if in.Mode() != v1alpha1.ExposureIngress || kind == "traefik" {
		return nil
	}
	host := in.konnectivityHostname()
	backend := object{"service": object{"name": in.name(), "port": object{"number": KonnectivityPort}}}
	spec := object{
		"rules": []any{object{"host": host, "http": object{"paths": []any{object{"path": "/", "pathType": "Prefix", "backend": backend}}}}},
		"tls":   []any{object{"hosts": []any{host}}},
	}
	withText(spec, "ingressClassName", class)
	u := in.new("networking.k8s.io/v1", "Ingress", in.name()+"-konnectivity", spec)
	u.SetAnnotations(passthrough(kind))
	return u
}

// passthrough are the annotations that have an ingress controller pass TLS through.
func passthrough(kind string) map[string]string {
	switch kind {
	case "haproxy":
		return map[string]string{"haproxy.org/ssl-passthrough": "true"}
	case "nginx":
		return map[string]string{"nginx.ingress.kubernetes.io/ssl-passthrough": "true", "nginx.ingress.kubernetes.io/backend-protocol": "HTTPS"}
	}
	return nil
}
