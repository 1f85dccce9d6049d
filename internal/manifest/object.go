// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// object is what a document describes, and all that is wrong with it. It is nil
// where that keeps it from being one.
func (d *document) object() (client.Object, []Problem, error) {
	problems := d.doubled(d.root, "")
	o, problem := d.newObject()
	if problem != nil {
		return nil, append(problems, *problem), nil
	}
	findings, err := d.check(o)
	if err != nil {
		return nil, nil, err
	}
	if err := d.decode(o); err != nil {
		if len(findings) == 0 {
			findings = append(findings, finding{"", err.Error()})
		}
		o = nil
	} else {
		findings = append(findings, checkMeta(o)...)
	}
	for _, f := range findings {
		problems = append(problems, Problem{Line: d.locate(f.field), Field: f.field, Message: f.message})
	}
	return o, problems, nil
}

// check holds the content to its kind.
func (d *document) check(o client.Object) ([]finding, error) {
	meta, _ := d.content["metadata"].(map[string]any)
	findings := unknownFields(meta, reflect.TypeFor[metav1.ObjectMeta](), "metadata")
	for _, block := range []string{"labels", "annotations"} {
		findings = append(findings, noText(meta[block], "metadata."+block)...)
	}
	if _, ok := o.(*corev1.Secret); ok {
		return append(findings, d.checkSecret()...), nil
	}
	definition, err := definitionOf(d.text("kind"))
	if err != nil {
		return nil, err
	}
	d.referToCredentials()
	return append(findings, definition.check(d.content)...), nil
}

// referToCredentials makes an on-premises ProviderConfig that names no credentials refer
// to a Secret of its own: the API needs one, and butleradm creates it.
func (d *document) referToCredentials() {
	spec, _ := d.content["spec"].(map[string]any)
	meta, _ := d.content["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	platform, _ := spec["provider"].(string)
	if d.text("kind") == "ProviderConfig" && v1alpha1.ProviderType(platform).OnPrem() && spec["credentialsRef"] == nil && name != "" {
		spec["credentialsRef"] = map[string]any{"name": credentialsName(name)}
	}
}

// checkSecret never repeats what a Secret holds.
func (d *document) checkSecret() []finding {
	out := unknownFields(d.content, reflect.TypeFor[corev1.Secret](), "")
	for _, block := range []string{"data", "stringData"} {
		values, _ := d.content[block].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			for _, why := range validation.IsConfigMapKey(key) {
				out = append(out, finding{block + "." + key, why})
			}
		}
		out = append(out, noText(d.content[block], block)...)
	}
	return append(out, d.noBase64()...)
}

// noText finds the values of a map that are no text.
func noText(block any, path string) (out []finding) {
	values, _ := block.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if _, ok := values[key].(string); !ok {
			out = append(out, finding{child(path, key), "must be text; put it in quotes"})
		}
	}
	return out
}

// noBase64 finds the values of a Secret's data that are not encoded.
func (d *document) noBase64() (out []finding) {
	values, _ := d.content["data"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text, _ := values[key].(string)
		if _, err := base64.StdEncoding.DecodeString(text); err != nil {
			out = append(out, finding{child("data", key), "must be base64; put plain text below stringData"})
		}
	}
	return out
}

// unknownFields returns the fields that a Go type does not have.
func unknownFields(content map[string]any, of reflect.Type, path string) (out []finding) {
	known := jsonNames(of)
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if slices.Contains(known, name) {
			continue
		}
		message := "unknown field; remove it"
		if n := Nearest(name, known); n != "" {
			message = "unknown field; did you mean " + n + "?"
		}
		out = append(out, finding{child(path, name), message})
	}
	return out
}

func jsonNames(of reflect.Type) (out []string) {
	for f := range of.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && strings.Contains(options, "inline") {
			out = append(out, jsonNames(f.Type)...)
		} else if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// checkMeta fills in the namespace and holds names and labels to what
// Kubernetes takes.
func checkMeta(o client.Object) (out []finding) {
	if o.GetNamespace() == "" {
		o.SetNamespace(Namespace)
	}
	if o.GetGenerateName() != "" {
		out = append(out, finding{"metadata.generateName", "has no effect here; set metadata.name"})
		o.SetGenerateName("")
	}
	out = append(out, reserved(o)...)
	if o.GetName() == "" {
		return append(out, finding{"metadata.name", "is missing, but required"})
	}
	meta, ok := o.(metav1.ObjectMetaAccessor)
	if !ok {
		return out
	}
	for _, e := range apivalidation.ValidateObjectMetaAccessor(meta.GetObjectMeta(), true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata")) {
		out = append(out, finding{e.Field, quote(e) + "is invalid: " + e.Detail})
	}
	return out
}

// reserved finds annotations of a live object that were copied with it. With the
// id of another cluster this one would take that one's machines for its own.
func reserved(o client.Object) (out []finding) {
	const inCharge, given = " says which plane is in charge, and only butleradm sets it; remove it", " is given by the controllers, once; remove it"
	for _, a := range []struct{ key, why string }{
		{v1alpha1.AnnotationClusterID, given}, {v1alpha1.AnnotationOwnerID, given}, {v1alpha1.AnnotationClaimedBy, given},
		{v1alpha1.AnnotationPlane, inCharge}, {v1alpha1.AnnotationEpoch, inCharge}, {v1alpha1.AnnotationFenced, inCharge},
	} {
		if _, set := o.GetAnnotations()[a.key]; set {
			out = append(out, finding{"metadata.annotations", a.key + a.why})
		}
	}
	return out
}

// kinds that belong into a manifest.
func kinds() map[metav1.TypeMeta]client.Object {
	group := v1alpha1.GroupVersion().String()
	return map[metav1.TypeMeta]client.Object{
		{APIVersion: group, Kind: "ClusterBootstrap"}: &v1alpha1.ClusterBootstrap{},
		{APIVersion: group, Kind: "ProviderConfig"}:   &v1alpha1.ProviderConfig{},
		{APIVersion: group, Kind: "NetworkPool"}:      &v1alpha1.NetworkPool{},
		{APIVersion: "v1", Kind: "Secret"}:            &corev1.Secret{},
	}
}

func (d *document) newObject() (client.Object, *Problem) {
	given := metav1.TypeMeta{APIVersion: d.text("apiVersion"), Kind: d.text("kind")}
	if o, ok := kinds()[given]; ok {
		return o, nil
	}
	if given.Kind == "" {
		return nil, &Problem{Line: d.start(), Field: "kind", Message: "is missing, but required; it is ClusterBootstrap, ProviderConfig, NetworkPool or Secret"}
	}
	field := "kind"
	message := fmt.Sprintf("a %q of %q is not allowed in a manifest, which holds a ClusterBootstrap and a ProviderConfig, and optionally NetworkPools, of %s, and optionally Secrets of v1",
		given.Kind, given.APIVersion, v1alpha1.GroupVersion())
	for known := range kinds() {
		switch {
		case given.Kind == known.Kind:
			field, message = "apiVersion", fmt.Sprintf("is %q, but a %s is of %s", given.APIVersion, known.Kind, known.APIVersion)
		case Nearest(given.Kind, []string{known.Kind}) != "":
			message = fmt.Sprintf("there is no %q; did you mean %s?", given.Kind, known.Kind)
		}
	}
	return nil, &Problem{Line: d.locate(field), Field: field, Message: message}
}
