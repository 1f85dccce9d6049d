// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// pools gives the ProviderConfig of the test a pool, which may not exist yet.
func (f *fixture) pools(how func(*v1alpha1.ProviderConfigSpec)) {
	f.Helper()
	f.Await(func() error {
		p := &v1alpha1.ProviderConfig{}
		if err := f.Get(f.Context(), client.ObjectKey{Namespace: platformNamespace, Name: f.Namespace}, p); err != nil {
			return err
		}
		if p.Spec.Network == nil {
			p.Spec.Network = &v1alpha1.ProviderNetworkSpec{Mode: v1alpha1.NetworkModeIPAM, PoolRefs: []v1alpha1.NetworkPoolReference{{Name: f.Namespace}}}
		}
		how(&p.Spec)
		return f.Update(f.Context(), p)
	})
}

// pool creates the NetworkPool of the test, or changes its range.
func (f *fixture) pool(cidr, start, end string) {
	f.Helper()
	p := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: f.Namespace}}
	spec := v1alpha1.NetworkPoolSpec{CIDR: cidr, TenantAllocation: &v1alpha1.TenantAllocation{Start: start, End: end}}
	f.Await(func() error {
		if err := f.Get(f.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			p.Spec = spec
			return f.Create(f.Context(), p)
		}
		p.Spec = spec
		return f.Update(f.Context(), p)
	})
}

// ranges are the addresses that a tenant's status lists, by type.
func ranges(tc *v1alpha1.TenantCluster, kind v1alpha1.IPAllocationType) (out []string) {
	for _, a := range ofType(tc.Status.Allocations, kind) {
		out = append(out, a.StartAddress+"-"+a.EndAddress)
	}
	return out
}

func lacks(reason string) func(*v1alpha1.TenantCluster) bool {
	return func(tc *v1alpha1.TenantCluster) bool {
		c := condition(tc, v1alpha1.ConditionNetworkReady)
		return c.Status == metav1.ConditionFalse && c.Reason == reason
	}
}

func (f *fixture) service(name, address string) {
	f.Helper()
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name}}
	s.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}
	f.Must(f.Create(f.Context(), s))
	if address != "" {
		s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: address}}
		f.Must(f.Status().Update(f.Context(), s))
	}
}

// nudge has the controller look at a tenant.
func (f *fixture) nudge(tc *v1alpha1.TenantCluster) {
	f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Annotations["test"] = time.Now().String() })
}

// TestLoadBalancersGrowOnDemandUpToTheQuota follows the range of a tenant's load balancers from
// its first addresses to the quota, beyond it when that is raised, and to its release, which
// comes after that of the workers.
func TestLoadBalancersGrowOnDemandUpToTheQuota(t *testing.T) {
	f := newFixture(t)
	most := int32(2)
	f.pools(func(p *v1alpha1.ProviderConfigSpec) {
		p.Network.LoadBalancer = &v1alpha1.ProviderLoadBalancerSpec{AllocationMode: v1alpha1.AllocationElastic, InitialPoolSize: 1, GrowthIncrement: 2}
		p.Network.QuotaPerTenant = &v1alpha1.TenantQuotaSpec{MaxLoadBalancerIPs: &most}
	})
	f.pool("10.71.0.0/24", "10.71.0.10", "10.71.0.13")
	tc := f.tenant()
	tc.Spec.Addons.LoadBalancer = &v1alpha1.TenantLoadBalancerSpec{}
	tc = f.ready(tc)
	expectRanges := func(want ...string) {
		t.Helper()
		tc = f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
			return slices.Equal(ranges(tc, v1alpha1.IPAllocationLoadBalancer), want)
		})
		f.Await(func() error { return f.metalLBHas(want) })
	}
	expectRanges("10.71.0.10-10.71.0.10")
	f.service("a", "10.71.0.10")
	f.service("b", "")
	f.nudge(tc)
	f.until(tc, isReady)
	expectRanges("10.71.0.10-10.71.0.10") // the Service may get its address any moment
	f.ahead.Store(int64(demandAfter))
	f.nudge(tc)
	expectRanges("10.71.0.10-10.71.0.10", "10.71.0.11-10.71.0.11") // the increment is 2, the quota 2
	f.Must(f.Delete(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "b"}}))
	f.service("b", "10.71.0.11")
	f.service("c", "") // it is watched
	tc = f.until(tc, lacks(reasonAddressQuota))
	if !isTrue(tc, v1alpha1.ConditionReady) || !strings.Contains(condition(tc, v1alpha1.ConditionNetworkReady).Message, "need 3 addresses") {
		t.Errorf("%v", conditionsOf(tc))
	}
	most = 5
	f.pools(func(p *v1alpha1.ProviderConfigSpec) { p.Network.QuotaPerTenant.MaxLoadBalancerIPs = &most })
	expectRanges("10.71.0.10-10.71.0.10", "10.71.0.11-10.71.0.11", "10.71.0.12-10.71.0.13")
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return isTrue(tc, v1alpha1.ConditionNetworkReady) })
	f.releasedLast(tc, "10.71.0.10")
}

