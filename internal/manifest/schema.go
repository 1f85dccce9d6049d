// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/butlerdotdev/butler/config/crd"
)

// definition is what an API server knows of a kind: the same code checks the
// same schema, but before there is an API server.
type definition struct {
	fields *schema.Structural
	values validation.SchemaValidator
	rules  *cel.Validator
}

// definitionOf finds the definition of a kind of this project.
func definitionOf(kind string) (*definition, error) {
	all, err := crd.All()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(d *apiextensionsv1.CustomResourceDefinition) bool { return d.Spec.Names.Kind == kind })
	if i < 0 {
		return nil, fmt.Errorf("this build has no definition of %s", kind)
	}
	var props apiextensions.JSONSchemaProps
	of := all[i].Spec.Versions[0].Schema.OpenAPIV3Schema
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(of, &props, nil); err != nil {
		return nil, err
	}
	d := &definition{}
	if d.fields, err = schema.NewStructural(&props); err != nil {
		return nil, err
	}
	if d.values, _, err = validation.NewSchemaValidator(&props); err != nil {
		return nil, err
	}
	d.rules = cel.NewValidator(d.fields, true, celconfig.PerCallLimit)
	return d, nil
}

// finding is what is wrong with a field.
type finding struct{ field, message string }

// check applies the defaults to an object and finds everything that an API
// server would refuse about it, and what it would drop.
func (d *definition) check(content map[string]any) []finding {
	out := d.unknown(content, d.fields, "")
	if _, set := content["status"]; set {
		out = append(out, finding{"status", "is written by the controllers; remove it"})
		delete(content, "status")
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(content, d.fields)
	defaulting.Default(content, d.fields)
	errs := validation.ValidateCustomResource(nil, content, d.values)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, d.fields, content)...)
	errs = append(errs, d.broken(content, len(errs) == 0)...)
	for _, e := range errs {
		// A number that is no integer is reported twice, here without its field.
		if e.Field != "<nil>" {
			out = append(out, d.describe(e))
		}
	}
	return out
}

// broken are the rules that do not hold. A rule about a field that is missing
// or of another type cannot be evaluated; that field has been reported.
func (d *definition) broken(content map[string]any, sound bool) field.ErrorList {
	if d.rules == nil {
		return nil
	}
	errs, _ := d.rules.Validate(context.Background(), nil, d.fields, content, nil, celconfig.RuntimeCELCostBudget)
	if sound {
		return errs
	}
	return slices.DeleteFunc(errs, func(e *field.Error) bool { return strings.Contains(e.Detail, " evaluating rule: ") })
}

// unknown finds the fields that the schema does not have.
func (d *definition) unknown(value any, at *schema.Structural, path string) (out []finding) {
	if at == nil || at.XPreserveUnknownFields {
		return nil
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			out = append(out, d.unknown(item, at.Items, fmt.Sprintf("%s[%d]", path, i))...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			out = append(out, d.unknownField(name, value[name], at, child(path, name))...)
		}
	}
	return out
}

func (d *definition) unknownField(name string, value any, at *schema.Structural, path string) []finding {
	if property, ok := at.Properties[name]; ok {
		return d.unknown(value, &property, path)
	}
	if more := at.AdditionalProperties; more != nil {
		return d.unknown(value, more.Structural, path)
	}
	if len(at.Properties) == 0 {
		return nil
	}
	return []finding{{path, "unknown field" + d.meant(name, at)}}
}

// meant suggests what an unknown field was meant to be: one of the same object,
// or one of that very name elsewhere.
func (d *definition) meant(name string, at *schema.Structural) string {
	if n := Nearest(name, slices.Sorted(maps.Keys(at.Properties))); n != "" {
		return "; did you mean " + n + "?"
	}
	if elsewhere := d.fieldsNamed(name, d.fields, ""); len(elsewhere) == 1 {
		return "; it belongs at " + elsewhere[0]
	}
	return "; remove it"
}

// fieldsNamed are the paths of all fields of a name.
func (d *definition) fieldsNamed(name string, at *schema.Structural, path string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(at.Properties)) {
		if path == "" && key == "status" {
			continue
		}
		property := at.Properties[key]
		if key == name {
			out = append(out, child(path, key))
		}
		out = append(out, d.fieldsNamed(name, &property, child(path, key))...)
	}
	if at.Items != nil {
		out = append(out, d.fieldsNamed(name, at.Items, path+"[]")...)
	}
	return out
}

// has reports whether the schema has a field at a path without indices.
func (d *definition) has(path string) bool {
	at := d.fields
	for name := range strings.SplitSeq(path, ".") {
		property, ok := at.Properties[name]
		if !ok {
			return false
		}
		at = &property
	}
	return true
}
