// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package controllertest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Configure creates the Secret and the ProviderConfig of a Harvester.
func (f *Fixture) Configure() {
	f.Helper()
	f.Must(f.Create(f.Context(), f.Secret()))
	f.Must(f.Create(f.Context(), f.Config(v1alpha1.ProviderHarvester)))
}

// Secret returns the credentials of the platform.
func (f *Fixture) Secret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "credentials"},
		StringData: map[string]string{v1alpha1.KeyKubeconfig: "x"},
	}
}

// Config returns the ProviderConfig "config" of a Harvester or a Proxmox, with the
// credentials of Secret.
func (f *Fixture) Config(t v1alpha1.ProviderType) *v1alpha1.ProviderConfig {
	c := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "config"}}
	c.Spec.Provider = t
	c.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "credentials"}
	switch t {
	case v1alpha1.ProviderHarvester:
		c.Spec.Harvester = &v1alpha1.HarvesterSpec{NetworkName: "default/workloads"}
	case v1alpha1.ProviderProxmox:
		c.Spec.Proxmox = &v1alpha1.ProxmoxSpec{Endpoint: "https://pve.example", Nodes: []string{"a"}, Storage: "local"}
	default:
		f.Fatalf("no config for %s", t)
	}
	return c
}

// Bootstrap returns a ClusterBootstrap of the ProviderConfig, of a single node.
func (f *Fixture) Bootstrap(name, id string) *v1alpha1.ClusterBootstrap {
	cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{
		Namespace: f.Namespace, Name: name, Annotations: map[string]string{v1alpha1.AnnotationClusterID: id},
	}}
	cb.Spec.Provider, cb.Spec.ProviderRef.Name = v1alpha1.ProviderHarvester, "config"
	cb.Spec.Cluster = v1alpha1.ClusterSpec{
		Name: name, Topology: v1alpha1.TopologySingleNode,
		ControlPlane: v1alpha1.NodePool{Replicas: 1, CPU: 4, MemoryMB: 8192, DiskGB: 50},
	}
	cb.Spec.Network = v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", VIP: "10.40.0.100"}
	cb.Spec.Talos = v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: "abc"}
	return cb
}

// Nudge changes the Secret, which makes every request come up again.
func (f *Fixture) Nudge() {
	f.Helper()
	s := f.Secret()
	f.Must(f.Get(f.Context(), client.ObjectKeyFromObject(s), s))
	s.Annotations = map[string]string{"nudge": time.Now().String()}
	f.Must(f.Update(f.Context(), s))
}
