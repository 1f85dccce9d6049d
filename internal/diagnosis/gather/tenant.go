// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/diagnosis"
	"github.com/butlerdotdev/butler/internal/tenants"
)

// tenants reads the tenant clusters, and of those that are not ready the objects of Cluster
// API that say why.
func (g *gatherer) tenants(ctx context.Context, c client.Client) error {
	all, err := tenants.List(ctx, c)
	if err != nil {
		return err
	}
	for _, tc := range all {
		t := diagnosis.Tenant{Object: diagnosis.Object{
			Kind: "TenantCluster", Namespace: tc.Namespace, Name: tc.Name, Phase: string(tc.Status.Phase),
			Deleting: tc.DeletionTimestamp != nil, Changed: tc.Status.LastTransitionTime, Conditions: tc.Status.Conditions,
		}}
		if !meta.IsStatusConditionTrue(tc.Status.Conditions, v1alpha1.ConditionReady) && tc.Status.TenantNamespace != "" {
			t.Objects = unready(ctx, c, tc.Status.TenantNamespace)
		}
		g.facts.Tenants = append(g.facts.Tenants, t)
	}
	return nil
}

// unready are the objects of Cluster API in a namespace that are not ready, the deepest first:
// what a machine consists of, the machines, the control plane, and the cluster.
func unready(ctx context.Context, c client.Client, namespace string) (out []diagnosis.Object) {
	add := func(o *unstructured.Unstructured) {
		if fact := factOf(o); saysWhy(fact) {
			out = append(out, fact)
		}
	}
	for _, machine := range list(ctx, c, namespace, "Machine") {
		for _, part := range []string{"infrastructureRef", "bootstrap.configRef"} {
			if o := follow(ctx, c, &machine, part); o != nil {
				add(o)
			}
		}
		add(&machine)
	}
	for _, cluster := range list(ctx, c, namespace, "Cluster") {
		for _, part := range []string{"infrastructureRef", "controlPlaneRef"} {
			if o := follow(ctx, c, &cluster, part); o != nil {
				add(o)
			}
		}
		add(&cluster)
	}
	return out
}

const clusterAPI = "cluster.x-k8s.io"

// list returns the objects of a kind of Cluster API, in the version that the cluster
// prefers; none if it does not serve the kind.
func list(ctx context.Context, c client.Client, namespace, kind string) []unstructured.Unstructured {
	mapping, err := c.RESTMapper().RESTMapping(schema.GroupKind{Group: clusterAPI, Kind: kind})
	if err != nil {
		return nil
	}
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(kind + "List"))
	if err := c.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return nil
	}
	return all.Items
}

// follow returns the object that a reference in the spec names.
func follow(ctx context.Context, c client.Client, from *unstructured.Unstructured, part string) *unstructured.Unstructured {
	path := append([]string{"spec"}, strings.Split(part, ".")...)
	ref, found, err := unstructured.NestedStringMap(from.Object, path...)
	if err != nil || !found {
		return nil
	}
	group := ref["apiGroup"]
	if gv, err := schema.ParseGroupVersion(ref["apiVersion"]); err == nil && group == "" {
		group = gv.Group
	}
	mapping, err := c.RESTMapper().RESTMapping(schema.GroupKind{Group: group, Kind: ref["kind"]})
	if err != nil {
		return nil
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := c.Get(ctx, client.ObjectKey{Namespace: from.GetNamespace(), Name: ref["name"]}, o); err != nil {
		return nil
	}
	return o
}

// factOf returns an object of Cluster API with its conditions, and a terminal failure as one.
func factOf(o *unstructured.Unstructured) diagnosis.Object {
	fact := diagnosis.Object{Kind: o.GetKind(), Name: o.GetName(), Deleting: o.GetDeletionTimestamp() != nil}
	fact.Phase, _, _ = unstructured.NestedString(o.Object, "status", "phase")
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, each := range conditions {
		var c metav1.Condition
		if fields, ok := each.(map[string]any); ok && runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &c) == nil {
			fact.Conditions = append(fact.Conditions, c)
		}
	}
	if failure, _, _ := unstructured.NestedString(o.Object, "status", "failureMessage"); failure != "" {
		fact.Conditions = append([]metav1.Condition{{Type: "Failed", Status: metav1.ConditionFalse, Reason: "Failed", Message: failure}}, fact.Conditions...)
	}
	return fact
}

// saysWhy reports whether an object has a condition that says why it is not ready.
func saysWhy(o diagnosis.Object) bool {
	for _, c := range o.Conditions {
		if c.Status == metav1.ConditionFalse && c.Message != "" {
			return true
		}
	}
	return false
}
