// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import "strings"

// definition is a CustomResourceDefinition. Whatever an object of it says is
// kept, unless its spec has a schema.
type definition struct {
	name, kind string // name is the plural and the group
	versions   []string
	cluster    bool   // its objects belong to no namespace
	spec       object // properties of its spec
	required   []string
	labels     map[string]string
	// annotations of the definition; groups of Kubernetes itself need one.
	annotations map[string]string
	// real is the specification of the real definition; nil: its objects are not checked.
	real any
}

// define makes definitions of one group in one version: "things Thing", with a
// star before the kind of those that belong to no namespace.
func define(group, version string, all ...string) (out []definition) {
	for _, one := range all {
		plural, kind, _ := strings.Cut(one, " ")
		kind, cluster := strings.CutPrefix(kind, "*")
		out = append(out, definition{name: plural + "." + group, kind: kind, versions: []string{version}, cluster: cluster})
	}
	return out
}

func (d definition) object() object {
	if d.real != nil {
		return d.annotate(named("apiextensions.k8s.io/v1", "CustomResourceDefinition", nil, d.name, object{"spec": d.real}))
	}
	plural, group, _ := strings.Cut(d.name, ".")
	scope := "Namespaced"
	if d.cluster {
		scope = "Cluster"
	}
	var versions []any
	for i, v := range d.versions {
		versions = append(versions, object{
			"name": v, "served": true, "storage": i == 0,
			"schema": object{"openAPIV3Schema": d.schema()}, "subresources": object{"status": object{}},
		})
	}
	o := named("apiextensions.k8s.io/v1", "CustomResourceDefinition", nil, d.name, object{"spec": object{
		"group": group, "scope": scope, "versions": versions,
		"names": object{"kind": d.kind, "listKind": d.kind + "List", "plural": plural, "singular": strings.ToLower(d.kind)},
	}})
	return d.annotate(o)
}

func (d definition) annotate(o object) object {
	if d.labels != nil {
		o.meta()["labels"] = d.labels
	}
	if d.annotations != nil {
		o.meta()["annotations"] = d.annotations
	}
	return o
}

func (d definition) schema() object {
	const keep = "x-kubernetes-preserve-unknown-fields"
	if d.spec == nil {
		return object{"type": "object", keep: true}
	}
	spec := object{"type": "object", "properties": d.spec}
	if d.required != nil {
		spec["required"] = d.required
	}
	return object{"type": "object", "required": []string{"spec"}, "properties": object{
		"spec": spec, "status": object{"type": "object", keep: true},
	}}
}

func definitions(all []definition) (out []object) {
	for _, d := range all {
		out = append(out, d.object())
	}
	return out
}
