// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

const maxRulePorts = 5

// simulatedRule are the fields of a forwarding rule that have an effect here.
func simulatedRule() []string {
	return []string{
		"name", "description", "IPAddress", "IPProtocol", "ports", "portRange", "loadBalancingScheme", "backendService", "network", "subnetwork", "labels", "networkTier",
		"allowGlobalAccess", "ipVersion",
	}
}

// prepareForwardingRule checks the forwarding rule of a passthrough load balancer.
func prepareForwardingRule(c *call, r *resource) error {
	o, region := r.Object, locationOf(r.Path)
	for field := range c.body {
		if !slices.Contains(simulatedRule(), field) && !slices.Contains(outputs(), field) {
			return notSimulated("resource." + field)
		}
	}
	o.fill(object{"loadBalancingScheme": "EXTERNAL", "IPProtocol": "TCP", "ipVersion": "IPV4", "labelFingerprint": labelFingerprint(o)})
	if o.str("IPProtocol") != "TCP" || o.str("ipVersion") != "IPV4" {
		return notSimulated("resource.IPProtocol")
	}
	if !o.has("backendService") {
		return invalid("resource.target", "", "The simulated platform has forwarding rules to backend services only.")
	}
	service, err := c.reference(o, "backendService", "resource.backendService", "backendServices", "regions/"+region)
	if err != nil {
		return err
	}
	if service.Object.str("loadBalancingScheme") != o.str("loadBalancingScheme") {
		return invalid("resource.loadBalancingScheme", o.str("loadBalancingScheme"), "The load balancing scheme of the forwarding rule and of its backend service must be the same.")
	}
	if err := c.allow("compute.regionBackendServices.use", service.Path); err != nil {
		return err
	}
	if err := checkRulePorts(o); err != nil {
		return err
	}
	if err := c.ruleNetwork(o, region); err != nil {
		return err
	}
	if err := c.ruleAddress(r, region); err != nil {
		return err
	}
	return c.checkQuota("", "FORWARDING_RULES", 1)
}

func checkRulePorts(o object) error {
	if o.has("ports") == o.has("portRange") {
		return invalid("resource.ports", "", "Exactly one of ports and portRange must be specified.")
	}
	if o.has("portRange") {
		from, to, ok := portRange(o.str("portRange"))
		if !ok || from != to || o.str("loadBalancingScheme") == "INTERNAL" {
			return invalid("resource.portRange", o.str("portRange"), "The simulated platform has ranges of one port, for external load balancers.")
		}
		o["portRange"] = fmt.Sprintf("%d-%d", from, to)
		return nil
	}
	if n := len(o.strs("ports")); n > maxRulePorts {
		return invalid("resource.ports", strings.Join(o.strs("ports"), ","), "At most %d ports are allowed.", maxRulePorts)
	}
	for _, text := range o.strs("ports") {
		if from, to, ok := portRange(text); !ok || from != to || from == 0 {
			return invalid("resource.ports[0]", text, "Must be a port.")
		}
	}
	return nil
}

// rulePorts are the ports of a forwarding rule.
func rulePorts(o object) (out []uint16) {
	texts := o.strs("ports")
	if o.has("portRange") {
		from, _, _ := portRange(o.str("portRange"))
		texts = []string{strconv.Itoa(from)}
	}
	for _, text := range texts {
		if n, _, ok := portRange(text); ok {
			out = append(out, uint16(n)) //nolint:gosec // is a port
		}
	}
	return out
}

// ruleNetwork checks the subnetwork of an internal load balancer.
func (c *call) ruleNetwork(o object, region string) error {
	if o.str("loadBalancingScheme") == "EXTERNAL" {
		if o.has("subnetwork") || o.has("network") {
			return invalid("resource.network", o.str("network"), "Network and subnetwork are for internal load balancing only.")
		}
		o.fill(object{"networkTier": "PREMIUM"})
		return nil
	}
	if !o.has("subnetwork") {
		o["subnetwork"] = c.link("regions/" + region + "/subnetworks/default")
	}
	s, err := c.reference(o, "subnetwork", "resource.subnetwork", "subnetworks", "regions/"+region)
	if err != nil {
		return err
	}
	o["network"] = s.Object.str("network")
	return c.allow("compute.subnetworks.use", s.Path)
}

