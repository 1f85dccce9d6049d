// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// tenantOn is a TenantCluster that names a ProviderConfig.
func tenantOn(provider string) *v1alpha1.TenantCluster {
	tc := addresses()[2].(*v1alpha1.TenantCluster)
	tc.Name = "web"
	tc.Spec.ProviderConfigRef = &v1alpha1.TenantProviderReference{Name: provider, Namespace: "butler-system"}
	return tc
}

// TestAPlatformThatCannotServeATenantIsRefused creates ProviderConfigs of several platforms, of which
// each tenant cluster is about one.
func TestAPlatformThatCannotServeATenantIsRefused(t *testing.T) {
	c := connect(t)
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "butler-system"}}); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	pools := &v1alpha1.ProviderNetworkSpec{Mode: v1alpha1.NetworkModeIPAM, PoolRefs: []v1alpha1.NetworkPoolReference{{Name: "a"}}}
	pve := &v1alpha1.ProxmoxSpec{Endpoint: "https://pve.example.com:8006", Nodes: []string{"pve1"}, Storage: "local"}
	for name, spec := range map[string]v1alpha1.ProviderConfigSpec{
		"harvester": {Provider: v1alpha1.ProviderHarvester, Harvester: &v1alpha1.HarvesterSpec{NetworkName: "default/vms"}},
		"gcp":       {Provider: v1alpha1.ProviderGCP, GCP: &v1alpha1.GCPSpec{ProjectID: "example-1", Region: "europe-west3"}},
		"proxmox":   {Provider: v1alpha1.ProviderProxmox, Proxmox: pve},
		"pools":     {Provider: v1alpha1.ProviderProxmox, Proxmox: pve, Network: pools},
	} {
		spec.CredentialsRef = &v1alpha1.SecretReference{Name: "a"}
		if err := c.Create(t.Context(), &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "butler-system", Name: name}, Spec: spec}); err != nil {
			t.Fatal(err)
		}
	}
	size := func(tc *v1alpha1.TenantCluster) { tc.Spec.Networking.LBPoolSize = 2 }
	balancer := func(tc *v1alpha1.TenantCluster) { tc.Spec.Addons.LoadBalancer = &v1alpha1.TenantLoadBalancerSpec{} }
	addressed := func(tc *v1alpha1.TenantCluster) {
		balancer(tc)
		tc.Spec.Networking.LoadBalancerPool = &v1alpha1.AddressRange{Start: "10.40.0.50", End: "10.40.0.60"}
	}
	zone := func(tc *v1alpha1.TenantCluster) {
		tc.Spec.InfrastructureOverride = &v1alpha1.InfrastructureOverrideSpec{GCP: &v1alpha1.GCPOverride{Zone: "europe-west3-a"}}
	}
	for _, tc := range []struct {
		reason, provider string
		edit             func(*v1alpha1.TenantCluster)
		want             string // part of the message; empty: accepted
	}{
		{reason: "a block of another platform", provider: "harvester", edit: zone, want: "infrastructureOverride.gcp: ProviderConfig harvester is for harvester"},
		{reason: "nothing special", provider: "harvester"},
		{reason: "a block of the platform", provider: "gcp", edit: zone},
		{reason: "Proxmox without pools", provider: "proxmox", want: "set network.mode ipam and network.poolRefs of ProviderConfig proxmox"},
		{reason: "Proxmox with pools", provider: "pools"},
		{reason: "addresses in a cloud", provider: "gcp", edit: addressed, want: "gcp has some; remove them"},
		{reason: "a load balancer in a cloud", provider: "gcp", edit: balancer},
		{reason: "addresses of pools, without pools", provider: "harvester", edit: size, want: "which ProviderConfig harvester has none of"},
		{reason: "addresses of pools", provider: "pools", edit: size},
		{reason: "a load balancer without addresses", provider: "harvester", edit: balancer, want: "needs a range of addresses"},
		{reason: "a load balancer with addresses", provider: "harvester", edit: addressed},
		{reason: "a ProviderConfig that does not exist yet", provider: "later", edit: zone},
	} {
		expect(t, c, tc.reason, tenantOn(tc.provider), tc.edit, tc.want)
	}
}

// expect waits until the API server refuses an edited object with a message, or accepts it: it
// sees policies and their parameters a moment after they are written.
func expect(t *testing.T, c client.Client, reason string, o *v1alpha1.TenantCluster, edit func(*v1alpha1.TenantCluster), want string) {
	t.Helper()
	if edit != nil {
		edit(o)
	}
	await(t, reason, func() bool {
		err := c.Create(t.Context(), o.DeepCopy(), client.DryRunAll)
		if want == "" {
			return err == nil
		}
		return err != nil && strings.Contains(err.Error(), want)
	})
}

// TestKubernetesThatTheTalosOfWorkersDoesNotRunIsRefused holds the rule of the policy against what
// the controller finds out with Talos' own tables.
func TestKubernetesThatTheTalosOfWorkersDoesNotRunIsRefused(t *testing.T) {
	c := connect(t)
	for minor := 7; minor <= 13; minor++ {
		for kubernetes := minor + 16; kubernetes <= minor+25; kubernetes++ {
			tc := tenantOn("later")
			tc.Spec.KubernetesVersion = fmt.Sprintf("v1.%d.1", kubernetes)
			tc.Spec.Workers.MachineTemplate.OS.Talos.Version = fmt.Sprintf("v1.%d.3", minor)
			_, err := talos.KubernetesVersion(tc.Spec.Workers.MachineTemplate.OS.Talos.Version, tc.Spec.KubernetesVersion)
			want := ""
			if err != nil {
				want = fmt.Sprintf("runs Kubernetes v1.%d to v1.%d;", minor+18, minor+23)
			}
			expect(t, c, fmt.Sprintf("Kubernetes %s on Talos 1.%d", tc.Spec.KubernetesVersion, minor), tc, nil, want)
		}
	}
}

// TestAnUpgradeThatTalosDoesNotRunIsRefused changes a cluster that exists; other changes pass.
func TestAnUpgradeThatTalosDoesNotRunIsRefused(t *testing.T) {
	c := connect(t)
	tc := tenantOn("later")
	tc.Name = "upgraded"
	if err := c.Create(t.Context(), tc); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ kubernetes, talos, want string }{
		{"v1.33.0", "v1.9.3", "Talos v1.9.3 of the workers runs Kubernetes v1.27 to v1.32;"},
		{"v1.33.0", "v1.10.0", ""},
		{"v1.33.0", "v1.9.3", "runs Kubernetes v1.27 to v1.32;"},
	} {
		await(t, fmt.Sprint(step), func() bool {
			next := tc.DeepCopy()
			next.Spec.KubernetesVersion, next.Spec.Workers.MachineTemplate.OS.Talos.Version = step.kubernetes, step.talos
			err := c.Patch(t.Context(), next, client.MergeFrom(tc))
			if step.want != "" {
				return err != nil && strings.Contains(err.Error(), step.want)
			}
			if err == nil {
				tc = next
			}
			return err == nil
		})
	}
	before := tc.DeepCopy()
	tc.Spec.Workers.Replicas = 3
	if err := c.Patch(t.Context(), tc, client.MergeFrom(before)); err != nil {
		t.Errorf("another change: %v", err)
	}
}
