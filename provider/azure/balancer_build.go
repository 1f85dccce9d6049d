// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const (
	frontendName = "frontend"
	poolName     = "control-planes"
)

func internal(s v1alpha1.LoadBalancerScheme) bool { return s == v1alpha1.SchemeInternal }

// nameOf is that of the rule and the probe of a port.
func nameOf(p cloud.Port) string { return fmt.Sprintf("tcp-%d", p.Port) }

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
	for _, q := range cloud.Ports(s) {
		p.Probes = append(p.Probes, probe(q))
		p.LoadBalancingRules = append(p.LoadBalancingRules, rule(id, q))
	}
	return armnetwork.LoadBalancer{
		Location: &at, Tags: written(ownerTags(s.Owner, s.Name)), SKU: &armnetwork.LoadBalancerSKU{Name: new(armnetwork.LoadBalancerSKUNameStandard)}, Properties: p,
	}, nil
}

func probe(p cloud.Port) *armnetwork.Probe {
	return &armnetwork.Probe{Name: new(nameOf(p)), Properties: &armnetwork.ProbePropertiesFormat{
		Protocol: new(armnetwork.ProbeProtocolTCP), Port: &p.Check, IntervalInSeconds: new(int32(5)), NumberOfProbes: new(int32(2)), ProbeThreshold: new(int32(2)),
	}}
}

// rule forwards a port with the address of the frontend as it is, see
// docs/adr/0009-floating-ip.md. The machines' own connections do not use the frontend.
func rule(id string, p cloud.Port) *armnetwork.LoadBalancingRule {
	sub := func(path string) *armnetwork.SubResource { return &armnetwork.SubResource{ID: new(id + path)} }
	return &armnetwork.LoadBalancingRule{Name: new(nameOf(p)), Properties: &armnetwork.LoadBalancingRulePropertiesFormat{
		Protocol: new(armnetwork.TransportProtocolTCP), FrontendPort: &p.Port, BackendPort: &p.Port,
		EnableFloatingIP: new(true), DisableOutboundSnat: new(true), EnableTCPReset: new(true), IdleTimeoutInMinutes: new(int32(30)), LoadDistribution: new(armnetwork.LoadDistributionDefault),
		FrontendIPConfiguration: sub("/frontendIPConfigurations/" + frontendName), BackendAddressPool: sub("/backendAddressPools/" + poolName), Probe: sub("/probes/" + nameOf(p)),
	}}
}

// portName is how nameOf names rules and probes.
var portName = regexp.MustCompile(`^(?i)tcp-[0-9]+$`)

// ours reports whether the driver has added a rule or a probe.
func ours(name *string) bool { return portName.MatchString(value(name)) }

// merged is a load balancer brought in line with the spec. A write replaces all of it: what
// others have added, such as outbound and NAT rules, stays.
func merged(found, want *armnetwork.LoadBalancerPropertiesFormat) *armnetwork.LoadBalancerPropertiesFormat {
	if found == nil {
		return want
	}
	out := *found
	if !slices.ContainsFunc(found.BackendAddressPools, func(p *armnetwork.BackendAddressPool) bool { return value(p.Name) == poolName }) {
		out.BackendAddressPools = slices.Concat(found.BackendAddressPools, want.BackendAddressPools)
	}
	out.Probes, out.LoadBalancingRules = slices.Clone(want.Probes), slices.Clone(want.LoadBalancingRules)
	for _, p := range found.Probes {
		if !ours(p.Name) {
			out.Probes = append(out.Probes, p)
		}
	}
	for _, r := range found.LoadBalancingRules {
		if !ours(r.Name) {
			out.LoadBalancingRules = append(out.LoadBalancingRules, r)
		}
	}
	return &out
}

func sorted(words []string) string {
	slices.Sort(words)
	return strings.Join(words, "\n")
}
