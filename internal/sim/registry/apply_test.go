// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/registry"
)

// delivery is what one addon of a scenario brings to a cluster.
type delivery struct {
	addon   string
	objects []*unstructured.Unstructured
}

// TestClusterTakesEveryObject: a real API server takes all objects, strictly, and
// the pods of workloads under the security level of their namespace.
func TestClusterTakesEveryObject(t *testing.T) {
	c, err := client.New(api.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := deliveries(t, c)
	var defined []*apiextensionsv1.CustomResourceDefinition
	for _, d := range all {
		for _, one := range definitionsOf(t, d.objects) {
			if !slices.ContainsFunc(defined, func(other *apiextensionsv1.CustomResourceDefinition) bool {
				return equality.Semantic.DeepEqual(one, other)
			}) {
				defined = append(defined, one)
			}
		}
	}
	if err := plane.Define(t.Context(), api.Config(), defined); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Namespace", "ServiceAccount", "PriorityClass"} {
		for _, d := range all {
			keepKind(t, c, kind, d.objects)
		}
	}
	tried := map[string]bool{}
	for _, d := range all {
		for _, o := range d.objects {
			data, err := o.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if !tried[string(data)] {
				tried[string(data)] = true
				try(t, c, d.addon, o)
			}
		}
	}
}

// deliveries are those of all scenarios, with the namespaces that the catalogue
// makes for them.
func deliveries(t *testing.T, c client.Client) (out []delivery) {
	t.Helper()
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	for _, s := range append(values(scenarios()), newer()) {
		for _, a := range addons(t, s) {
			if level := a.Namespace.PodSecurity; level != "" {
				ns := &unstructured.Unstructured{}
				ns.SetAPIVersion("v1")
				ns.SetKind("Namespace")
				ns.SetName(a.Namespace.Name)
				ns.SetLabels(map[string]string{"pod-security.kubernetes.io/enforce": string(level)})
				keep(t, c, ns)
			}
			out = append(out, delivery{a.Key, values(located(w.content(t, a), a.Namespace.Name))})
		}
	}
	return out
}

func definitionsOf(t *testing.T, objects []*unstructured.Unstructured) (out []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		d := &apiextensionsv1.CustomResourceDefinition{}
		withoutDoubleRules(o.Object)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, d, true); err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

// withoutDoubleRules removes rules of schemas that are there twice, as they are in releases of
// the provider for Proxmox: the installer removes them too, because they cannot be applied.
func withoutDoubleRules(node any) {
	switch n := node.(type) {
	case map[string]any:
		if rules, ok := n["x-kubernetes-validations"].([]any); ok {
			n["x-kubernetes-validations"] = slices.CompactFunc(rules, reflect.DeepEqual)
		}
		for _, child := range n {
			withoutDoubleRules(child)
		}
	case []any:
		for _, child := range n {
			withoutDoubleRules(child)
		}
	}
}

func keepKind(t *testing.T, c client.Client, kind string, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() == kind {
			keep(t, c, o)
		}
	}
}

// keep makes an object that others need.
func keep(t *testing.T, c client.Client, o *unstructured.Unstructured) {
	t.Helper()
	if err := c.Create(t.Context(), o.DeepCopy()); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// try asks for an object without making it, and for a pod of it.
func try(t *testing.T, c client.Client, addonKey string, o *unstructured.Unstructured) {
	t.Helper()
	strictly := client.FieldValidation(metav1.FieldValidationStrict)
	err := c.Create(t.Context(), o.DeepCopy(), client.DryRunAll, strictly)
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Errorf("%s: %v", addonKey, err)
	}
	template, there, err := unstructured.NestedMap(o.Object, "spec", "template")
	if !there || err != nil || o.GetKind() == "CustomResourceDefinition" {
		return
	}
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod); err != nil {
		t.Fatal(err)
	}
	pod.Name, pod.Namespace = o.GetName(), o.GetNamespace()
	if err := c.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Errorf("%s: a pod of %s %s: %v", addonKey, o.GetKind(), o.GetName(), err)
	}
}
