// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/sim/registry"
	"github.com/butlerdotdev/butler/internal/sim/standin"
)

// render is what a chart makes of values, by Helm's own means, schema included.
func render(c *chart.Chart, release, namespace string, values map[string]any) ([]*unstructured.Unstructured, error) {
	all, err := util.ToRenderValues(c, values, common.ReleaseOptions{Name: release, Namespace: namespace, IsInstall: true, Revision: 1}, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".txt") {
			continue // for people
		}
		objects, err := parse([]byte(files[name]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", name, err, files[name])
		}
		out = append(out, objects...)
	}
	return out, nil
}

func parse(manifest []byte) (out []*unstructured.Unstructured, err error) {
	d := yamlutil.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := d.Decode(&o.Object); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if o.Object != nil {
			out = append(out, o)
		}
	}
}

// content are all objects of an addon, as they reach a cluster.
func (w *fixture) content(t *testing.T, a addon.Addon) (out []*unstructured.Unstructured) {
	t.Helper()
	if a.Source.Kind == addon.ChartRepository || a.Source.Kind == addon.ChartOCI {
		return w.chartContent(t, a)
	}
	for _, one := range artifacts(a) {
		manifest := w.fetch(t, download(one))
		objects, err := parse(substituted(manifest))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, objects...)
	}
	return out
}

func (w *fixture) chartContent(t *testing.T, a addon.Addon) []*unstructured.Unstructured {
	t.Helper()
	c, _ := w.pull(t, a)
	out, err := render(c, a.Release, a.Namespace.Name, a.Values)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.CRDObjects() {
		if slices.Contains(a.Source.WithoutCRDs, f.Name) {
			continue
		}
		objects, err := parse(f.File.Data)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, objects...)
	}
	return out
}

// download is where a file of a release is fetched from.
func download(a registry.Artifact) string {
	address := strings.ReplaceAll(a.URL, "%s", a.Version)
	if a.Kind == registry.Provider {
		address = strings.Replace(address, "/releases/", "/releases/download/", 1)
	}
	return address
}

// substituted has a variable's default, or else something, for each variable.
func substituted(manifest []byte) []byte {
	return regexp.MustCompile(`\$\{[A-Z0-9_]+(:?=([^}]*))?\}`).ReplaceAllFunc(manifest, func(v []byte) []byte {
		if _, byDefault, found := bytes.Cut(v, []byte("=")); found {
			return bytes.TrimSuffix(byDefault, []byte("}"))
		}
		return []byte("c29tZXRoaW5n")
	})
}

func key(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }

// cluster has no namespace.
func clusterScoped(kind string) bool {
	return slices.Contains([]string{
		"Namespace", "CustomResourceDefinition", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
		"StorageClass", "CSIDriver", "PriorityClass", "IngressClass", "GatewayClass",
	}, kind)
}

// located gives the objects of a release their namespace, as Helm does.
func located(objects []*unstructured.Unstructured, namespace string) map[string]*unstructured.Unstructured {
	out := map[string]*unstructured.Unstructured{}
	for _, o := range objects {
		if o.GetNamespace() == "" && !clusterScoped(o.GetKind()) {
			o.SetNamespace(namespace)
		}
		out[key(o.GetKind(), o.GetNamespace(), o.GetName())] = o
	}
	return out
}

// TestStandInsHaveWhatReadinessAsksFor guards the names: an addon whose stand-in
// lacks one would never be ready in a rehearsal.
func TestStandInsHaveWhatReadinessAsksFor(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	specs := scenarios()
	specs["newer"], specs["ipv6"] = newer(), ipv6()
	for name, s := range specs {
		t.Run(name, func(t *testing.T) {
			for _, a := range addons(t, s) {
				there := located(w.content(t, a), a.Namespace.Name)
				for _, want := range wanted(a) {
					if there[want] == nil {
						t.Errorf("%s: no %s; there are %q", a.Key, want, slices.Sorted(maps.Keys(there)))
					}
				}
				for _, o := range there {
					checkPods(t, a.Key, o)
				}
			}
		})
	}
}

// wanted are the objects that an addon's readiness asks for.
func wanted(a addon.Addon) (out []string) {
	for _, ref := range slices.Concat(a.Ready.Workloads, a.Ready.Webhooks, a.Ready.Exist) {
		out = append(out, key(ref.Kind, ref.Namespace, ref.Name))
	}
	for _, name := range a.Ready.CRDs {
		out = append(out, key("CustomResourceDefinition", "", name))
	}
	return out
}

// checkPods makes sure that the pods of an object say whose they are, and that
// webhooks point to a Service without a CA of their own.
func checkPods(t *testing.T, addonKey string, o *unstructured.Unstructured) {
	t.Helper()
	template, there, _ := unstructured.NestedMap(o.Object, "spec", "template")
	if there && o.GetKind() != "CustomResourceDefinition" {
		mark, _, _ := unstructured.NestedString(template, "metadata", "annotations", standin.Addon)
		if mark != addonKey {
			t.Errorf("%s %s is marked as of %q, not of %q", o.GetKind(), o.GetName(), mark, addonKey)
		}
	}
	hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
	for _, h := range hooks {
		config := h.(map[string]any)["clientConfig"].(map[string]any)
		if config["service"] == nil || config["caBundle"] != nil {
			t.Errorf("%s %s: client config %v", o.GetKind(), o.GetName(), config)
		}
	}
}

// TestWebhooksPointToPods: the selector of each Service that a webhook names is
// that of a workload of the same addon.
func TestWebhooksPointToPods(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	for _, s := range scenarios() {
		for _, a := range addons(t, s) {
			there := located(w.content(t, a), a.Namespace.Name)
			for _, o := range there {
				hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
				for _, h := range hooks {
					namespace, _, _ := unstructured.NestedString(h.(map[string]any), "clientConfig", "service", "namespace")
					name, _, _ := unstructured.NestedString(h.(map[string]any), "clientConfig", "service", "name")
					if !leads(there, namespace, name) {
						t.Errorf("%s: %s %s points to no pod by %s/%s", a.Key, o.GetKind(), o.GetName(), namespace, name)
					}
				}
			}
		}
	}
}

func leads(there map[string]*unstructured.Unstructured, namespace, name string) bool {
	service := there[key("Service", namespace, name)]
	if service == nil {
		return false
	}
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	for _, o := range there {
		labels, found, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "labels")
		if found && o.GetNamespace() == namespace && o.GetKind() != "Job" && contains(labels, selector) {
			return true
		}
	}
	return false
}

func contains(labels, selector map[string]string) bool {
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return len(selector) > 0
}
