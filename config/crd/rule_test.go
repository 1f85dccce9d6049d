// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// rule is a sentence of the API, with a manifest that keeps it and one that
// breaks it. Both are the file with fields replaced: a path and a value in YAML.
type rule struct {
	file     string
	status   string
	accepted map[string]string
	refused  map[string]string
	message  string
}

func TestRules(t *testing.T) {
	w := newFixture(t)
	for name, r := range merged(createRules(), tenantCreateRules()) {
		t.Run(name, func(t *testing.T) {
			base := read(t, r.file)[0]
			if err := w.try(changed(t, base, r.accepted)); err != nil {
				t.Errorf("the manifest that keeps the rule: %v", err)
			}
			refusedBy(t, w.try(changed(t, base, r.refused)), r.message)
		})
	}
}

func TestRulesOnChanges(t *testing.T) {
	for name, r := range merged(updateRules(), tenantUpdateRules()) {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			base := read(t, r.file)[0]
			if r.status != "" {
				base.Object["status"] = value(t, r.status)
			}
			created := w.apply(base)
			if err := w.Update(t.Context(), changed(t, created, r.accepted), client.DryRunAll); err != nil {
				t.Errorf("the change that keeps the rule: %v", err)
			}
			refusedBy(t, w.Update(t.Context(), changed(t, created, r.refused), client.DryRunAll), r.message)
		})
	}
}

// TestNothingButUserDataIsRemovedFromARunningMachine is about each field of the spec,
// since the rule has to name them all.
func TestNothingButUserDataIsRemovedFromARunningMachine(t *testing.T) {
	w := newFixture(t)
	base := read(t, "full/machinerequest.yaml")[0]
	base.Object["status"] = value(t, "{phase: Running, providerID: x}")
	created := w.apply(base)
	spec := created.DeepCopy().Object["spec"].(map[string]any)
	for field, other := range map[string]string{
		"role": "worker", "cpu": "5", "memoryMB": "2048", "diskGB": "11", "extraDisks": "null", "image": "null",
		"networkData": "null", "labels": "null", "talosVersion": "null", "schematic": "null",
	} {
		err := w.Update(t.Context(), changed(t, created, fields{"spec.userData": "null", "spec." + field: other}), client.DryRunAll)
		refusedBy(t, err, "spec is immutable once the machine is being created")
		delete(spec, field)
	}
	if delete(spec, "userData"); len(spec) != 2 { // providerRef and machineName never change
		t.Errorf("not tried: %v", spec)
	}
}

func TestNothingIsListedTwice(t *testing.T) {
	w := newFixture(t)
	for _, r := range []struct{ file, path, twice string }{
		{bootstrap, "spec.addons.capi.infrastructureProviders", "[{name: aws}, {name: aws, version: v2.7.0}]"},
		{"full/providerconfig-harvester.yaml", "spec.network.poolRefs", "[{name: a}, {name: a, priority: 2}]"},
		{balancer, "spec.additionalPorts", "[50000, 50000]"},
		{balancer, "spec.allowedCIDRs", "[10.0.0.0/8, 10.0.0.0/8]"},
		{onCloud, "spec.network.loadBalancer", "{allowedCIDRs: [10.0.0.0/8, 10.0.0.0/8]}"},
		{tenantCluster, "spec.controlPlane.certSANs", "[a.example.com, a.example.com]"},
		{team, "spec.access.users", "[{name: ada}, {name: ada, role: admin}]"},
		{team, "spec.access.groups", "[{name: ops}, {name: ops, role: admin}]"},
		{team, "spec.resourceLimits.allowedProviders", "[a, a]"},
	} {
		refusedBy(t, w.try(changed(t, read(t, r.file)[0], fields{r.path: r.twice})), "Duplicate value")
	}
}

func TestEveryRuleOfTheSchemasHasATest(t *testing.T) {
	tested := map[string]bool{}
	for _, rules := range []map[string]rule{createRules(), updateRules(), tenantCreateRules(), tenantUpdateRules()} {
		for _, r := range rules {
			tested[read(t, r.file)[0].GetKind()+": "+r.message] = true
		}
	}
	for _, d := range definitions(t) {
		schema := *d.Spec.Versions[0].Schema.OpenAPIV3Schema
		walk("", schema, func(path string, s schemaProps) {
			for _, v := range s.XValidations {
				if key := d.Spec.Names.Kind + ": " + v.Message; !tested[key] {
					t.Errorf("no test for the rule of %s at %q: %s", d.Spec.Names.Kind, path, v.Message)
				}
			}
		})
	}
}

func merged(a, b map[string]rule) map[string]rule {
	maps.Copy(a, b)
	return a
}

// refusedBy fails unless the message is the one and only cause of a refusal.
func refusedBy(t *testing.T, err error, message string) {
	t.Helper()
	all := causes(t, err)
	for _, c := range all {
		if !strings.Contains(c, message) {
			t.Errorf("refused for another cause: %s", c)
		}
	}
	if len(all) == 0 {
		t.Errorf("refused without a cause: %v", err)
	}
}

// changed is a copy with fields replaced.
func changed(t *testing.T, o *unstructured.Unstructured, fields map[string]string) *unstructured.Unstructured {
	t.Helper()
	o = o.DeepCopy()
	for path, text := range fields {
		set(o.Object, path, value(t, text))
	}
	return o
}

// value reads YAML; numbers become int64, as they are in unstructured objects.
func value(t *testing.T, text string) any {
	t.Helper()
	o := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte("apiVersion: v1\nkind: Value\nvalue: " + text))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return o.Object["value"]
}
