// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/sim/registry"
)

// charts are those of all scenarios, by name.
func charts(t *testing.T) map[string]addon.Addon {
	t.Helper()
	out := map[string]addon.Addon{}
	for _, s := range scenarios() {
		for _, a := range addons(t, s) {
			if a.Source.Chart != "" {
				out[a.Source.Chart] = a
			}
		}
	}
	return out
}

// TestUnknownValueIsRefused guards that a mistyped value shows in a rehearsal: at
// each place of the values that the catalogue sets.
func TestUnknownValueIsRefused(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	for name, a := range charts(t) {
		c, _ := w.pull(t, a)
		for _, at := range append(places(a.Values), nil) {
			wrong := copied(t, a.Values)
			inside := wrong
			for _, step := range at {
				inside = inside[step].(map[string]any)
			}
			inside["mistyped"] = true
			_, err := render(c, a.Release, a.Namespace.Name, wrong)
			if err == nil || !strings.Contains(err.Error(), "mistyped") {
				t.Errorf("%s takes %s.mistyped: %v", name, strings.Join(at, "."), err)
			}
		}
	}
}

// places are the paths of all mappings inside of values, except those whose names
// are the user's own.
func places(values map[string]any) (out [][]string) {
	for name, v := range values {
		inner, ok := v.(map[string]any)
		if !ok || name == "nodeSelector" || name == "extraArgs" {
			continue
		}
		out = append(out, []string{name})
		for _, rest := range places(inner) {
			out = append(out, append([]string{name}, rest...))
		}
	}
	return out
}

