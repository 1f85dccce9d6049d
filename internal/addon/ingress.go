// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"net/netip"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// traefikChart leaves out the definitions of the Gateway API that the chart
// carries: its Gateway provider is off, and they would replace richer ones.
func traefikChart() Source {
	s := chart("https://traefik.github.io/charts", "traefik")
	s.WithoutCRDs = []string{"crds/gateway-standard-install.yaml"}
	return s
}

// traefik sends no statistics, which its chart would enable.
func traefik(c cluster, a *Addon) {
	a.Values = map[string]any{
		"deployment":      map[string]any{"replicas": c.pair()},
		"ingressClass":    map[string]any{"enabled": true, "isDefaultClass": true},
		"service":         map[string]any{"type": "LoadBalancer"},
		"globalArguments": []any{},
	}
	a.Ready = Readiness{
		Workloads: deployments(a.Namespace.Name, "traefik"),
		CRDs:      []string{"ingressroutes.traefik.io", "ingressroutetcps.traefik.io", "middlewares.traefik.io"},
		Exist:     ingressClass("traefik"),
	}
}

// ingressNginx hands TLS through to tenant control planes where those are
// exposed by Ingresses.
func ingressNginx(c cluster, a *Addon) {
	controller := map[string]any{
		"replicaCount":         c.pair(),
		"ingressClassResource": map[string]any{"name": "nginx", "enabled": true, "default": true},
		"service":              map[string]any{"type": "LoadBalancer", "ipFamilies": []any{c.serviceFamily()}},
	}
	if c.exposure() == v1alpha1.ExposureIngress {
		controller["extraArgs"] = map[string]any{"enable-ssl-passthrough": "true"}
	}
	a.Values = map[string]any{"controller": controller}
	a.Ready = Readiness{
		Workloads: deployments(a.Namespace.Name, "ingress-nginx-controller"),
		Webhooks:  validating("ingress-nginx-admission"),
		Exist:     ingressClass("nginx"),
	}
}

func ingressClass(name string) []Ref {
	return refs("networking.k8s.io/v1", "IngressClass", "", []string{name})
}

func (c cluster) serviceFamily() string {
	if p, err := netip.ParsePrefix(c.Network.ServiceCIDR); err == nil && p.Addr().Is6() {
		return "IPv6"
	}
	return "IPv4"
}
