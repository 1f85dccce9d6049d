// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

const (
	frontendName = "frontend"
	poolName     = "control-planes"
)

func internal(s v1alpha1.LoadBalancerScheme) bool { return s == v1alpha1.SchemeInternal }

// port is one listener and where it is probed.
type port struct{ port, check int32 }

func (p port) name() string { return fmt.Sprintf("tcp-%d", p.port) }

// portsOf are the ports of a load balancer, each once.
func portsOf(s provider.LoadBalancerSpec) []port {
	all := []port{{s.Port, s.HealthCheckPort}}
	for _, p := range s.AdditionalPorts {
		if !slices.ContainsFunc(all, func(q port) bool { return q.port == p }) {
			all = append(all, port{p, p})
		}
	}
	return all
}

// wanted is the load balancer of a spec: one frontend, one pool, and for each port a probe
// and a rule.
func (b balancers) wanted(ctx context.Context, s provider.LoadBalancerSpec) (armnetwork.LoadBalancer, error) {
	at, err := b.location(ctx)
	if err != nil {
		return armnetwork.LoadBalancer{}, err
	}
	id := b.resource(kindLB, balancerName(s.Name))
	p := &armnetwork.LoadBalancerPropertiesFormat{
		BackendAddressPools: []*armnetwork.BackendAddressPool{{Name: new(poolName)}},
	}
	front := &armnetwork.FrontendIPConfiguration{Name: new(frontendName), Properties: &armnetwork.FrontendIPConfigurationPropertiesFormat{}}
	if internal(s.Scheme) {
		front.Properties.Subnet, front.Properties.PrivateIPAllocationMethod = &armnetwork.Subnet{ID: new(b.subnetID())}, new(armnetwork.IPAllocationMethodDynamic)
		sizes, err := b.catalogue(ctx)
		if err != nil {
			return armnetwork.LoadBalancer{}, err
		}
		front.Zones = pointers(zonesOf(sizes))
	} else {
		front.Properties.PublicIPAddress = &armnetwork.PublicIPAddress{ID: new(b.resource(kindAddress, partName(s.Owner.ID, s.Name, suffixFrontend)))}
	}
	p.FrontendIPConfigurations = []*armnetwork.FrontendIPConfiguration{front}
	for _, q := range portsOf(s) {
		p.Probes = append(p.Probes, probe(q))
		p.LoadBalancingRules = append(p.LoadBalancingRules, rule(id, q))
	}
	return armnetwork.LoadBalancer{
		Location: &at, Tags: written(ownerTags(s.Owner, s.Name)), SKU: &armnetwork.LoadBalancerSKU{Name: new(armnetwork.LoadBalancerSKUNameStandard)}, Properties: p,
	}, nil
}

func probe(p port) *armnetwork.Probe {
	return &armnetwork.Probe{Name: new(p.name()), Properties: &armnetwork.ProbePropertiesFormat{
		Protocol: new(armnetwork.ProbeProtocolTCP), Port: &p.check, IntervalInSeconds: new(int32(5)), NumberOfProbes: new(int32(2)), ProbeThreshold: new(int32(2)),
	}}
}

// rule forwards a port with the address of the frontend as it is, see
// docs/adr/0008-floating-ip.md. The machines' own connections do not use the frontend.
func rule(id string, p port) *armnetwork.LoadBalancingRule {
	sub := func(path string) *armnetwork.SubResource { return &armnetwork.SubResource{ID: new(id + path)} }
	return &armnetwork.LoadBalancingRule{Name: new(p.name()), Properties: &armnetwork.LoadBalancingRulePropertiesFormat{
		Protocol: new(armnetwork.TransportProtocolTCP), FrontendPort: &p.port, BackendPort: &p.port,
		EnableFloatingIP: new(true), DisableOutboundSnat: new(true), EnableTCPReset: new(true), IdleTimeoutInMinutes: new(int32(30)), LoadDistribution: new(armnetwork.LoadDistributionDefault),
		FrontendIPConfiguration: sub("/frontendIPConfigurations/" + frontendName), BackendAddressPool: sub("/backendAddressPools/" + poolName), Probe: sub("/probes/" + p.name()),
	}}
}

func sorted(words []string) string {
	slices.Sort(words)
	return strings.Join(words, "\n")
}
