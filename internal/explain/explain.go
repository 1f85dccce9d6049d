// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package explain finds the documentation of fields in the definitions of this project's
// kinds. The API server applies the same definitions.
package explain

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/butlerdotdev/butler/config/crd"
)

// Field is a field of a kind, or the kind itself, whose path is empty.
type Field struct {
	Kind string `json:"kind"`
	// Path begins with spec or status; entries of lists have no part in it.
	Path     string `json:"path"`
	Required bool   `json:"required"`
	// Provider is the only one that the field is for; empty means any.
	Provider string `json:"provider,omitempty"`
	schema   *apiextensionsv1.JSONSchemaProps
}

// Fields are the fields of all kinds, in the order of kinds and of their fields.
type Fields []Field

// Load returns all fields that users write, and those of the status.
func Load() (all Fields, err error) {
	definitions, err := crd.All()
	if err != nil {
		return nil, err
	}
	for _, d := range definitions {
		root := d.Spec.Versions[0].Schema.OpenAPIV3Schema
		kind := Field{Kind: d.Spec.Names.Kind, schema: root}
		all = append(all, kind)
		for _, name := range []string{"spec", "status"} {
			if s, ok := root.Properties[name]; ok {
				all = all.with(kind, name, &s, slices.Contains(root.Required, name))
			}
		}
	}
	return all, nil
}

// with adds a field and all fields below it.
func (all Fields) with(parent Field, name string, s *apiextensionsv1.JSONSchemaProps, required bool) Fields {
	f := Field{Kind: parent.Kind, Path: strings.TrimPrefix(parent.Path+"."+name, "."), Required: required, Provider: parent.Provider, schema: s}
	if f.Provider == "" && isProvider(name) {
		f.Provider = name
	}
	all = append(all, f)
	object := f.object()
	for _, child := range slices.Sorted(maps.Keys(object.Properties)) {
		below := object.Properties[child]
		all = all.with(f, child, &below, slices.Contains(object.Required, child))
	}
	return all
}

// object is the schema with the children of a field: of a list or a map that of its entries.
func (f Field) object() *apiextensionsv1.JSONSchemaProps {
	s := f.schema
	for {
		switch {
		case s.Items != nil && s.Items.Schema != nil:
			s = s.Items.Schema
		case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			s = s.AdditionalProperties.Schema
		default:
			return s
		}
	}
}

// Name returns the field with its kind.
func (f Field) Name() string {
	if f.Path == "" {
		return f.Kind
	}
	return f.Kind + "." + f.Path
}

// Children returns the fields directly below a field.
func (all Fields) Children(of Field) (out Fields) {
	for _, f := range all {
		parent, name := "", f.Path
		if i := strings.LastIndex(f.Path, "."); i >= 0 {
			parent, name = f.Path[:i], f.Path[i+1:]
		}
		if f.Kind == of.Kind && parent == of.Path && name != "" {
			out = append(out, f)
		}
	}
	return out
}
