// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenants

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Kubeconfig returns the Secret with the administrator's kubeconfig of a tenant cluster, and the
// key in it. Where the API server is reached by a hostname, that is Steward's own Secret: the one
// of Cluster API names a Service of the management cluster.
func Kubeconfig(tc *v1alpha1.TenantCluster) (secret, key string) {
	if ref := tc.Status.KubeconfigSecretRef; ref != nil && strings.HasSuffix(ref.Name, "-admin-kubeconfig") {
		return ref.Name, "admin.conf"
	}
	return tc.Name + "-kubeconfig", "value"
}

// NameNote returns what a user has to do to reach the API server of a tenant cluster by its
// hostname; empty if it has an address.
func NameNote(tc *v1alpha1.TenantCluster) string {
	host, port, err := net.SplitHostPort(tc.Status.ControlPlaneEndpoint)
	if _, isName := netip.ParseAddr(host); err != nil || isName == nil {
		return ""
	}
	return fmt.Sprintf("the API server is reached by the name %s, port %s: have your DNS point it to the address of the Gateway or of the ingress controller, or use --by-address", host, port)
}

// ByAddress replaces the hostname in a kubeconfig by the address that it points to, and keeps it as
// the name that the server is asked for. One without a hostname stays as it is.
func ByAddress(ctx context.Context, c client.Client, tc *v1alpha1.TenantCluster, kubeconfig []byte) ([]byte, error) {
	if NameNote(tc) == "" {
		return kubeconfig, nil
	}
	address := exposureAddress(find(ctx, c, tc, "StewardControlPlane"))
	if address == "" {
		return nil, fmt.Errorf("the address of the API server of tenant cluster %s is not known: %s", tc.Name, Obstacle(tc))
	}
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig of tenant cluster %s: %w", tc.Name, err)
	}
	for _, cluster := range config.Clusters {
		server, err := url.Parse(cluster.Server)
		if err != nil {
			return nil, fmt.Errorf("read the kubeconfig of tenant cluster %s: %w", tc.Name, err)
		}
		cluster.TLSServerName = server.Hostname()
		server.Host = net.JoinHostPort(address, server.Port())
		cluster.Server = server.String()
	}
	return clientcmd.Write(*config)
}

// exposureAddress is where the hostname of a control plane points to; empty if it is not known.
func exposureAddress(controlPlane *unstructured.Unstructured) string {
	if controlPlane == nil {
		return ""
	}
	aliases, _, _ := unstructured.NestedSlice(controlPlane.Object, "spec", "addons", "tcpProxy", "hostAliases")
	for _, each := range aliases {
		alias, _ := each.(map[string]any)
		if address, ok := alias["ip"].(string); ok {
			return address
		}
	}
	return ""
}
