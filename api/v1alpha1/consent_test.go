// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "testing"

func TestAnObjectIsForItsOwnNamespaceUnlessItAllowsOthers(t *testing.T) {
	for annotation, want := range map[string]map[string]bool{
		"":        {"own": true, "a": false, "": false},
		"a":       {"own": true, "a": true, "b": false},
		"b, a ,c": {"own": true, "a": true, "aa": false},
		"*":       {"own": true, "a": true},
		"a*,,":    {"own": true, "a": false, "": false},
	} {
		target := &ProviderConfig{}
		target.Namespace, target.Annotations = "own", map[string]string{AnnotationAllowedNamespaces: annotation}
		for namespace, allowed := range want {
			if got := AllowsNamespace(target, namespace); got != allowed {
				t.Errorf("%q allows %q: %t", annotation, namespace, got)
			}
		}
	}
}
