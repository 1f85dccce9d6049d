// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnotationAllowedNamespaces on a ProviderConfig, or on the Secret of one, lists the
// other namespaces whose objects may refer to it, separated by commas; * is all of
// them. Its own namespace always may.
const AnnotationAllowedNamespaces = Group + "/allowed-namespaces"

// AllowsNamespace reports whether objects of a namespace may refer to an object.
func AllowsNamespace(target metav1.Object, namespace string) bool {
	if target.GetNamespace() == namespace {
		return true
	}
	for allowed := range strings.SplitSeq(target.GetAnnotations()[AnnotationAllowedNamespaces], ",") {
		if allowed = strings.TrimSpace(allowed); allowed == "*" || allowed != "" && allowed == namespace {
			return true
		}
	}
	return false
}