func (f *fixture) metalLBHas(want []string) error {
	pool := &unstructured.Unstructured{}
	pool.SetAPIVersion("metallb.io/v1beta1")
	pool.SetKind("IPAddressPool")
	if err := f.Get(f.Context(), client.ObjectKey{Namespace: "metallb-system", Name: "default"}, pool); err != nil {
		return err
	}
	has, _, _ := unstructured.NestedStringSlice(pool.Object, "spec", "addresses")
	if diff := cmp.Diff(want, has); diff != "" {
		return fmt.Errorf("MetalLB has other addresses: %s", diff)
	}
	return nil
}

// releasedLast deletes a tenant whose machines are held, and wants its addresses until these
// are gone.
func (f *fixture) releasedLast(tc *v1alpha1.TenantCluster, address string) {
	f.Helper()
	f.player.set(func(p *player) { p.held = true })
	f.Must(f.Delete(f.Context(), tc))
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return strings.Contains(condition(tc, v1alpha1.ConditionReady).Message, machineFinalizer)
	})
	allocations := &v1alpha1.IPAllocationList{}
	f.Must(f.List(f.Context(), allocations, client.InNamespace(platformNamespace)))
	own := slices.DeleteFunc(allocations.Items, func(a v1alpha1.IPAllocation) bool {
		return a.Spec.TenantClusterRef == nil || a.Spec.TenantClusterRef.Name != tc.Name || a.DeletionTimestamp != nil
	})
	if len(own) != len(tc.Status.Allocations) {
		f.Errorf("%d of %d allocations are there while machines are", len(own), len(tc.Status.Allocations))
	}
	f.player.set(func(p *player) { p.held = false })
	f.Gone(tc)
	claim := &v1alpha1.AddressClaim{}
	f.Must(f.Get(f.Context(), client.ObjectKey{Name: address}, claim))
	if claim.Spec.ReleasedAt == nil {
		f.Errorf("%s is not released", address)
	}
}

