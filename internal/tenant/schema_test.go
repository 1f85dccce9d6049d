// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/butlerdotdev/butler/config/clusterapi"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// TestObjectsFitTheDefinitionsOfTheirProviders holds the objects of every platform against the
// definitions of every line of the core, in every version that it serves.
func TestObjectsFitTheDefinitionsOfTheirProviders(t *testing.T) {
	for _, l := range addon.Lines() {
		kinds := definitionsOf(t, l)
		for _, name := range inputs(t) {
			for _, core := range l.Served {
				t.Run(l.Core+"/"+name+"/"+core, func(t *testing.T) {
					in := load(t, name)
					in.Core = core
					o := build(t, in)
					for _, u := range o.InOrder() {
						kinds.check(t, u)
					}
					if o.Status != nil {
						kinds.check(t, withStatus(o.Infrastructure, o.Status))
					}
				})
			}
		}
	}
}

// TestObjectsFitTheCoreOfARehearsal is about the release whose controllers a rehearsal runs.
func TestObjectsFitTheCoreOfARehearsal(t *testing.T) {
	core := kinds{}
	core.add(t, clusterapi.Core, "v1.14.2")
	for _, name := range inputs(t) {
		for _, version := range []string{"v1beta1", "v1beta2"} {
			in := load(t, name)
			in.Core = version
			o := build(t, in)
			core.check(t, o.Cluster)
			core.check(t, o.Workers)
		}
	}
}

func TestTheCheckFindsUnknownFieldsAndWrongValues(t *testing.T) {
	kinds := definitionsOf(t, addon.Lines()[0])
	for field, value := range map[string]any{"loadBalancerTypo": "disabled", "loadBalancerType": "dissabled"} {
		o := build(t, load(t, "aws"))
		if err := unstructured.SetNestedField(o.Infrastructure.Object, value, "spec", "controlPlaneLoadBalancer", field); err != nil {
			t.Fatal(err)
		}
		if problems := kinds.problems(o.Infrastructure); len(problems) == 0 {
			t.Errorf("%s: %v is accepted", field, value)
		}
	}
}

// withStatus is an object as it is after its status was written.
func withStatus(o, status *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	o.Object["status"] = status.Object["status"]
	return o
}

// kinds are schemas by API version and kind.
type kinds map[string]kind

type kind struct {
	structural *schema.Structural
	validator  validation.SchemaCreateValidator
	namespaced bool
}

// definitionsOf are those of the providers of a line.
func definitionsOf(t *testing.T, l addon.Line) kinds {
	t.Helper()
	out := kinds{}
	out.add(t, clusterapi.Core, l.Core)
	for name, version := range l.Providers {
		if name == "in-cluster" {
			name = clusterapi.IPAMInCluster
		}
		out.add(t, name, version)
	}
	return out
}

func (k kinds) add(t *testing.T, name, version string) {
	t.Helper()
	all, err := clusterapi.Definitions(name, version)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		for _, v := range d.Spec.Versions {
			internal := &apiextensions.JSONSchemaProps{}
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, internal, nil); err != nil {
				t.Fatal(err)
			}
			structural, err := schema.NewStructural(internal)
			if err != nil {
				t.Fatalf("%s: %v", d.Name, err)
			}
			validator, _, err := validation.NewSchemaValidator(internal)
			if err != nil {
				t.Fatalf("%s: %v", d.Name, err)
			}
			k[d.Spec.Group+"/"+v.Name+" "+d.Spec.Names.Kind] = kind{structural, validator, d.Spec.Scope == apiextensionsv1.NamespaceScoped}
		}
	}
}

func (k kinds) check(t *testing.T, u *unstructured.Unstructured) {
	t.Helper()
	switch u.GetKind() {
	case "Secret":
		return
	case "Ingress":
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, &networkingv1.Ingress{}, true); err != nil {
			t.Error(err)
		}
		return
	}
	for _, p := range k.problems(u) {
		t.Errorf("%s %s: %s", u.GetAPIVersion(), u.GetKind(), p)
	}
}

// problems are what an API server would refuse, with strict field validation.
func (k kinds) problems(u *unstructured.Unstructured) (out []string) {
	found, ok := k[u.GetAPIVersion()+" "+u.GetKind()]
	if !ok {
		return []string{"no definition"}
	}
	if found.namespaced != (u.GetNamespace() != "") {
		out = append(out, "wrong scope: namespace "+u.GetNamespace())
	}
	o := u.DeepCopy().Object
	pruned := pruning.PruneWithOptions(o, found.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range pruned {
		out = append(out, "unknown field "+path)
	}
	defaulting.Default(o, found.structural)
	for _, err := range validation.ValidateCustomResource(nil, o, found.validator) {
		out = append(out, err.Error())
	}
	if v := cel.NewValidator(found.structural, true, celconfig.PerCallLimit); v != nil {
		errs, _ := v.Validate(context.Background(), nil, found.structural, o, nil, celconfig.RuntimeCELCostBudget)
		for _, err := range errs {
			out = append(out, err.Error())
		}
	}
	return out
}

// TestHandedOutKindsAreThoseThatAreBuilt keeps Kinds and Build together.
func TestHandedOutKindsAreThoseThatAreBuilt(t *testing.T) {
	for _, name := range inputs(t) {
		in := load(t, name)
		cluster, template, err := tenant.Kinds(in.Provider)
		if err != nil {
			t.Fatal(err)
		}
		o := build(t, in)
		if o.Infrastructure.GroupVersionKind() != cluster || o.Template.GroupVersionKind() != template {
			t.Errorf("%s: %v, %v", name, cluster, template)
		}
		if !slices.ContainsFunc(addon.Lines(), func(l addon.Line) bool {
			_, ok := definitionsOf(t, l)[cluster.GroupVersion().String()+" "+cluster.Kind]
			return ok
		}) {
			t.Errorf("%s has no definition", strings.TrimSpace(cluster.String()))
		}
	}
}