func copied(t *testing.T, values map[string]any) map[string]any {
	t.Helper()
	data, err := yaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := yaml.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestValueOfAnotherTypeIsRefused(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	a := charts(t)["cilium"]
	c, _ := w.pull(t, a)
	wrong := copied(t, a.Values)
	wrong["operator"] = map[string]any{"replicas": "two"}
	if _, err := render(c, a.Release, a.Namespace.Name, wrong); err == nil {
		t.Error("a text was taken for a number")
	}
}

// TestValuesHaveTheirEffect: object and field that a value changes.
func TestValuesHaveTheirEffect(t *testing.T) {
	tests := map[string]struct {
		chart, values string
		object, field string
		want          any
	}{
		"operators of Cilium":      {"cilium", "operator: {replicas: 1}", "Deployment ns/cilium-operator", "spec.replicas", 1.0},
		"no Hubble":                {"cilium", "hubble: {enabled: false, ui: {enabled: true}}", "Deployment ns/hubble-ui", "", nil},
		"Hubble's relay":           {"cilium", "hubble: {relay: {enabled: true}}", "Deployment ns/hubble-relay", "spec.replicas", 1.0},
		"Cilium's gateway":         {"cilium", "gatewayAPI: {enabled: true, gatewayClass: {create: 'true'}}", "GatewayClass /cilium", "spec.controllerName", "io.cilium/gateway-controller"},
		"no gateway by default":    {"cilium", "", "GatewayClass /cilium", "", nil},
		"IPv6":                     {"cilium", "ipv6: {enabled: true}", "ConfigMap ns/cilium-config", "data.enable-ipv6", "true"},
		"no definitions":           {"cert-manager", "crds: {enabled: false}", "CustomResourceDefinition /issuers.cert-manager.io", "", nil},
		"check of cert-manager":    {"cert-manager", "startupapicheck: {enabled: true}", "Job ns/cert-manager-startupapicheck", "spec.backoffLimit", 2.0},
		"no check":                 {"cert-manager", "startupapicheck: {enabled: false}", "Job ns/cert-manager-startupapicheck", "", nil},
		"copies of a volume":       {"longhorn", "persistence: {defaultClassReplicaCount: 2}", "StorageClass /longhorn", "parameters.numberOfReplicas", "2"},
		"attachers":                {"longhorn", "csi: {attacherReplicaCount: 1}", "Deployment ns/csi-attacher", "spec.replicas", 1.0},
		"etcd of Steward":          {"steward", "steward-etcd: {replicas: 1}", "StatefulSet ns/steward-etcd", "spec.replicas", 1.0},
		"no etcd of Steward":       {"steward", "steward-etcd: {deploy: false}", "StatefulSet ns/steward-etcd", "", nil},
		"no etcd of Kamaji":        {"kamaji", "etcd: {deploy: false}", "StatefulSet ns/etcd", "", nil},
		"replicas of Traefik":      {"traefik", "deployment: {replicas: 2}", "Deployment ns/traefik", "spec.replicas", 2.0},
		"Traefik without a class":  {"traefik", "ingressClass: {enabled: false}", "IngressClass /traefik", "", nil},
		"service of Traefik":       {"traefik", "service: {type: NodePort}", "Service ns/traefik", "spec.type", "NodePort"},
		"replicas of ingress":      {"ingress-nginx", "controller: {replicaCount: 3}", "Deployment ns/ingress-nginx-controller", "spec.replicas", 3.0},
		"name of the class":        {"ingress-nginx", "controller: {ingressClassResource: {name: other}}", "IngressClass /other", "spec.controller", "k8s.io/ingress-nginx"},
		"flux without definitions": {"flux2", "installCRDs: false", "CustomResourceDefinition /helmreleases.helm.toolkit.fluxcd.io", "", nil},
		"class of the console":     {"butler-console", "ingress: {enabled: true, className: nginx, hosts: [{host: a.example.com, paths: []}]}", "Ingress ns/butler-console", "spec.ingressClassName", "nginx"},
		"no ingress":               {"butler-console", "", "Ingress ns/butler-console", "", nil},
		"AWS on the node":          {"aws-cloud-controller-manager", "hostNetworking: true", "DaemonSet ns/aws-cloud-controller-manager", "spec.template.spec.hostNetwork", true},
		"managers on Azure":        {"cloud-provider-azure", "cloudControllerManager: {replicas: 2}", "Deployment ns/cloud-controller-manager", "spec.replicas", 2.0},
	}
	w, all := start(t, registry.Options{Artifacts: catalogue(t)}), charts(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := rendered(t, w, all[tt.chart], tt.values)[tt.object]
			if tt.want == nil {
				if o != nil {
					t.Error("it is there")
				}
				return
			}
			if o == nil {
				t.Fatal("it is not there")
			}
			got, _, err := unstructured.NestedFieldNoCopy(o.Object, strings.Split(tt.field, ".")...)
			if diff := cmp.Diff(fmt.Sprint(tt.want), fmt.Sprint(got)); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

func rendered(t *testing.T, w *fixture, a addon.Addon, text string) map[string]*unstructured.Unstructured {
	t.Helper()
	c, _ := w.pull(t, a)
	v := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	objects, err := render(c, a.Release, "ns", v)
	if err != nil {
		t.Fatal(err)
	}
	return located(objects, "ns")
}

// TestContainersHaveTheirArguments looks at the arguments of the pods.
func TestContainersHaveTheirArguments(t *testing.T) {
	tests := map[string]struct{ chart, values, object, field, want string }{
		"excluded nodes":   {"metallb", "speaker: {ignoreExcludeLB: true}", "DaemonSet ns/metallb-speaker", "args", "--ignore-exclude-lb=true"},
		"routing daemon":   {"metallb", "speaker: {frr: {enabled: false}}", "DaemonSet ns/metallb-speaker", "args", "--frr=false"},
		"passthrough":      {"ingress-nginx", "controller: {extraArgs: {enable-ssl-passthrough: 'true'}}", "Deployment ns/ingress-nginx-controller", "args", "--enable-ssl-passthrough=true"},
		"silent Traefik":   {"traefik", "globalArguments: []", "Deployment ns/traefik", "args", "[--providers.kubernetescrd --providers.kubernetesingress]"},
		"silent Steward":   {"steward", "telemetry: {disabled: true}", "Deployment ns/steward", "args", "--disable-telemetry=true"},
		"cluster's domain": {"flux2", "clusterDomain: example.org", "Deployment ns/helm-controller", "args", "notification-controller.ns.svc.example.org."},
		"API of Cilium":    {"cilium", "{k8sServiceHost: localhost, k8sServicePort: 7445}", "DaemonSet ns/cilium", "env", "7445"},
		"AWS region":       {"aws-cloud-controller-manager", "env: [{name: AWS_REGION, value: eu-central-1}]", "DaemonSet ns/aws-cloud-controller-manager", "env", "eu-central-1"},
		"AWS image":        {"aws-cloud-controller-manager", "image: {tag: v1.31.0}", "DaemonSet ns/aws-cloud-controller-manager", "image", "registry.k8s.io/provider-aws/cloud-controller-manager:v1.31.0"},
		"Azure's Secret":   {"cloud-provider-azure", "cloudControllerManager: {cloudConfigSecretName: some}", "Deployment ns/cloud-controller-manager", "args", "--cloud-config-secret-name=some"},
		"console's image":  {"butler-console", "frontend: {image: {tag: 9.9.9}}", "Deployment ns/butler-console-frontend", "image", "ghcr.io/butlerdotdev/butler-console:9.9.9"},
		"console's server": {"butler-console", "server: {image: {tag: 9.9.9}}", "Deployment ns/butler-console-server", "image", "ghcr.io/butlerdotdev/butler-server:9.9.9"},
		"console's URL":    {"butler-console", "server: {config: {baseURL: 'https://a.example.com'}}", "Deployment ns/butler-console-server", "env", "https://a.example.com"},
	}
	w, all := start(t, registry.Options{Artifacts: catalogue(t)}), charts(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := rendered(t, w, all[tt.chart], tt.values)[tt.object]
			if o == nil {
				t.Fatal("it is not there")
			}
			containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
			if got := fmt.Sprint(containers[0].(map[string]any)[tt.field]); !strings.Contains(got, tt.want) {
				t.Errorf("%s: %s", tt.field, got)
			}
		})
	}
}

// TestDefaultClassIsMarked: the annotations by which Kubernetes knows defaults.
func TestDefaultClassIsMarked(t *testing.T) {
	w, all := start(t, registry.Options{Artifacts: catalogue(t)}), charts(t)
	for _, byDefault := range []bool{true, false} {
		for name, tt := range map[string]struct{ values, object, annotation string }{
			"longhorn":      {"persistence: {defaultClass: %t}", "StorageClass /longhorn", "storageclass.kubernetes.io/is-default-class"},
			"traefik":       {"ingressClass: {isDefaultClass: %t}", "IngressClass /traefik", "ingressclass.kubernetes.io/is-default-class"},
			"ingress-nginx": {"controller: {ingressClassResource: {default: %t}}", "IngressClass /nginx", "ingressclass.kubernetes.io/is-default-class"},
		} {
			o := rendered(t, w, all[name], fmt.Sprintf(tt.values, byDefault))[tt.object]
			want := map[string]string{tt.annotation: fmt.Sprint(byDefault)}
			if o == nil || !maps.Equal(o.GetAnnotations(), want) {
				t.Errorf("%s, by default %t: %v", name, byDefault, o)
			}
		}
	}
}

// TestHooksRunAtInstallation: which charts have Jobs as hooks, and when.
func TestHooksRunAtInstallation(t *testing.T) {
	w, got := start(t, registry.Options{Artifacts: catalogue(t)}), map[string]string{}
	for _, a := range charts(t) {
		for _, o := range located(w.chartContent(t, a), a.Namespace.Name) {
			if hook := o.GetAnnotations()["helm.sh/hook"]; o.GetKind() == "Job" {
				got[o.GetName()] = hook
			}
		}
	}
	want := map[string]string{
		"steward-etcd-setup-1":           "pre-install",
		"steward-etcd-setup-2":           "post-install",
		"kamaji-etcd-certs":              "pre-install",
		"kamaji-etcd-setup":              "post-install",
		"flux-flux-check":                "pre-install",
		"ingress-nginx-admission-create": "pre-install,pre-upgrade",
		"ingress-nginx-admission-patch":  "post-install,post-upgrade",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