// TestWorkersOnProxmoxHaveARangeOfTheirOwn fixes one by one what keeps a tenant from its
// addresses, and scales it beyond what the pool has.
func TestWorkersOnProxmoxHaveARangeOfTheirOwn(t *testing.T) {
	f := newFixture(t)
	f.onProxmox()
	tc := f.tenant()
	tc.Spec.Workers.MachineTemplate.OS.ImageRef = "9000"
	f.Must(f.Create(t.Context(), tc))
	f.until(tc, lacks("NetworkPoolMissing"))
	f.pool("10.72.0.0/24", "10.72.0.10", "10.72.0.11")
	now := f.until(tc, lacks("NetworkPoolTooSmall"))
	if now.Status.TenantNamespace != "" || len(now.Status.Allocations) > 0 {
		t.Errorf("%+v", now.Status)
	}
	most := int32(2)
	f.pools(func(p *v1alpha1.ProviderConfigSpec) {
		p.Network.QuotaPerTenant = &v1alpha1.TenantQuotaSpec{MaxNodeIPs: &most}
	})
	f.until(tc, lacks(reasonAddressQuota))
	f.pools(func(p *v1alpha1.ProviderConfigSpec) { p.Network.QuotaPerTenant = nil })
	f.pool("10.72.0.0/24", "10.72.0.10", "10.72.0.13")
	now = f.until(tc, isReady)
	if diff := cmp.Diff([]string{"10.72.0.10-10.72.0.12"}, f.ipv4Config(now)); diff != "" { // one more, for a rollout
		t.Error(diff)
	}
	f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.Replicas = 3 })
	f.Await(func() error {
		if diff := cmp.Diff([]string{"10.72.0.10-10.72.0.12", "10.72.0.13-10.72.0.13"}, f.ipv4Config(now)); diff != "" {
			return fmt.Errorf("addresses: %s", diff)
		}
		return nil
	})
	f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.Replicas = 4 })
	now = f.until(tc, lacks("NetworkPoolTooSmall"))
	if now.Status.Phase == v1alpha1.TenantPending || number(f.deployment(now), "spec", "replicas") != 4 {
		t.Errorf("phase %s: a cluster that runs is blocked by what it lacks", now.Status.Phase)
	}
	f.pool("10.72.0.0/24", "10.72.0.10", "10.72.0.20")
	now = f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return isReady(tc) && isTrue(tc, v1alpha1.ConditionNetworkReady) && len(tc.Status.Allocations) == 3
	})
	f.releasedLast(now, "10.72.0.10")
}

func (f *fixture) ipv4Config(tc *v1alpha1.TenantCluster) []string {
	f.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(proxmoxKind)
	f.Must(f.Get(f.Context(), client.ObjectKey{Namespace: tc.Status.TenantNamespace, Name: tc.Name}, o))
	out, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "ipv4Config", "addresses")
	return out
}

// onProxmox replaces the platform of the test.
func (f *fixture) onProxmox() {
	f.Helper()
	p := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: f.Namespace}}
	f.Must(f.Delete(f.Context(), p))
	f.Gone(p)
	secret := &corev1.Secret{ObjectMeta: p.ObjectMeta}
	f.Must(f.Get(f.Context(), client.ObjectKeyFromObject(secret), secret))
	secret.Data = map[string][]byte{v1alpha1.KeyToken: []byte("butler@pve!t"), v1alpha1.KeyTokenSecret: []byte("s")}
	f.Must(f.Update(f.Context(), secret))
	p = &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: f.Namespace}}
	p.Spec = v1alpha1.ProviderConfigSpec{
		Provider: v1alpha1.ProviderProxmox, CredentialsRef: &v1alpha1.SecretReference{Name: f.Namespace},
		Proxmox: &v1alpha1.ProxmoxSpec{Endpoint: "https://pve.example.com:8006", Nodes: []string{"pve1"}, Storage: "local-lvm"},
		Network: &v1alpha1.ProviderNetworkSpec{
			Mode: v1alpha1.NetworkModeIPAM, PoolRefs: []v1alpha1.NetworkPoolReference{{Name: f.Namespace}}, Gateway: "10.72.0.1", DNSServers: []string{"10.72.0.2"},
		},
	}
	f.Must(f.Create(f.Context(), p))
}

// sessionWith is one of a tenant with a load balancer on Harvester with pools.
func sessionWith(change func(*v1alpha1.TenantCluster, *v1alpha1.ProviderNetworkSpec)) *session {
	tc := &v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "t", Annotations: map[string]string{annotationNamespace: "t-1"}}}
	tc.Spec.Workers.Replicas = 3
	tc.Spec.Addons.LoadBalancer = &v1alpha1.TenantLoadBalancerSpec{}
	n := &v1alpha1.ProviderNetworkSpec{Mode: v1alpha1.NetworkModeIPAM}
	p := &v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderHarvester, Network: n}}
	change(tc, n)
	return &session{TenantCluster: tc, provider: p}
}

