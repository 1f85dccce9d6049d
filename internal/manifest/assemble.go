// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// assemble puts the objects of a file in their places, and finds what is
// missing, doubled or not referred to.
func assemble(objects []client.Object) (*Manifest, error) {
	m := &Manifest{}
	var problems []error
	for _, o := range objects {
		if !m.take(o) {
			problems = append(problems, fmt.Errorf("%T %s: only one object of this kind is expected", o, o.GetName()))
		}
	}
	if m.Cluster == nil {
		problems = append(problems, errors.New("there is no ClusterBootstrap"))
	}
	if m.Provider == nil {
		problems = append(problems, errors.New("there is no ProviderConfig; add the one that spec.providerRef names"))
	}
	if len(problems) == 0 {
		problems = m.references()
	}
	return m, errors.Join(problems...)
}

func (m *Manifest) take(o client.Object) bool {
	switch o := o.(type) {
	case *v1alpha1.ClusterBootstrap:
		first := m.Cluster == nil
		m.Cluster = o
		return first
	case *v1alpha1.ProviderConfig:
		first := m.Provider == nil
		m.Provider = o
		return first
	case *corev1.Secret:
		first := m.Secret == nil
		m.Secret = o
		return first
	}
	return false
}

func (m *Manifest) references() (problems []error) {
	want := types.NamespacedName{Namespace: m.Cluster.Spec.ProviderRef.Namespace, Name: m.Cluster.Spec.ProviderRef.Name}
	if want.Namespace == "" {
		want.Namespace = m.Cluster.Namespace
	}
	if have := client.ObjectKeyFromObject(m.Provider); have != want {
		problems = append(problems, fmt.Errorf("spec.providerRef names ProviderConfig %s, but the file has %s", want, have))
	}
	if a, b := m.Cluster.Spec.Provider, m.Provider.Spec.Provider; a != b {
		problems = append(problems, fmt.Errorf("the ClusterBootstrap is for provider %q, the ProviderConfig for %q", a, b))
	}
	credentials, referred := m.CredentialsKey()
	if m.Secret != nil && (!referred || client.ObjectKeyFromObject(m.Secret) != credentials) {
		problems = append(problems, fmt.Errorf("secret %s/%s is not the one that spec.credentialsRef names", m.Secret.Namespace, m.Secret.Name))
	}
	return problems
}

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
func (m *Manifest) Namespaces() []string {
	out := []string{m.Cluster.Namespace}
	credentials, _ := m.CredentialsKey()
	for _, n := range []string{m.Provider.Namespace, credentials.Namespace} {
		if n != "" && n != out[0] && n != out[len(out)-1] {
			out = append(out, n)
		}
	}
	return out
}
