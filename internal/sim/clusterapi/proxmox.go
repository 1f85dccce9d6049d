// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/netip"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

// proxmoxNode is where a machine is cloned to: one of the allowed nodes, whether or not the
// template can be cloned to it, or else that of the template.
func (s *scope) proxmoxNode(o order) string {
	allowed, _, _ := unstructured.NestedStringSlice(s.infra.Object, "spec", "allowedNodes")
	if len(allowed) == 0 {
		return textOf(o.spec, "sourceNode")
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(o.name))
	return allowed[h.Sum32()%uint32(len(allowed))]
}

// ipFamily is one of the address configurations of a ProxmoxCluster.
type ipFamily struct{ field, pool, claim string }

func ipFamilies() []ipFamily {
	return []ipFamily{{"ipv4Config", "-v4-icip", "-net0-inet"}, {"ipv6Config", "-v6-icip", "-net0-inet6"}}
}

// family is the one that the cluster has; of two the first.
func (s *scope) family() (ipFamily, error) {
	for _, f := range ipFamilies() {
		if s.field("spec", f.field) != nil {
			return f, nil
		}
	}
	return ipFamily{}, fmt.Errorf("proxmox cluster must define at least one IP pool config")
}

// proxmoxPool creates the pool of the cluster's addresses, and has it follow the cluster.
func (s *scope) proxmoxPool(ctx context.Context) error {
	f, err := s.family()
	if err != nil {
		return err
	}
	spec := map[string]any{}
	for _, key := range []string{"addresses", "prefix", "gateway"} {
		if v := s.field("spec", f.field, key); v != nil {
			spec[key] = v
		}
	}
	name := s.infra.GetName() + f.pool
	pool, err := get(ctx, s, ipam(poolKind).GetAPIVersion(), poolKind, s.infra.GetNamespace(), name)
	switch {
	case err != nil:
		return err
	case pool == nil:
		pool = ipam(poolKind)
		pool.SetName(name)
		pool.SetNamespace(s.infra.GetNamespace())
		pool.SetOwnerReferences([]metav1.OwnerReference{owned(s.infra, true)})
		pool.Object["spec"] = spec
		return s.Create(ctx, pool)
	case equality.Semantic.DeepEqual(pool.Object["spec"], spec):
		return nil
	}
	before := pool.DeepCopy()
	pool.Object["spec"] = spec
	return s.Patch(ctx, pool, client.MergeFrom(before))
}

// proxmoxAddress claims an address for a machine, and returns it once it is there. The claim
// is the machine's: Kubernetes deletes it after the machine.
func (s *scope) proxmoxAddress(ctx context.Context, o order) (*provider.Network, error) {
	f, err := s.family()
	if err != nil || o.object.GetDeletionTimestamp() != nil {
		return nil, err
	}
	name := o.name + f.claim
	found, err := get(ctx, s, ipam("IPAddress").GetAPIVersion(), "IPAddress", s.infra.GetNamespace(), name)
	if err != nil {
		return nil, err
	}
	if found == nil {
		if err := s.claimAddress(ctx, o, name, s.infra.GetName()+f.pool); err != nil {
			return nil, err
		}
		return nil, waitFor("IPAddress " + name + " (WaitingForStaticIPAllocation)")
	}
	return s.network(found)
}

func (s *scope) claimAddress(ctx context.Context, o order, name, pool string) error {
	claim := ipam("IPAddressClaim")
	claim.SetName(name)
	claim.SetNamespace(s.infra.GetNamespace())
	claim.SetLabels(map[string]string{coreGroup + "/cluster-name": s.cluster.GetName()})
	claim.SetOwnerReferences([]metav1.OwnerReference{owned(o.object, true)})
	claim.Object["spec"] = map[string]any{"poolRef": map[string]any{"apiGroup": ipamGroup, "kind": poolKind, "name": pool}}
	if err := s.Create(ctx, claim); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("unable to create Ip address claim for machine %s: %w", o.name, err)
	}
	return nil
}

// network is what a machine gets of an IPAddress and of its cluster.
func (s *scope) network(a *unstructured.Unstructured) (*provider.Network, error) {
	address, err := netip.ParseAddr(textOf(a.Object, "spec", "address"))
	if err != nil {
		return nil, err
	}
	n := &provider.Network{Address: netip.PrefixFrom(address, int(numberOf(a.Object, "spec", "prefix")))}
	if text := textOf(a.Object, "spec", "gateway"); text != "" {
		if n.Gateway, err = netip.ParseAddr(text); err != nil {
			return nil, err
		}
	}
	servers, _, _ := unstructured.NestedStringSlice(s.infra.Object, "spec", "dnsServers")
	for _, server := range servers {
		if a, err := netip.ParseAddr(server); err == nil {
			n.DNSServers = append(n.DNSServers, a)
		}
	}
	return n, nil
}
