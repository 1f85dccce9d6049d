// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"cmp"
	"net"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// latest selects the image of the chart.
const latest = "latest"

// ConsoleURL returns the URL of a cluster's console, or the empty string: without an
// ingress it is reached by its Service alone.
func ConsoleURL(spec v1alpha1.ClusterBootstrapSpec) string {
	c := cluster{ClusterBootstrapSpec: spec}
	in := spec.Addons.Console.Ingress
	switch {
	case !c.console() || in == nil || !in.Enabled:
		return ""
	case in.TLS:
		return "https://" + c.consoleHost()
	}
	return "http://" + c.consoleHost()
}

func (c cluster) consoleHost() string {
	return cmp.Or(c.Addons.Console.Ingress.Host, "butler."+c.Cluster.Name+".local")
}

// console has a Role in Steward's namespace, whether there is Steward or not.
func console(c cluster, a *Addon) {
	a.Beside = []Namespace{{stewardSystem, Baseline}}
	server := map[string]any{}
	if c.facts.Endpoint != "" {
		server["cliAuth"] = map[string]any{"externalAPIURL": "https://" + net.JoinHostPort(c.facts.Endpoint, "6443")}
	}
	a.Values = map[string]any{"server": server}
	if v := c.Addons.Console.Version; v != "" && v != latest {
		a.Values["frontend"] = map[string]any{"image": map[string]any{"tag": v}}
		server["image"] = map[string]any{"tag": v}
	}
	if url := ConsoleURL(c.ClusterBootstrapSpec); url != "" {
		tls := c.Addons.Console.Ingress.TLS
		server["config"] = map[string]any{"baseURL": url}
		server["auth"] = map[string]any{"secureCookies": tls, "trustProxyHeaders": true}
		a.Values["ingress"] = consoleIngress(c)
	}
	a.Ready.Workloads = deployments(butlerSystem, "butler-console-server", "butler-console-frontend")
}

func consoleIngress(c cluster) map[string]any {
	in, host := c.Addons.Console.Ingress, c.consoleHost()
	path := func(path, service string) map[string]any {
		return map[string]any{"path": path, "pathType": "Prefix", "service": service}
	}
	values := map[string]any{
		"enabled": true,
		"hosts":   []any{map[string]any{"host": host, "paths": []any{path("/api", "server"), path("/", "frontend")}}},
	}
	if in.ClassName != "" {
		values["className"] = in.ClassName
	}
	if in.TLS {
		values["tls"] = []any{map[string]any{"secretName": cmp.Or(in.TLSSecretName, "butler-console-tls"), "hosts": []any{host}}}
	}
	return values
}
