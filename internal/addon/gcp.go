// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	gcpName   = "cloud-controller-manager"
	gcpImage  = "registry.k8s.io/cloud-provider-gcp/cloud-controller-manager"
	gcpSecret = "gcp-cloud-credentials"
	gcpConfig = "/etc/cloud"
	gcpLogin  = "/etc/cloud-credentials"
	rbacV1    = "rbac.authorization.k8s.io/v1"
)

// gcpCloud has no chart upstream, so that its objects are made here.
func gcpCloud(c cluster, a *Addon) {
	a.Objects = []*unstructured.Unstructured{
		object("v1", "ServiceAccount", kubeSystem, gcpName, nil),
		object(rbacV1, "ClusterRole", "", "system:"+gcpName, map[string]any{"rules": gcpRules()}),
		object(rbacV1, "ClusterRoleBinding", "", "system:"+gcpName, gcpBinding("ClusterRole", "system:"+gcpName)),
		object(rbacV1, "RoleBinding", kubeSystem, gcpName+":apiserver-authentication-reader", gcpBinding("Role", "extension-apiserver-authentication-reader")),
		object("v1", "ConfigMap", kubeSystem, gcpName, map[string]any{"data": map[string]any{"cloud.config": gcpCloudConfig(c)}}),
		object("apps/v1", "DaemonSet", kubeSystem, gcpName, map[string]any{"spec": gcpDaemonSet(c, a.Version)}),
	}
	if c.credentials() {
		a.Secret = &Secret{Namespace: kubeSystem, Name: gcpSecret, GoogleDir: gcpLogin}
	}
	a.Ready.Workloads = daemonSets(kubeSystem, gcpName)
}

// gcpRules are those of the node, service and lease work that is left when
// routes and addresses of pods are Cilium's.
func gcpRules() []any {
	rule := func(group string, resources, verbs string) map[string]any {
		return map[string]any{"apiGroups": []any{group}, "resources": words(resources), "verbs": words(verbs)}
	}
	return []any{
		rule("", "nodes", "get list watch update patch delete"),
		rule("", "nodes/status services/status", "patch update"),
		rule("", "services", "get list watch update patch"),
		rule("", "endpoints pods configmaps", "get list watch"),
		rule("discovery.k8s.io", "endpointslices", "get list watch"),
		rule("", "serviceaccounts", "get create"),
		rule("", "serviceaccounts/token", "create"),
		rule("", "events", "create patch update"),
		rule("events.k8s.io", "events", "create patch update"),
		rule("coordination.k8s.io", "leases", "get list watch create update"),
		rule("authentication.k8s.io", "tokenreviews", "create"),
		rule("authorization.k8s.io", "subjectaccessreviews", "create"),
	}
}

func words(s string) (out []any) {
	for w := range strings.FieldsSeq(s) {
		out = append(out, w)
	}
	return out
}

func gcpBinding(kind, role string) map[string]any {
	return map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "namespace": kubeSystem, "name": gcpName}},
	}
}

// gcpCloudConfig is in the ini form of Google's provider. Without a token-url
// that is nil it would ask the metadata server only, credentials or not.
func gcpCloudConfig(c cluster) string {
	lines := []string{"[global]", "multizone = true"}
	set := func(key, value string) {
		if value != "" {
			lines = append(lines, key+" = "+value)
		}
	}
	if c.credentials() {
		set("token-url", "nil")
	}
	if p := c.facts.Platform.GCP; p != nil {
		set("project-id", p.ProjectID)
		set("local-zone", p.Zone)
		set("network-name", p.Network)
		set("subnetwork-name", p.Subnetwork)
		set("api-endpoint", p.Endpoint)
		for _, tag := range p.Tags {
			set("node-tags", tag)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func gcpDaemonSet(c cluster, version string) map[string]any {
	labels := map[string]any{"app.kubernetes.io/name": gcpName}
	return map[string]any{
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{
				"serviceAccountName": gcpName,
				"hostNetwork":        true,
				"dnsPolicy":          "Default",
				"priorityClassName":  "system-node-critical",
				"nodeSelector":       c.cloudNodes(),
				"tolerations":        cloudTolerations(),
				"containers":         []any{gcpContainer(c, version)},
				"volumes":            gcpVolumes(c),
			},
		},
	}
}

// gcpContainer goes without the controller that hands out pod addresses: it
// fails to start where it has none to hand out.
func gcpContainer(c cluster, version string) map[string]any {
	env, mounts := c.toAPIServer(), []any{map[string]any{"name": "config", "mountPath": gcpConfig, "readOnly": true}}
	if c.credentials() {
		env = append(env, map[string]any{"name": "GOOGLE_APPLICATION_CREDENTIALS", "value": gcpLogin + "/" + googleFile})
		mounts = append(mounts, map[string]any{"name": "credentials", "mountPath": gcpLogin, "readOnly": true})
	}
	return map[string]any{
		"name":  gcpName,
		"image": gcpImage + ":" + version,
		"args": []any{
			"--v=2", "--cloud-provider=gce", "--cloud-config=" + gcpConfig + "/cloud.config", "--cluster-name=" + c.Cluster.Name,
			"--cluster-cidr=" + c.Network.PodCIDR, "--allocate-node-cidrs=false", "--configure-cloud-routes=false",
			"--controllers=*,-node-ipam-controller",
		},
		"env":          env,
		"resources":    map[string]any{"requests": map[string]any{"cpu": "100m"}},
		"volumeMounts": mounts,
		"livenessProbe": map[string]any{
			"httpGet":             map[string]any{"host": "127.0.0.1", "port": int64(10258), "path": "/healthz", "scheme": "HTTPS"},
			"initialDelaySeconds": int64(15), "timeoutSeconds": int64(15),
		},
	}
}

func gcpVolumes(c cluster) []any {
	volumes := []any{map[string]any{"name": "config", "configMap": map[string]any{"name": gcpName}}}
	if c.credentials() {
		volumes = append(volumes, map[string]any{"name": "credentials", "secret": map[string]any{"secretName": gcpSecret}})
	}
	return volumes
}
