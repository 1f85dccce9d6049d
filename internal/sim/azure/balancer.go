// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"slices"
	"strings"
)

type balancer = resource[balancerProperties]

type balancerProperties struct {
	status
	ResourceGUID             string                     `json:"resourceGuid,omitempty"`
	FrontendIPConfigurations []part[frontendProperties] `json:"frontendIPConfigurations"`
	BackendAddressPools      []part[poolProperties]     `json:"backendAddressPools"`
	LoadBalancingRules       []part[ruleProperties]     `json:"loadBalancingRules"`
	Probes                   []part[probeProperties]    `json:"probes"`
	OutboundRules            []part[outboundProperties] `json:"outboundRules"`
	InboundNATRules          []struct{}                 `json:"inboundNatRules"`
	InboundNATPools          []struct{}                 `json:"inboundNatPools"`
}

type frontendProperties struct {
	status
	PrivateIPAddress          string `json:"privateIPAddress,omitempty"`
	PrivateIPAllocationMethod string `json:"privateIPAllocationMethod,omitempty"`
	PrivateIPAddressVersion   string `json:"privateIPAddressVersion,omitempty"`
	Subnet                    *ref   `json:"subnet,omitempty"`
	PublicIPAddress           *ref   `json:"publicIPAddress,omitempty"`
	LoadBalancingRules        []ref  `json:"loadBalancingRules,omitempty"`
	OutboundRules             []ref  `json:"outboundRules,omitempty"`
	InboundNATRules           []ref  `json:"inboundNatRules,omitempty"`
}

type poolProperties struct {
	status
	LoadBalancerBackendAddresses []backendAddress `json:"loadBalancerBackendAddresses,omitempty"`
	BackendIPConfigurations      []ref            `json:"backendIPConfigurations,omitempty"`
	LoadBalancingRules           []ref            `json:"loadBalancingRules,omitempty"`
	OutboundRules                []ref            `json:"outboundRules,omitempty"`
	OutboundRule                 *ref             `json:"outboundRule,omitempty"`
	VirtualNetwork               *ref             `json:"virtualNetwork,omitempty"`
	DrainPeriodInSeconds         int              `json:"drainPeriodInSeconds,omitempty"`
	SyncMode                     string           `json:"syncMode,omitempty"`
}

type backendAddress struct {
	Name       string                   `json:"name,omitempty"`
	Properties backendAddressProperties `json:"properties"`
}

type backendAddressProperties struct {
	IPAddress                       string `json:"ipAddress,omitempty"`
	VirtualNetwork                  *ref   `json:"virtualNetwork,omitempty"`
	Subnet                          *ref   `json:"subnet,omitempty"`
	NetworkInterfaceIPConfiguration *ref   `json:"networkInterfaceIPConfiguration,omitempty"`
	AdminState                      string `json:"adminState,omitempty"`
}

type ruleProperties struct {
	status
	FrontendIPConfiguration *ref   `json:"frontendIPConfiguration,omitempty"`
	BackendAddressPool      *ref   `json:"backendAddressPool,omitempty"`
	BackendAddressPools     []ref  `json:"backendAddressPools,omitempty"`
	Probe                   *ref   `json:"probe,omitempty"`
	Protocol                string `json:"protocol,omitempty"`
	LoadDistribution        string `json:"loadDistribution,omitempty"`
	FrontendPort            int    `json:"frontendPort"`
	BackendPort             int    `json:"backendPort"`
	IdleTimeoutInMinutes    int    `json:"idleTimeoutInMinutes,omitempty"`
	EnableFloatingIP        bool   `json:"enableFloatingIP"`
	EnableTCPReset          bool   `json:"enableTcpReset"`
	DisableOutboundSNAT     bool   `json:"disableOutboundSnat"`
}

type probeProperties struct {
	status
	Protocol                  string `json:"protocol,omitempty"`
	Port                      int    `json:"port"`
	RequestPath               string `json:"requestPath,omitempty"`
	IntervalInSeconds         int    `json:"intervalInSeconds,omitempty"`
	NumberOfProbes            int    `json:"numberOfProbes,omitempty"`
	ProbeThreshold            int    `json:"probeThreshold,omitempty"`
	NoHealthyBackendsBehavior string `json:"noHealthyBackendsBehavior,omitempty"`
	LoadBalancingRules        []ref  `json:"loadBalancingRules,omitempty"`
}

