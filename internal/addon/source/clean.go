// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/base64"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// clean removes from an object what releases contain and API servers do not
// accept. It also removes fields that only a cluster may set.
func clean(o *unstructured.Unstructured) {
	unstructured.RemoveNestedField(o.Object, "status")
	unstructured.RemoveNestedField(o.Object, "metadata", "creationTimestamp")
	if o.GetKind() != "CustomResourceDefinition" {
		return
	}
	withoutBlankCA(o)
	withoutDoubleRules(o.Object)
}

// withoutBlankCA removes a certificate authority that only holds a place: a
// definition with it is not served before another one is injected, and what is
// injected would be taken back whenever the object is applied.
func withoutBlankCA(o *unstructured.Unstructured) {
	path := []string{"spec", "conversion", "webhook", "clientConfig", "caBundle"}
	bundle, _, _ := unstructured.NestedString(o.Object, path...)
	if decoded, err := base64.StdEncoding.DecodeString(bundle); err == nil && strings.TrimSpace(string(decoded)) == "" {
		unstructured.RemoveNestedField(o.Object, path...)
	}
}

// withoutDoubleRules removes rules of a schema that are there twice: they are
// distinguished by their text when an object is applied.
func withoutDoubleRules(node any) {
	switch n := node.(type) {
	case map[string]any:
		if rules, ok := n["x-kubernetes-validations"].([]any); ok {
			n["x-kubernetes-validations"] = distinct(rules)
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

func distinct(rules []any) []any {
	seen := map[any]bool{}
	return slices.DeleteFunc(rules, func(r any) bool {
		fields, ok := r.(map[string]any)
		if !ok {
			return false
		}
		text := fields["rule"]
		twice := seen[text]
		seen[text] = true
		return twice
	})
}
