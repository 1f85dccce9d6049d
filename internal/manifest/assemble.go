// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// references finds objects that do not refer to each other.
func references(m *Manifest) (problems []Problem) {
	want := types.NamespacedName{Namespace: m.Cluster.Spec.ProviderRef.Namespace, Name: m.Cluster.Spec.ProviderRef.Name}
	if want.Namespace == "" {
		want.Namespace = m.Cluster.Namespace
	}
	if have := client.ObjectKeyFromObject(m.Provider); have != want && want.Name != "" && have.Name != "" {
		problems = append(problems, m.At(m.Cluster, "spec.providerRef", fmt.Sprintf("names ProviderConfig %s, but the file has %s", want, have)))
	}
	if a, b := m.Cluster.Spec.Provider, m.Provider.Spec.Provider; a != b && a != "" && b != "" {
		problems = append(problems, m.At(m.Cluster, "spec.provider", fmt.Sprintf("is %q, but the ProviderConfig is for %q", a, b)))
	}
	if scope := m.Provider.Spec.Scope; scope != nil && scope.Type == v1alpha1.ScopeTeam {
		problems = append(problems, m.At(m.Provider, "spec.scope.type", "is team, but a management cluster needs a ProviderConfig of scope platform"))
	}
	credentials, referred := m.CredentialsKey()
	switch {
	case m.Secret == nil:
	case !referred:
		problems = append(problems, m.At(m.Secret, "metadata.name", fmt.Sprintf("nothing refers to Secret %s; name it in spec.credentialsRef of the ProviderConfig", m.Secret.Name)))
	case client.ObjectKeyFromObject(m.Secret) != credentials:
		problems = append(problems, m.At(m.Secret, "metadata.name", fmt.Sprintf("secret %s is not the one that spec.credentialsRef of the ProviderConfig names: %s", client.ObjectKeyFromObject(m.Secret), credentials)))
	}
	return problems
}

// values finds what the schema cannot say.
func values(m *Manifest) []Problem { return m.Told(m.Cluster, m.Cluster.Spec.Validate()) }

// CredentialsKey is the Secret that the ProviderConfig refers to, if any.
func (m *Manifest) CredentialsKey() (types.NamespacedName, bool) {
	ref := m.Provider.Spec.CredentialsRef
	if ref == nil {
		return types.NamespacedName{}, false
	}
	key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	if key.Namespace == "" {
		key.Namespace = m.Provider.Namespace
	}
	return key, true
}

// Namespaces are those that the objects live in.
func (m *Manifest) Namespaces() (out []string) {
	credentials, _ := m.CredentialsKey()
	for _, n := range []string{m.Cluster.Namespace, m.Provider.Namespace, credentials.Namespace} {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
