// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// gatesFlag is the argument that controllers take their gates from.
const gatesFlag = "--feature-gates="

// openGates sets gates to true in the arguments of a Deployment. Other objects are left alone.
func openGates(o *unstructured.Unstructured, gates []string) *unstructured.Unstructured {
	if len(gates) == 0 || o.GetKind() != "Deployment" {
		return o
	}
	path := []string{"spec", "template", "spec", "containers"}
	containers, _, _ := unstructured.NestedSlice(o.Object, path...)
	for _, c := range containers {
		if c, ok := c.(map[string]any); ok {
			args, _, _ := unstructured.NestedStringSlice(c, "args")
			_ = unstructured.SetNestedStringSlice(c, withGates(args, gates), "args")
		}
	}
	_ = unstructured.SetNestedSlice(o.Object, containers, path...)
	return o
}

// withGates returns the arguments with the gates opened. Without the flag it is added.
func withGates(args, gates []string) []string {
	i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, gatesFlag) })
	if i < 0 {
		args, i = append(args, gatesFlag), len(args)
	}
	set := strings.Split(strings.TrimPrefix(args[i], gatesFlag), ",")
	set = slices.DeleteFunc(set, func(gate string) bool {
		name, _, _ := strings.Cut(gate, "=")
		return name == "" || slices.Contains(gates, name)
	})
	for _, gate := range gates {
		set = append(set, gate+"=true")
	}
	args[i] = gatesFlag + strings.Join(set, ",")
	return args
}