type outboundProperties struct {
	status
	FrontendIPConfigurations []ref  `json:"frontendIPConfigurations"`
	BackendAddressPool       *ref   `json:"backendAddressPool,omitempty"`
	Protocol                 string `json:"protocol,omitempty"`
	AllocatedOutboundPorts   int    `json:"allocatedOutboundPorts,omitempty"`
	EnableTCPReset           bool   `json:"enableTcpReset"`
	IdleTimeoutInMinutes     int    `json:"idleTimeoutInMinutes,omitempty"`
}

// balancerLimit is the quota of standard load balancers.
const balancerLimit = 1000

// pool finds the backend pool of an ID.
func (s *state) pool(id string) *part[poolProperties] {
	path, _ := parseID(id)
	if !strings.EqualFold(path.kind(), balancerKind+"/backendAddressPools") || !path.named() {
		return nil
	}
	_, b := find[balancer](s, path.parent().String())
	if b == nil {
		return nil
	}
	return partNamed(b.Properties.BackendAddressPools, id)
}

func checkBalancer(c *call, r, before *record) error {
	h, p := r.top(), &r.object.(*balancer).Properties
	if h.SKU == nil {
		h.SKU = &sku{Name: "Basic"}
	}
	switch {
	case h.SKU.Name == "Basic":
		return bad("BasicLoadBalancerRetired", "Load balancers with the SKU Basic cannot be created any more.")
	case h.SKU.Name != "Standard":
		return notSimulated("load balancers with the SKU " + h.SKU.Name)
	case len(p.InboundNATRules)+len(p.InboundNATPools) > 0:
		return notSimulated("inbound NAT rules")
	}
	h.SKU.Tier = cmp.Or(h.SKU.Tier, "Regional")
	p.ResourceGUID, p.InboundNATRules, p.InboundNATPools = derivedUUID(h.ID), []struct{}{}, []struct{}{}
	for _, complete := range []func() error{
		func() error { return completeParts(r, "frontendIPConfigurations", p.FrontendIPConfigurations) },
		func() error { return completeParts(r, "backendAddressPools", p.BackendAddressPools) },
		func() error { return completeParts(r, "loadBalancingRules", p.LoadBalancingRules) },
		func() error { return completeParts(r, "probes", p.Probes) },
		func() error { return completeParts(r, "outboundRules", p.OutboundRules) },
		func() error { return c.checkFrontends(r, before) },
		func() error { return checkProbes(p.Probes) },
		func() error { return checkPools(p.BackendAddressPools) },
		func() error { return checkRules(r) },
		func() error { return checkOutbound(r) },
		func() error { return c.poolsRemovable(before, p.BackendAddressPools) },
	} {
		if err := complete(); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) checkFrontends(r, before *record) error {
	p := &r.object.(*balancer).Properties
	taken := map[string]bool{}
	for i := range p.FrontendIPConfigurations {
		f := &p.FrontendIPConfigurations[i]
		f.Properties.LoadBalancingRules, f.Properties.OutboundRules, f.Properties.InboundNATRules = nil, nil, nil
		f.Properties.PrivateIPAllocationMethod = cmp.Or(f.Properties.PrivateIPAllocationMethod, "Dynamic")
		switch {
		case (f.Properties.Subnet == nil) == (f.Properties.PublicIPAddress == nil):
			return formatError("LoadBalancerFrontendIPConfigurationMustHaveSubnetOrPublicIP", "Frontend IP configuration %s must have either a subnet or a public IP address.", f.ID)
		case f.Properties.PublicIPAddress != nil:
			if err := c.checkFrontendAddress(r, f); err != nil {
				return err
			}
			continue
		}
		subnet := c.st.subnet(f.Properties.Subnet.ID)
		if subnet == nil {
			return noReference(f.Properties.Subnet.ID, r)
		}
		address, err := c.st.allocate(r, subnet, wantedFrontend(f, before), f.Properties.PrivateIPAllocationMethod, taken)
		if err != nil {
			return err
		}
		f.Properties.PrivateIPAddress, taken[address] = address, true
	}
	return nil
}

// wantedFrontend is the address that a frontend asks for, or has.
func wantedFrontend(f *part[frontendProperties], before *record) string {
	if f.Properties.PrivateIPAllocationMethod == "Static" {
		return f.Properties.PrivateIPAddress
	}
	if before == nil {
		return ""
	}
	was := partNamed(before.object.(*balancer).Properties.FrontendIPConfigurations, f.ID)
	if was == nil || was.Properties.Subnet.key() != f.Properties.Subnet.key() {
		return ""
	}
	return was.Properties.PrivateIPAddress
}

func (c *call) checkFrontendAddress(r *record, f *part[frontendProperties]) error {
	to := f.Properties.PublicIPAddress
	_, address := find[publicAddress](c.st, to.ID)
	if address == nil {
		return noReference(to.ID, r)
	}
	if holder := address.Properties.IPConfiguration; holder != nil && holder.key() != keyOf(f.ID) {
		return addressInUse(r.top().ID, to.ID, holder.ID)
	}
	if len(f.Zones) > 0 {
		return formatError("LoadBalancerFrontendIPConfigCannotHaveZoneWhenReferencingPublicIPAddress", "Frontend IP configuration %s has zones and a public IP address, which has its own.", f.ID)
	}
	f.Properties.PrivateIPAddress = ""
	return nil
}

func checkProbes(all []part[probeProperties]) error {
	for i := range all {
		p := &all[i].Properties
		p.LoadBalancingRules = nil
		p.IntervalInSeconds = cmp.Or(p.IntervalInSeconds, 15)
		p.ProbeThreshold = cmp.Or(p.ProbeThreshold, 1)
		p.NumberOfProbes = cmp.Or(p.NumberOfProbes, 1)
		p.NoHealthyBackendsBehavior = cmp.Or(p.NoHealthyBackendsBehavior, "AllProbedDown")
		switch {
		case p.Port < 1 || p.Port > 65535:
			return formatError("ProbePortOutOfRange", "The port %d of probe %s is not between 1 and 65535.", p.Port, all[i].ID)
		case p.IntervalInSeconds < 5:
			return formatError("ProbeIntervalOutOfRange", "The interval %d of probe %s is below 5 seconds.", p.IntervalInSeconds, all[i].ID)
		case p.Protocol == "Tcp" && p.RequestPath != "":
			return formatError("ProbeRequestPathNotAllowed", "Probe %s has the protocol Tcp and a request path.", all[i].ID)
		case (p.Protocol == "Http" || p.Protocol == "Https") && p.RequestPath == "":
			return formatError("ProbeRequestPathMissing", "Probe %s has no request path.", all[i].ID)
		case !slices.Contains([]string{"Tcp", "Http", "Https"}, p.Protocol):
			return formatError("InvalidProbeProtocol", "%s is not a protocol of probe %s.", p.Protocol, all[i].ID)
		}
	}
	return nil
}

func checkPools(all []part[poolProperties]) error {
	for i := range all {
		p := &all[i].Properties
		p.BackendIPConfigurations, p.LoadBalancingRules, p.OutboundRules, p.OutboundRule = nil, nil, nil, nil
		var addresses []backendAddress
		for _, a := range p.LoadBalancerBackendAddresses {
			if a.Properties.NetworkInterfaceIPConfiguration == nil {
				addresses = append(addresses, a) // the others are members by their interface
			}
			if a.Properties.NetworkInterfaceIPConfiguration == nil && (a.Name == "" || a.Properties.IPAddress == "") {
				return formatError("LoadBalancerBackendAddressIncomplete", "A backend address of pool %s has no name or no address.", all[i].ID)
			}
		}
		p.LoadBalancerBackendAddresses = addresses
	}
	return nil
}

// pools are those of a rule.
func (p *ruleProperties) pools() []ref {
	if p.BackendAddressPool != nil && len(p.BackendAddressPools) == 0 {
		return []ref{*p.BackendAddressPool}
	}
	return p.BackendAddressPools
}

func checkRules(r *record) error {
	p := &r.object.(*balancer).Properties
	fronts, backs := map[string]string{}, map[string]string{}
	for i := range p.LoadBalancingRules {
		rule := &p.LoadBalancingRules[i]
		if err := completeRule(r, rule); err != nil {
			return err
		}
		at := strings.ToLower(strings.Join([]string{rule.Properties.FrontendIPConfiguration.ID, rule.Properties.Protocol, itoa(rule.Properties.FrontendPort)}, " "))
		if other := fronts[at]; other != "" {
			return formatError("RulesUseSameFrontendPortProtocolAndIPConfig", "Load balancing rules %s and %s use the same frontend IP configuration, protocol and frontend port.", rule.ID, other)
		}
		fronts[at] = rule.ID
		for _, pool := range rule.Properties.pools() {
			to := strings.ToLower(strings.Join([]string{pool.ID, rule.Properties.Protocol, itoa(rule.Properties.BackendPort)}, " "))
			if other := backs[to]; other != "" && !rule.Properties.EnableFloatingIP {
				return formatError("RulesOfSameLoadBalancerTypeUseSameBackendPortProtocolAndIPConfig", "Load balancing rules %s and %s belong to the load balancer of the same type and use the same backend port and protocol with the same backend address pool, must use floatingIP instead.", rule.ID, other)
			}
			backs[to] = rule.ID
		}
	}
	return nil
}

func completeRule(r *record, rule *part[ruleProperties]) error {
	b, p := r.object.(*balancer).Properties, &rule.Properties
	for missing, to := range map[string]*ref{"frontend IP configuration": p.FrontendIPConfiguration} {
		if to == nil {
			return formatError("LoadBalancingRuleIncomplete", "Load balancing rule %s has no %s.", rule.ID, missing)
		}
	}
	if partNamed(b.FrontendIPConfigurations, p.FrontendIPConfiguration.ID) == nil {
		return noReference(p.FrontendIPConfiguration.ID, r)
	}
	for _, pool := range p.pools() {
		if partNamed(b.BackendAddressPools, pool.ID) == nil {
			return noReference(pool.ID, r)
		}
	}
	if p.Probe != nil && partNamed(b.Probes, p.Probe.ID) == nil {
		return noReference(p.Probe.ID, r)
	}
	if pools := p.pools(); len(pools) > 0 {
		p.BackendAddressPool, p.BackendAddressPools = &ref{pools[0].ID}, pools
	}
	p.LoadDistribution = cmp.Or(p.LoadDistribution, "Default")
	p.IdleTimeoutInMinutes = cmp.Or(p.IdleTimeoutInMinutes, 4)
	switch {
	case p.Protocol == "Udp" || p.Protocol == "All":
		return notSimulated("load balancing rules with the protocol " + p.Protocol)
	case p.Protocol != "Tcp":
		return formatError("InvalidProtocol", "%s is not a protocol of load balancing rule %s.", p.Protocol, rule.ID)
	case p.LoadDistribution != "Default":
		return notSimulated("load distribution " + p.LoadDistribution)
	case p.FrontendPort < 1 || p.FrontendPort > 65534 || p.BackendPort < 1 || p.BackendPort > 65535:
		return formatError("LoadBalancingRulePortOutOfRange", "A port of load balancing rule %s is out of range.", rule.ID)
	case p.EnableFloatingIP && p.FrontendPort != p.BackendPort:
		return formatError("LoadBalancingRuleFloatingIPPortMismatch", "Load balancing rule %s has floating IP enabled and different frontend and backend ports.", rule.ID)
	case p.IdleTimeoutInMinutes < 4 || p.IdleTimeoutInMinutes > 100:
		return formatError("LoadBalancingRuleIdleTimeoutOutOfRange", "The idle timeout of load balancing rule %s must be between 4 and 100 minutes.", rule.ID)
	}
	return nil
}

func checkOutbound(r *record) error {
	b := r.object.(*balancer).Properties
	for i := range b.OutboundRules {
		rule := &b.OutboundRules[i]
		p := &rule.Properties
		if len(p.FrontendIPConfigurations) == 0 || p.BackendAddressPool == nil {
			return formatError("OutboundRuleIncomplete", "Outbound rule %s needs frontend IP configurations and a backend address pool.", rule.ID)
		}
		for _, f := range p.FrontendIPConfigurations {
			front := partNamed(b.FrontendIPConfigurations, f.ID)
			switch {
			case front == nil:
				return noReference(f.ID, r)
			case front.Properties.PublicIPAddress == nil:
				return formatError("OutboundRuleCannotBeUsedWithInternalFrontend", "Outbound rule %s refers to frontend IP configuration %s, which has no public IP address.", rule.ID, f.ID)
			}
			if err := b.checkSNAT(f, rule.ID); err != nil {
				return err
			}
		}
		if partNamed(b.BackendAddressPools, p.BackendAddressPool.ID) == nil {
			return noReference(p.BackendAddressPool.ID, r)
		}
		p.Protocol = cmp.Or(p.Protocol, "All")
		p.IdleTimeoutInMinutes = cmp.Or(p.IdleTimeoutInMinutes, 4)
	}
	return nil
}

// checkSNAT refuses an outbound rule for a frontend whose other rules translate addresses.
func (b *balancerProperties) checkSNAT(f ref, outbound string) error {
	for _, other := range b.LoadBalancingRules {
		if other.Properties.FrontendIPConfiguration.key() == keyOf(f.ID) && !other.Properties.DisableOutboundSNAT {
			return formatError("LoadBalancingRuleMustDisableSNATSinceSameFrontendIPConfigurationIsReferencedByOutboundRule",
				"SNAT must be disabled for Load Balancing Rule %s since Frontend IP Configuration %s referenced by this rule is used by Outbound Rule %s.", other.ID, f.ID, outbound)
		}
	}
	return nil
}

// poolsRemovable refuses to take a pool away that interfaces are members of.
func (c *call) poolsRemovable(before *record, now []part[poolProperties]) error {
	if before == nil {
		return nil
	}
	for _, p := range before.object.(*balancer).Properties.BackendAddressPools {
		if members := c.st.members(p.ID); partNamed(now, p.ID) == nil && len(members) > 0 {
			return bad("InUseBackendAddressPoolCannotBeDeleted", "Backend address pool %s is in use by %s and cannot be deleted.", p.ID, members[0].ip.ID)
		}
	}
	return nil
}

// member is an IP configuration in a backend pool.
type member struct {
	nic *nic
	ip  part[ipProperties]
}

func (s *state) members(pool string) (out []member) {
	key := keyOf(pool)
	each(s, func(_ *record, n *nic) {
		for _, ip := range n.Properties.IPConfigurations {
			if slices.ContainsFunc(ip.Properties.LoadBalancerBackendAddressPools, func(r ref) bool { return keyOf(r.ID) == key }) {
				out = append(out, member{n, ip})
			}
		}
	})
	slices.SortFunc(out, func(a, b member) int { return strings.Compare(a.ip.ID, b.ip.ID) })
	return out
}

func balancerLinks(_ *call, r *record) (out []link) {
	for _, f := range r.object.(*balancer).Properties.FrontendIPConfigurations {
		if f.Properties.Subnet != nil {
			out = append(out, link{vnetKind + "/subnets/join/action", f.Properties.Subnet.ID})
		}
		if f.Properties.PublicIPAddress != nil {
			out = append(out, link{addressKind + "/join/action", f.Properties.PublicIPAddress.ID})
		}
	}
	return out
}

// showBalancer adds the references between the parts.
func showBalancer(c *call, r *record) any {
	b := *r.object.(*balancer)
	p := &b.Properties
	rules := func(uses func(*ruleProperties) bool) (out []ref) {
		for i := range p.LoadBalancingRules {
			if uses(&p.LoadBalancingRules[i].Properties) {
				out = append(out, ref{p.LoadBalancingRules[i].ID})
			}
		}
		return out
	}
	p.FrontendIPConfigurations = withETag(p.FrontendIPConfigurations, b.ETag, func(f *part[frontendProperties]) {
		f.Properties.LoadBalancingRules = rules(func(r *ruleProperties) bool { return r.FrontendIPConfiguration.key() == keyOf(f.ID) })
		for _, o := range p.OutboundRules {
			if slices.ContainsFunc(o.Properties.FrontendIPConfigurations, func(r ref) bool { return keyOf(r.ID) == keyOf(f.ID) }) {
				f.Properties.OutboundRules = append(f.Properties.OutboundRules, ref{o.ID})
			}
		}
	})
	p.BackendAddressPools = withETag(p.BackendAddressPools, b.ETag, func(pool *part[poolProperties]) {
		pool.Properties.LoadBalancingRules = rules(func(r *ruleProperties) bool {
			return slices.ContainsFunc(r.pools(), func(r ref) bool { return keyOf(r.ID) == keyOf(pool.ID) })
		})
		for _, o := range p.OutboundRules {
			if o.Properties.BackendAddressPool.key() == keyOf(pool.ID) {
				pool.Properties.OutboundRules = append(pool.Properties.OutboundRules, ref{o.ID})
			}
		}
		pool.Properties.LoadBalancerBackendAddresses = slices.Clone(pool.Properties.LoadBalancerBackendAddresses)
		for _, m := range c.st.members(pool.ID) {
			pool.Properties.BackendIPConfigurations = append(pool.Properties.BackendIPConfigurations, ref{m.ip.ID})
			pool.Properties.LoadBalancerBackendAddresses = append(pool.Properties.LoadBalancerBackendAddresses, backendAddress{
				Name: m.nic.Name + m.ip.Name, Properties: backendAddressProperties{NetworkInterfaceIPConfiguration: &ref{m.ip.ID}},
			})
		}
	})
	p.Probes = withETag(p.Probes, b.ETag, func(probe *part[probeProperties]) {
		probe.Properties.LoadBalancingRules = rules(func(r *ruleProperties) bool { return r.Probe.key() == keyOf(probe.ID) })
	})
	p.LoadBalancingRules = withETag(p.LoadBalancingRules, b.ETag, func(*part[ruleProperties]) {})
	p.OutboundRules = withETag(p.OutboundRules, b.ETag, func(*part[outboundProperties]) {})
	return &b
}

// withETag returns a copy of the parts, which have the ETag of their resource, after a
// change.
func withETag[P any](all []part[P], etag string, change func(*part[P])) []part[P] {
	out := append([]part[P]{}, all...)
	for i := range out {
		out[i].ETag = etag
		change(&out[i])
	}
	return out
}
