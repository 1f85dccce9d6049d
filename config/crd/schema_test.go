// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type schemaProps = apiextensionsv1.JSONSchemaProps

// walk visits a schema and all below it, in order of their paths.
func walk(path string, s schemaProps, visit func(string, schemaProps)) {
	visit(path, s)
	if s.Items != nil && s.Items.Schema != nil {
		walk(path+"[]", *s.Items.Schema, visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		walk(path+"{}", *s.AdditionalProperties.Schema, visit)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		walk(strings.TrimPrefix(path+"."+name, "."), s.Properties[name], visit)
	}
}

// leaf reports whether a field holds a value: no object, and of a list of values
// the list alone.
func leaf(path string, s schemaProps) bool {
	if strings.HasSuffix(path, "[]") || strings.HasSuffix(path, "{}") {
		return false
	}
	switch s.Type {
	case "object":
		return len(s.Properties) == 0
	case "array":
		return s.Items == nil || s.Items.Schema == nil || s.Items.Schema.Type != "object"
	}
	return true
}

// specFields are the paths of all fields that a user can set.
func specFields(d *apiextensionsv1.CustomResourceDefinition) (all []string) {
	walk("", *d.Spec.Versions[0].Schema.OpenAPIV3Schema, func(path string, s schemaProps) {
		if strings.HasPrefix(path, "spec.") && leaf(path, s) {
			all = append(all, path)
		}
	})
	return all
}