// TestSizesAndRangesOfLoadBalancers has a row for each way to say how many addresses there are.
func TestSizesAndRangesOfLoadBalancers(t *testing.T) {
	elastic := &v1alpha1.ProviderLoadBalancerSpec{AllocationMode: v1alpha1.AllocationElastic, InitialPoolSize: 3, DefaultPoolSize: 5}
	for reason, tc := range map[string]struct {
		change func(*v1alpha1.TenantCluster, *v1alpha1.ProviderNetworkSpec)
		want   uint64
		pinned string
	}{
		"nothing is said": {func(*v1alpha1.TenantCluster, *v1alpha1.ProviderNetworkSpec) {}, 8, ""},
		"that of the platform": {func(_ *v1alpha1.TenantCluster, n *v1alpha1.ProviderNetworkSpec) {
			n.LoadBalancer = &v1alpha1.ProviderLoadBalancerSpec{DefaultPoolSize: 5}
		}, 5, ""},
		"elastic": {func(_ *v1alpha1.TenantCluster, n *v1alpha1.ProviderNetworkSpec) { n.LoadBalancer = elastic }, 3, ""},
		"the tenant's own": {func(tc *v1alpha1.TenantCluster, n *v1alpha1.ProviderNetworkSpec) {
			n.LoadBalancer, tc.Spec.Networking.LBPoolSize = elastic, 4
		}, 4, ""},
		"addresses by name": {func(tc *v1alpha1.TenantCluster, _ *v1alpha1.ProviderNetworkSpec) {
			tc.Spec.Networking.LoadBalancerPool = &v1alpha1.AddressRange{Start: "10.0.0.1", End: "10.0.0.6"}
		}, 6, "10.0.0.1-10.0.0.6"},
	} {
		t.Run(reason, func(t *testing.T) {
			s := sessionWith(tc.change)
			all := s.blocks()
			if len(all) != 1 || all[0].want != tc.want || (all[0].pinned == nil) != (tc.pinned == "") || tc.pinned != "" && all[0].pinned.String() != tc.pinned {
				t.Errorf("%+v", all)
			}
			missing, o := s.missing(all[0], nil)
			if len(missing) != 1 || o != nil || missing[0].Name != "t-1-lb" || missing[0].Count != tc.want {
				t.Errorf("%+v, %+v", missing, o)
			}
		})
	}
}