// ruleAddress finds the reserved address of a forwarding rule, which may be named by its
// URL or by itself. Without one it gets an address that ends with it.
func (c *call) ruleAddress(r *resource, region string) error {
	o := r.Object
	text := o.str("IPAddress")
	if text == "" {
		return nil
	}
	var address *resource
	if path, ok := c.pathOf(text); ok && collectionOf(path) == "addresses" {
		address = c.st.get(path)
		if address == nil {
			return c.notFound(path)
		}
	} else if _, err := netip.ParseAddr(text); err != nil {
		return invalid("resource.IPAddress", text, "The IP address is malformed, or the resource does not exist.")
	} else if address = c.addressWith(region, text); address == nil {
		return invalid("resource.IPAddress", text, "Specified IP address is not reserved in the region.")
	}
	internal := o.str("loadBalancingScheme") == "INTERNAL"
	switch {
	case address.Object.str("status") == "RESERVING":
		return c.notReady(address.Path)
	case internal != (address.Object.str("addressType") == "INTERNAL"):
		return invalid("resource.IPAddress", text, "The type of the address is not that of the load balancing scheme %s.", o.str("loadBalancingScheme"))
	}
	permission := "compute.addresses.use"
	if internal {
		permission = "compute.addresses.useInternal"
	}
	o["IPAddress"] = address.Object.str("address")
	if err := c.ruleFree(o, address, internal); err != nil {
		return err
	}
	return c.allow(permission, address.Path)
}

// ruleFree refuses an address and port that another forwarding rule has.
func (c *call) ruleFree(o object, address *resource, internal bool) error {
	for _, path := range c.addressUsers(o.str("IPAddress")) {
		other := c.st.get(path)
		shared := slices.ContainsFunc(rulePorts(o), func(p uint16) bool { return slices.Contains(rulePorts(other.Object), p) })
		if other.collection() != "forwardingRules" || shared || internal && address.Object.str("purpose") != "SHARED_LOADBALANCER_VIP" {
			return refuse("invalid", "Invalid value for field 'resource.IPAddress': '%s'. Specified IP address is in-use and would result in a conflict.", o.str("IPAddress"))
		}
	}
	return nil
}

// poolID is what the datacenter calls the targets of a port of a forwarding rule.
func poolID(rule *resource, port uint16) string { return fmt.Sprintf("rule-%s-%d", rule.id(), port) }

func ruleID(rule *resource) string { return "rule-" + rule.id() }

// forward is the effect of forwardingRules.insert: the load balancer answers.
func (g *GCP) forward(r *resource) error {
	if !g.Hosts {
		return failure("INTERNAL_ERROR", "Internal error.")
	}
	if err := g.applyRule(r); err != nil {
		return err
	}
	b, _ := g.Options.Datacenter.LoadBalancer(ruleID(r))
	r.Object["IPAddress"] = b.Address.String()
	return nil
}

// unforward is the effect of forwardingRules.delete.
func (g *GCP) unforward(r *resource) error {
	if !g.Hosts {
		return nil
	}
	err := g.Options.Datacenter.RemoveLoadBalancer(ruleID(r))
	for _, port := range rulePorts(r.Object) {
		err = errors.Join(err, g.Options.Datacenter.RemovePool(poolID(r, port)))
	}
	return err
}

// applyAll brings the datacenter in line with all forwarding rules.
func (g *GCP) applyAll() (err error) {
	if !g.Hosts {
		return nil
	}
	for _, r := range g.st.all("forwardingRules") {
		err = errors.Join(err, g.applyRule(r))
	}
	return err
}

