// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ProviderReference names a ProviderConfig.
type ProviderReference struct {
	// Name of the ProviderConfig.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace of the ProviderConfig; empty means that of the referring object.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// In returns the ProviderConfig that an object of the namespace refers to.
func (r ProviderReference) In(namespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: cmp.Or(r.Namespace, namespace), Name: r.Name}
}

// SecretReference names a Secret, and a key in it where a single one is meant.
type SecretReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace of the Secret; empty means that of the referring object.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Key within the Secret; empty means the provider's usual keys.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Key string `json:"key,omitempty"`
}

// In returns the Secret that an object of the namespace refers to. Without a
// reference its name is empty.
func (r *SecretReference) In(namespace string) types.NamespacedName {
	if r == nil {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: cmp.Or(r.Namespace, namespace), Name: r.Name}
}

// LocalReference names an object whose kind and namespace are given by the field.
type LocalReference struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// ProviderUser is an object that refers to a ProviderConfig.
// +kubebuilder:object:generate=false
type ProviderUser interface {
	metav1.Object
	// ProviderConfig returns the name of the ProviderConfig.
	ProviderConfig() types.NamespacedName
}

// ProviderConfig returns the name of the ProviderConfig that the cluster refers to.
func (c *ClusterBootstrap) ProviderConfig() types.NamespacedName {
	return c.Spec.ProviderRef.In(c.Namespace)
}

// ProviderConfig returns the name of the ProviderConfig that the request refers to.
func (m *MachineRequest) ProviderConfig() types.NamespacedName {
	return m.Spec.ProviderRef.In(m.Namespace)
}

// ProviderConfig returns the name of the ProviderConfig that the request refers to.
func (l *LoadBalancerRequest) ProviderConfig() types.NamespacedName {
	return l.Spec.ProviderConfigRef.In(l.Namespace)
}

// CredentialsSecret returns the name of the Secret with the credentials; it is empty
// where the ambient ones are used.
func (p *ProviderConfig) CredentialsSecret() types.NamespacedName {
	return p.Spec.CredentialsRef.In(p.Namespace)
}