// TestWhatATenantHasItKeeps: no lower size or quota takes addresses away, lost objects come
// back with their addresses, and named ones do not change.
func TestWhatATenantHasItKeeps(t *testing.T) {
	has := func(tc *v1alpha1.TenantCluster) {
		tc.Status.Allocations = []v1alpha1.TenantAddresses{{Name: "t-1-lb", Type: v1alpha1.IPAllocationLoadBalancer, Pool: "p", StartAddress: "10.0.0.1", EndAddress: "10.0.0.4"}}
	}
	first := &v1alpha1.IPAllocation{ObjectMeta: metav1.ObjectMeta{Name: "t-1-lb"}, Spec: v1alpha1.IPAllocationSpec{Count: 4}}
	one := int32(1)
	for reason, tc := range map[string]struct {
		change func(*v1alpha1.TenantCluster, *v1alpha1.ProviderNetworkSpec)
		have   []*v1alpha1.IPAllocation
		want   []string // name, addresses or count
		says   string
	}{
		"fewer are wanted": {func(tc *v1alpha1.TenantCluster, _ *v1alpha1.ProviderNetworkSpec) { tc.Spec.Networking.LBPoolSize = 2 }, []*v1alpha1.IPAllocation{first}, nil, ""},
		"more are wanted":  {func(tc *v1alpha1.TenantCluster, _ *v1alpha1.ProviderNetworkSpec) { tc.Spec.Networking.LBPoolSize = 6 }, []*v1alpha1.IPAllocation{first}, []string{"t-1-lb-2 2"}, ""},
		"the quota is lower by now": {func(tc *v1alpha1.TenantCluster, n *v1alpha1.ProviderNetworkSpec) {
			tc.Spec.Networking.LBPoolSize, n.QuotaPerTenant = 4, &v1alpha1.TenantQuotaSpec{MaxLoadBalancerIPs: &one}
		}, []*v1alpha1.IPAllocation{first}, nil, ""},
		"more than the quota": {func(tc *v1alpha1.TenantCluster, n *v1alpha1.ProviderNetworkSpec) {
			tc.Spec.Networking.LBPoolSize, n.QuotaPerTenant = 5, &v1alpha1.TenantQuotaSpec{MaxLoadBalancerIPs: &one}
		}, []*v1alpha1.IPAllocation{first}, nil, "maxLoadBalancerIPs"},
		"it is lost": {func(tc *v1alpha1.TenantCluster, _ *v1alpha1.ProviderNetworkSpec) { tc.Spec.Networking.LBPoolSize = 4 }, nil, []string{"t-1-lb 10.0.0.1-10.0.0.4"}, ""},
		"others are named": {func(tc *v1alpha1.TenantCluster, _ *v1alpha1.ProviderNetworkSpec) {
			tc.Spec.Networking.LoadBalancerPool = &v1alpha1.AddressRange{Start: "10.0.0.7", End: "10.0.0.9"}
		}, []*v1alpha1.IPAllocation{first}, nil, "does not change"},
	} {
		t.Run(reason, func(t *testing.T) {
			s := sessionWith(func(c *v1alpha1.TenantCluster, n *v1alpha1.ProviderNetworkSpec) { has(c); tc.change(c, n) })
			missing, o := s.missing(s.blocks()[0], tc.have)
			var got []string
			for _, m := range missing {
				if m.Pinned != nil {
					got = append(got, m.Name+" "+m.Pinned.String())
				} else {
					got = append(got, fmt.Sprint(m.Name, " ", m.Count))
				}
			}
			if !slices.Equal(got, tc.want) || (o == nil) != (tc.says == "") || o != nil && !strings.Contains(o.Message, tc.says) {
				t.Errorf("%v, %+v", got, o)
			}
		})
	}
}

// TestAddressesWithoutASourceOrAUseAreRefused before anything is created.
func TestAddressesWithoutASourceOrAUseAreRefused(t *testing.T) {
	for reason, tc := range map[string]struct {
		change   func(*v1alpha1.TenantCluster, *v1alpha1.ProviderNetworkSpec)
		provider v1alpha1.ProviderType
		says     string
	}{
		"a size without pools": {func(tc *v1alpha1.TenantCluster, n *v1alpha1.ProviderNetworkSpec) {
			tc.Spec.Networking.LBPoolSize, n.Mode = 4, "cloud"
		}, "harvester", "needs NetworkPools"},
		"a size without MetalLB": {func(tc *v1alpha1.TenantCluster, _ *v1alpha1.ProviderNetworkSpec) {
			tc.Spec.Networking.LBPoolSize, tc.Spec.Addons.LoadBalancer = 4, nil
		}, "harvester", "has no effect without a load balancer"},
		"a size in a cloud":       {func(tc *v1alpha1.TenantCluster, _ *v1alpha1.ProviderNetworkSpec) { tc.Spec.Networking.LBPoolSize = 4 }, "aws", "aws has some"},
		"MetalLB without a range": {func(_ *v1alpha1.TenantCluster, n *v1alpha1.ProviderNetworkSpec) { n.Mode = "cloud" }, "nutanix", "needs a range"},
		"Proxmox without pools": {func(tc *v1alpha1.TenantCluster, n *v1alpha1.ProviderNetworkSpec) {
			tc.Spec.Addons.LoadBalancer, n.Mode = nil, "cloud"
		}, "proxmox", "static addresses"},
		"Proxmox with pools": {func(*v1alpha1.TenantCluster, *v1alpha1.ProviderNetworkSpec) {}, "proxmox", ""},
	} {
		s := sessionWith(tc.change)
		s.provider.Spec.Provider = tc.provider
		_, err := checkNetwork(t.Context(), s)
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
