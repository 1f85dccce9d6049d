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
	want := m.Cluster.ProviderConfig()
	if have := client.ObjectKeyFromObject(m.Provider); have != want && want.Name != "" && have.Name != "" {
		problems = append(problems, m.At(m.Cluster, "spec.providerRef", fmt.Sprintf("names ProviderConfig %s, but the file has %s", want, have)))
	}
	if a, b := m.Cluster.Spec.Provider, m.Provider.Spec.Provider; a != b && a != "" && b != "" {
		problems = append(problems, m.At(m.Cluster, "spec.provider", fmt.Sprintf("is %q, but the ProviderConfig is for %q", a, b)))
	}
	if scope := m.Provider.Spec.Scope; scope != nil && scope.Type == v1alpha1.ScopeTeam {
		problems = append(problems, m.At(m.Provider, "spec.scope.type", "is team, but a management cluster needs a ProviderConfig of scope platform"))
	}
	if !v1alpha1.AllowsNamespace(m.Provider, m.Cluster.Namespace) {
		problems = append(problems, m.At(m.Provider, "metadata.annotations", notAllowed(m.Cluster.Namespace)))
	}
	problems = append(problems, m.checkPools()...)
	problems = append(problems, m.placeSecrets()...)
	if m.Secret != nil && !v1alpha1.AllowsNamespace(m.Secret, m.Provider.Namespace) {
		problems = append(problems, m.At(m.Secret, "metadata.annotations", notAllowed(m.Provider.Namespace)))
	}
	return problems
}

// checkPools finds NetworkPools that nothing refers to. One that the ProviderConfig refers to
// and the file lacks may be on the plane already.
func (m *Manifest) checkPools() (problems []Problem) {
	seen := map[string]bool{}
	for _, p := range m.Pools {
		switch {
		case seen[p.Name]:
			problems = append(problems, m.At(p, "metadata.name", "this is a second NetworkPool "+p.Name))
		case p.Namespace != m.Cluster.Namespace:
			problems = append(problems, m.At(p, "metadata.namespace", fmt.Sprintf("is %s, but the ClusterBootstrap is in %s; NetworkPools are used in their own namespace", p.Namespace, m.Cluster.Namespace)))
		case !m.refersTo(p.Name):
			problems = append(problems, m.At(p, "metadata.name", fmt.Sprintf("nothing refers to NetworkPool %s; name it in spec.network.poolRefs of the ProviderConfig, and set spec.network.mode to ipam", p.Name)))
		}
		seen[p.Name] = true
	}
	if n := m.Provider.Spec.Network; n.IPAM() && m.Provider.Namespace != m.Cluster.Namespace {
		problems = append(problems, m.At(m.Provider, "metadata.namespace", fmt.Sprintf("is %s, but the ClusterBootstrap is in %s; a ProviderConfig with NetworkPools is used in its own namespace", m.Provider.Namespace, m.Cluster.Namespace)))
	}
	return problems
}

// refersTo reports whether the ProviderConfig refers to a NetworkPool.
func (m *Manifest) refersTo(pool string) bool {
	n := m.Provider.Spec.Network
	return n != nil && slices.ContainsFunc(n.PoolRefs, func(r v1alpha1.NetworkPoolReference) bool { return r.Name == pool })
}

// placeSecrets gives each Secret of the file to what refers to it.
func (m *Manifest) placeSecrets() (problems []Problem) {
	credentials, referred := m.CredentialsKey()
	seen := map[types.NamespacedName]bool{}
	for _, s := range m.secrets {
		key := client.ObjectKeyFromObject(s)
		switch {
		case seen[key]:
			problems = append(problems, m.At(s, "metadata.name", fmt.Sprintf("this is a second Secret %s", key)))
		case referred && key == credentials:
			m.Secret = s
		case slices.Contains(m.addonKeys(), key):
			m.Others = append(m.Others, s)
		case !referred:
			problems = append(problems, m.At(s, "metadata.name", fmt.Sprintf("nothing refers to Secret %s; name it in spec.credentialsRef of the ProviderConfig", s.Name)))
		default:
			problems = append(problems, m.At(s, "metadata.name", fmt.Sprintf("secret %s is not the one that spec.credentialsRef of the ProviderConfig names: %s; nor does spec.addons.capi.infrastructureProviders or spec.registries name it", key, credentials)))
		}
		seen[key] = true
	}
	return problems
}

// addonKeys are the Secrets that addons and registries of the cluster refer to.
func (m *Manifest) addonKeys() (out []types.NamespacedName) {
	for _, p := range m.Cluster.Spec.Addons.CAPI.InfrastructureProviders {
		if ref := p.CredentialsSecretRef; ref != nil {
			out = append(out, ref.In(m.Cluster.Namespace))
		}
	}
	for _, r := range m.Cluster.Spec.Registries {
		out = append(out, types.NamespacedName{Namespace: m.Cluster.Namespace, Name: r.SecretRef.Name})
	}
	return out
}

// notAllowed says how an object allows references from another namespace.
func notAllowed(namespace string) string {
	return fmt.Sprintf("do not allow namespace %s to refer to it; add %s: %s", namespace, v1alpha1.AnnotationAllowedNamespaces, namespace)
}

// values finds what the schema cannot say.
func values(m *Manifest) []Problem { return m.ProblemsIn(m.Cluster, m.Cluster.Spec.Validate()) }

// CredentialsKey is the Secret that the ProviderConfig refers to, if any.
func (m *Manifest) CredentialsKey() (types.NamespacedName, bool) {
	return m.Provider.CredentialsSecret(), m.Provider.Spec.CredentialsRef != nil
}

// ReferToCredentials sets the reference of the ProviderConfig to a Secret of its own, unless it
// names one: credentials of the environment are not to be used.
func (m *Manifest) ReferToCredentials() {
	if m.Provider.Spec.CredentialsRef == nil {
		m.Provider.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: credentialsName(m.Provider.Name)}
	}
}

func credentialsName(config string) string { return config + "-credentials" }

// Namespaces are those that the objects live in.
func (m *Manifest) Namespaces() (out []string) {
	credentials, _ := m.CredentialsKey()
	all := []string{m.Cluster.Namespace, m.Provider.Namespace, credentials.Namespace}
	for _, s := range m.Others {
		all = append(all, s.Namespace)
	}
	for _, n := range all {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