// applyRule brings the datacenter in line with one forwarding rule. Packets keep the
// addresses of both ends, and without a healthy target all get them.
func (g *GCP) applyRule(r *resource) error {
	o, internal := r.Object, r.Object.str("loadBalancingScheme") == "INTERNAL"
	spec := datacenter.LoadBalancerSpec{ID: ruleID(r), Passthrough: true, ProbesAddress: true, Internal: internal, FailOpen: true}
	members := g.membersBehind(r)
	for _, port := range rulePorts(o) {
		if err := g.Options.Datacenter.PutPool(g.poolFor(r, port, members)); err != nil {
			return err
		}
		spec.Listeners = append(spec.Listeners, datacenter.Listener{Port: port, Pool: poolID(r, port), Allowed: g.admittedTo(members, port, o.str("IPAddress"))})
	}
	if address := g.self().addressWith(locationOf(r.Path), o.str("IPAddress")); address != nil {
		spec.Static = addressID(address)
	} else if spec.Subnet = publicSubnet; internal {
		path, _ := g.self().pathOf(o.str("subnetwork"))
		if s := g.st.get(path); s != nil {
			spec.Subnet = subnetID(s)
		}
	}
	_, err := g.Options.Datacenter.PutLoadBalancer(spec)
	return err
}

// membersBehind are the instances that a forwarding rule sends packets to.
func (g *GCP) membersBehind(r *resource) (out []*resource) {
	path, _ := g.self().pathOf(r.Object.str("backendService"))
	service := g.st.get(path)
	if service == nil {
		return nil
	}
	for _, b := range service.Object.subs("backends") {
		groupPath, _ := g.self().pathOf(b.str("group"))
		group := g.st.get(groupPath)
		if group == nil {
			continue
		}
		for _, member := range group.Members {
			if i := g.st.get(member); i != nil {
				out = append(out, i)
			}
		}
	}
	return out
}

// poolFor is the targets of a port. Instances that the probes do not reach are never
// healthy.
func (g *GCP) poolFor(r *resource, port uint16, members []*resource) datacenter.Pool {
	check := g.checkOf(r)
	pool := datacenter.Pool{
		ID: poolID(r, port), PreserveClient: true,
		Check: datacenter.HealthCheck{
			Port: uint16(check.sub("tcpHealthCheck").num("port")), Interval: time.Duration(check.num("checkIntervalSec")) * time.Second, //nolint:gosec // is a port
		},
	}
	if g.Options.Create > 0 { // otherwise checks follow changes of the network, not the clock
		pool.Check.Healthy, pool.Check.Unhealthy = check.num("healthyThreshold"), check.num("unhealthyThreshold")
	}
	for _, i := range members {
		if g.probed(i, int(pool.Check.Port), r.Object.str("IPAddress")) {
			pool.Targets = append(pool.Targets, datacenter.Target{Machine: i.id(), Port: port})
		}
	}
	return pool
}

func (g *GCP) checkOf(r *resource) object {
	path, _ := g.self().pathOf(r.Object.str("backendService"))
	service := g.st.get(path)
	if service == nil || len(service.Object.strs("healthChecks")) == 0 {
		return object{}
	}
	checkPath, _ := g.self().pathOf(service.Object.strs("healthChecks")[0])
	if h := g.st.get(checkPath); h != nil {
		return h.Object
	}
	return object{}
}

// probed reports whether the firewall lets health checks reach an instance.
func (g *GCP) probed(i *resource, port int, to string) bool {
	return slices.ContainsFunc(probeRanges(), func(cidr string) bool { return g.admits(i, port, to, netip.MustParsePrefix(cidr)) })
}

// admittedTo are the prefixes whose packets one of the instances gets at a port.
func (g *GCP) admittedTo(members []*resource, port uint16, to string) []netip.Prefix {
	out := []netip.Prefix{}
	for _, i := range members {
		out = append(out, g.admitted(i, int(port), to)...)
	}
	return out
}
