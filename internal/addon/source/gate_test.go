// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestGatesAreOpenedWhateverTheComponentsSay(t *testing.T) {
	for reason, c := range map[string]struct{ args, want []any }{
		"closed":   {[]any{"--leader-elect", "--feature-gates=A=false,Skip=false"}, []any{"--leader-elect", "--feature-gates=A=false,Skip=true"}},
		"open":     {[]any{"--feature-gates=Skip=true"}, []any{"--feature-gates=Skip=true"}},
		"no gates": {[]any{"--leader-elect"}, []any{"--leader-elect", "--feature-gates=Skip=true"}},
	} {
		o := deployment(c.args)
		got, _, err := unstructured.NestedSlice(openGates(o, []string{"Skip"}).Object, "spec", "template", "spec", "containers")
		if diff := cmp.Diff([]any{map[string]any{"name": "manager", "args": c.want}}, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", reason, err, diff)
		}
	}
}

func TestOnlyDeploymentsOfProvidersWithGatesAreChanged(t *testing.T) {
	args := []any{"--feature-gates=Skip=false"}
	other := deployment(args)
	other.SetKind("DaemonSet")
	for reason, o := range map[string]*unstructured.Unstructured{
		"no gates": openGates(deployment(args), nil), "another kind": openGates(other, []string{"Skip"}),
	} {
		got, _, err := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		if diff := cmp.Diff([]any{map[string]any{"name": "manager", "args": args}}, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", reason, err, diff)
		}
	}
}

func deployment(args []any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"kind": "Deployment",
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "manager", "args": args}}}}},
	}}
}
