// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"net"
	"strconv"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	// gatewayManifest has the experimental channel: tenant control planes are
	// reached by TLSRoutes, which the standard one lacks.
	gatewayManifest = "https://github.com/kubernetes-sigs/gateway-api/releases/download/%s/experimental-install.yaml"
	kubePrismHost   = "localhost"
	kubePrismPort   = 7445
)

// kubeVIP has its objects from the bootstrap: the cluster's endpoint answers
// only with them, so that they come before all addons.
func kubeVIP(_ cluster, a *Addon) {
	a.Ready.Workloads = daemonSets(kubeSystem, KubeVIP)
}

// CarriesEndpoint reports whether kube-vip makes the endpoint of a cluster answer.
func CarriesEndpoint(spec v1alpha1.ClusterBootstrapSpec) bool {
	return cluster{ClusterBootstrapSpec: spec}.kubeVIP()
}

func gatewayAPI(_ cluster, a *Addon) {
	const group = ".gateway.networking.k8s.io"
	for _, plural := range []string{"gatewayclasses", "gateways", "grpcroutes", "httproutes", "referencegrants", "tlsroutes"} {
		a.Ready.CRDs = append(a.Ready.CRDs, plural+group)
	}
}

// apiServer is where pods on the node's network reach the API server while there is no service
// network; loopback is how they name their own node.
func (c cluster) apiServer(loopback string) (host string, port int) {
	host, text, err := net.SplitHostPort(c.facts.APIServer)
	if port, _ = strconv.Atoi(text); err != nil || port == 0 {
		return loopback, kubePrismPort
	}
	return host, port
}

// cilium replaces kube-proxy, which Talos leaves out, and therefore reaches the
// API server by KubePrism. Talos mounts the cgroups itself and lets no container
// load kernel modules.
func cilium(c cluster, a *Addon) {
	host, port := c.apiServer(kubePrismHost)
	a.Values = map[string]any{
		"ipam":                 map[string]any{"mode": "kubernetes"},
		"kubeProxyReplacement": true,
		"k8sServiceHost":       host,
		"k8sServicePort":       port,
		"cgroup": map[string]any{
			"autoMount": map[string]any{"enabled": false},
			"hostRoot":  "/sys/fs/cgroup",
		},
		"securityContext": map[string]any{"capabilities": map[string]any{
			"ciliumAgent": []any{
				"CHOWN", "KILL", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "SYS_ADMIN", "SYS_RESOURCE", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID",
			},
			"cleanCiliumState": []any{"NET_ADMIN", "SYS_ADMIN", "SYS_RESOURCE"},
		}},
		// Two operators never share a node.
		"operator": map[string]any{"replicas": max(1, min(2, c.nodes()))},
		"hubble":   hubble(c),
	}
	if c.ipv6() {
		a.Values["ipv4"] = map[string]any{"enabled": false}
		a.Values["ipv6"] = map[string]any{"enabled": true}
	}
	a.Ready = Readiness{
		Workloads: append(daemonSets(kubeSystem, "cilium", "cilium-envoy"), deployments(kubeSystem, "cilium-operator")...),
		CRDs:      []string{"ciliumnetworkpolicies.cilium.io", "ciliumnodes.cilium.io"},
	}
	if c.hubble() {
		a.Ready.Workloads = append(a.Ready.Workloads, deployments(kubeSystem, "hubble-relay", "hubble-ui")...)
	}
	if c.gateway() {
		a.Values["gatewayAPI"] = map[string]any{"enabled": true, "gatewayClass": map[string]any{"create": "true"}}
		a.Ready.Exist = refs("gateway.networking.k8s.io/v1", "GatewayClass", "", []string{"cilium"})
	}
}

func hubble(c cluster) map[string]any {
	if !c.hubble() {
		return map[string]any{"enabled": false}
	}
	return map[string]any{
		"enabled": true,
		"relay":   map[string]any{"enabled": true},
		"ui":      map[string]any{"enabled": true},
	}
}

// TakesPool reports whether a cluster has a load balancer for Services that needs a range of
// addresses and has none yet.
func TakesPool(spec v1alpha1.ClusterBootstrapSpec) bool {
	c := cluster{ClusterBootstrapSpec: spec}
	if len(c.ranges()) > 0 {
		return false
	}
	c.Network.LoadBalancerPool = &v1alpha1.AddressRange{}
	return c.metalLB()
}
