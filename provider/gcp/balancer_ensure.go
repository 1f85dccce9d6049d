// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

// pass is one Ensure: what is wanted, what is there, and what was begun.
type pass struct {
	balancers
	provider.LoadBalancerSpec
	found  *balancer
	subnet *computepb.Subnetwork
	// text is the description of all parts.
	text  string
	zones []string
	begun []string
}

// converge begins the operations that are possible, and says what the first one is for.
func (b balancers) converge(ctx context.Context, s provider.LoadBalancerSpec, found *balancer) (begun string, err error) {
	p := &pass{balancers: b, LoadBalancerSpec: s, found: found, text: tag.GCP().Text(s.Owner.Tags(s.Name))}
	if p.subnet, err = b.subnet(ctx); err != nil {
		return "", err
	}
	if p.zones, err = p.wantedZones(ctx); err != nil {
		return "", err
	}
	for _, step := range []func(context.Context) error{p.ensureAddress, p.ensureChecks, p.ensureGroups, p.ensureTargets, p.ensureServices, p.ensureFirewall, p.ensureRules, p.closePorts} {
		if err := step(ctx); err != nil {
			return "", err
		}
	}
	if len(p.begun) == 0 {
		return "", nil
	}
	return p.begun[0], nil
}

// note records an operation that was begun. What another call has begun just now, or what
// has to wait for the end of another operation, is not an error.
func (p *pass) note(what string, o *compute.Operation, err error) error {
	switch {
	case err == nil && o != nil:
		err = operationError("", o.Proto())
	case exists(err), unready(err), gone(err), coded(err, "memberalreadyexists", "membernotfound", "conditionnotmet"):
		err = nil
	}
	p.begun = append(p.begun, what)
	return err
}

// wantedZones are those of the settings and those of the targets.
func (p *pass) wantedZones(ctx context.Context) ([]string, error) {
	zones, err := p.zoneNames(ctx)
	if err != nil {
		return nil, err
	}
	zones = slices.Clone(zones)
	for _, t := range p.Targets {
		if zone := partOf("/"+t.ID, "zones"); zone != "" && !slices.Contains(zones, zone) {
			zones = append(zones, zone)
		}
	}
	return zones, nil
}

// internal reports whether only clients of the network reach the load balancer. It cannot
// change: that of an address decides.
func (p *pass) internal() bool {
	if a := p.found.address; a != nil {
		return a.GetAddressType() == computepb.Address_INTERNAL.String()
	}
	return p.Scheme == v1alpha1.SchemeInternal
}

func (p *pass) scheme() *string {
	if p.internal() {
		return new(computepb.ForwardingRule_INTERNAL.String())
	}
	return new(computepb.ForwardingRule_EXTERNAL.String())
}

// ensureAddress reserves the address, which is the endpoint for the life of the cluster.
// The forwarding rules of all ports share it.
func (p *pass) ensureAddress(ctx context.Context) error {
	if p.found.address != nil {
		return nil
	}
	a := &computepb.Address{Name: new(partName(p.Name)), Description: &p.text, AddressType: p.scheme()}
	if p.internal() {
		a.Subnetwork, a.Purpose = new(pathOf(p.subnet.GetSelfLink())), new(computepb.Address_SHARED_LOADBALANCER_VIP.String())
	} else {
		a.NetworkTier = new(computepb.Address_PREMIUM.String())
	}
	o, err := p.addresses.Insert(ctx, &computepb.InsertAddressRequest{Project: p.spec.ProjectID, Region: p.spec.Region, AddressResource: a})
	return p.note("the address is being reserved", o, err)
}

// ensureChecks creates a health check for each port, and brings its port in line.
func (p *pass) ensureChecks(ctx context.Context) error {
	for _, port := range cloud.Ports(p.LoadBalancerSpec) {
		probe := &computepb.TCPHealthCheck{Port: new(port.Check), PortSpecification: new(computepb.TCPHealthCheck_USE_FIXED_PORT.String())}
		have := p.found.checks[port.Port]
		if have != nil && have.GetTcpHealthCheck().GetPort() == port.Check {
			continue
		}
		var o *compute.Operation
		var err error
		if name := portName(p.Name, port.Port); have == nil {
			o, err = p.checks.Insert(ctx, &computepb.InsertRegionHealthCheckRequest{Project: p.spec.ProjectID, Region: p.spec.Region, HealthCheckResource: &computepb.HealthCheck{
				Name: &name, Description: &p.text, Type: new(computepb.HealthCheck_TCP.String()), TcpHealthCheck: probe,
				CheckIntervalSec: new(int32(5)), TimeoutSec: new(int32(5)), HealthyThreshold: new(int32(2)), UnhealthyThreshold: new(int32(2)),
			}})
		} else {
			o, err = p.checks.Patch(ctx, &computepb.PatchRegionHealthCheckRequest{Project: p.spec.ProjectID, Region: p.spec.Region, HealthCheck: name, HealthCheckResource: &computepb.HealthCheck{TcpHealthCheck: probe}})
		}
		if err := p.note(fmt.Sprintf("the health check of port %d is being created", port.Port), o, err); err != nil {
			return err
		}
	}
	return nil
}

// ensureGroups creates an instance group in each zone.
func (p *pass) ensureGroups(ctx context.Context) error {
	for _, zone := range p.zones {
		if p.found.groups[zone] != nil {
			continue
		}
		o, err := p.groups.Insert(ctx, &computepb.InsertInstanceGroupRequest{Project: p.spec.ProjectID, Zone: zone, InstanceGroupResource: &computepb.InstanceGroup{
			Name: new(partName(p.Name)), Description: &p.text, Network: new(pathOf(p.subnet.GetNetwork())),
		}})
		if err := p.note("the instance group of "+zone+" is being created", o, err); err != nil {
			return err
		}
	}
	return nil
}

// ensureTargets brings the members of the groups in line with the targets.
func (p *pass) ensureTargets(ctx context.Context) error {
	for zone, g := range p.found.groups {
		var want []string
		for _, t := range p.Targets {
			if partOf("/"+t.ID, "zones") == zone {
				want = append(want, t.ID)
			}
		}
		add, drop := cloud.Difference(want, g.members)
		if err := p.addMembers(ctx, g, add); err != nil {
			return err
		}
		if err := p.dropMembers(ctx, g, drop); err != nil {
			return err
		}
	}
	return nil
}

// addMembers adds machines one by one: a call with one that is gone would add none.
func (p *pass) addMembers(ctx context.Context, g *group, ids []string) error {
	for _, id := range ids {
		o, err := p.groups.AddInstances(ctx, &computepb.AddInstancesInstanceGroupRequest{
			Project: p.spec.ProjectID, Zone: g.zone, InstanceGroup: g.GetName(), InstanceGroupsAddInstancesRequestResource: &computepb.InstanceGroupsAddInstancesRequest{Instances: links([]string{id})},
		})
		what := "target " + lastOf(id) + " is being added"
		if gone(err) {
			what = "target " + lastOf(id) + " does not exist"
		}
		if err := p.note(what, o, err); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) dropMembers(ctx context.Context, g *group, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	o, err := p.groups.RemoveInstances(ctx, &computepb.RemoveInstancesInstanceGroupRequest{
		Project: p.spec.ProjectID, Zone: g.zone, InstanceGroup: g.GetName(), InstanceGroupsRemoveInstancesRequestResource: &computepb.InstanceGroupsRemoveInstancesRequest{Instances: links(ids)},
	})
	return p.note("targets are being removed", o, err)
}

func links(ids []string) (all []*computepb.InstanceReference) {
	for _, id := range ids {
		all = append(all, &computepb.InstanceReference{Instance: new(id)})
	}
	return all
}

// ensureServices creates a backend service for each port whose health check exists, and
// brings its groups in line.
func (p *pass) ensureServices(ctx context.Context) error {
	if len(p.found.groups) < len(p.zones) {
		return nil
	}
	for _, port := range cloud.Ports(p.LoadBalancerSpec) {
		have, check := p.found.services[port.Port], p.found.checks[port.Port]
		switch {
		case check == nil, have != nil && p.hasGroups(have):
			continue
		case have != nil:
			o, err := p.services.Patch(ctx, &computepb.PatchRegionBackendServiceRequest{
				Project: p.spec.ProjectID, Region: p.spec.Region, BackendService: have.GetName(),
				BackendServiceResource: &computepb.BackendService{Fingerprint: have.Fingerprint, Backends: p.backends()},
			})
			if err := p.note(fmt.Sprintf("the backends of port %d are being changed", port.Port), o, err); err != nil {
				return err
			}
		default:
			o, err := p.services.Insert(ctx, &computepb.InsertRegionBackendServiceRequest{Project: p.spec.ProjectID, Region: p.spec.Region, BackendServiceResource: p.service(port.Port, check)})
			if err := p.note(fmt.Sprintf("the backend service of port %d is being created", port.Port), o, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pass) service(port int32, check *computepb.HealthCheck) *computepb.BackendService {
	s := &computepb.BackendService{
		Name: new(portName(p.Name, port)), Description: &p.text, LoadBalancingScheme: p.scheme(), Protocol: new(computepb.BackendService_TCP.String()),
		HealthChecks: []string{pathOf(check.GetSelfLink())}, Backends: p.backends(), ConnectionDraining: &computepb.ConnectionDraining{DrainingTimeoutSec: new(int32(30))},
	}
	if p.internal() {
		s.Network = new(pathOf(p.subnet.GetNetwork()))
	}
	return s
}

func (p *pass) backends() (all []*computepb.Backend) {
	for _, zone := range slices.Sorted(slices.Values(p.zones)) {
		if g := p.found.groups[zone]; g != nil {
			all = append(all, &computepb.Backend{Group: new(pathOf(g.GetSelfLink())), BalancingMode: new(computepb.Backend_CONNECTION.String())})
		}
	}
	return all
}

func (p *pass) hasGroups(s *computepb.BackendService) bool {
	var have, want []string
	for _, b := range s.GetBackends() {
		have = append(have, pathOf(b.GetGroup()))
	}
	for _, b := range p.backends() {
		want = append(want, b.GetGroup())
	}
	add, drop := cloud.Difference(want, have)
	return len(add)+len(drop) == 0
}

// ensureRules creates a forwarding rule for each port whose backend service exists.
func (p *pass) ensureRules(ctx context.Context) error {
	for _, port := range cloud.Ports(p.LoadBalancerSpec) {
		service := p.found.services[port.Port]
		if p.found.rules[port.Port] != nil || service == nil || p.found.address.GetAddress() == "" {
			continue
		}
		r := &computepb.ForwardingRule{
			Name: new(portName(p.Name, port.Port)), Description: &p.text, IPAddress: p.found.address.Address, IPProtocol: new(computepb.ForwardingRule_TCP.String()),
			Ports: []string{fmt.Sprint(port.Port)}, LoadBalancingScheme: p.scheme(), BackendService: new(pathOf(service.GetSelfLink())),
		}
		if p.internal() {
			// Clients of other regions and behind VPNs of other regions.
			r.Network, r.Subnetwork, r.AllowGlobalAccess = new(pathOf(p.subnet.GetNetwork())), new(pathOf(p.subnet.GetSelfLink())), new(true)
		} else {
			r.NetworkTier = new(computepb.ForwardingRule_PREMIUM.String())
		}
		o, err := p.rules.Insert(ctx, &computepb.InsertForwardingRuleRequest{Project: p.spec.ProjectID, Region: p.spec.Region, ForwardingRuleResource: r})
		if err := p.note(fmt.Sprintf("port %d is being opened", port.Port), o, err); err != nil {
			return err
		}
	}
	return nil
}

// errPublic refuses a spec that would lock the machines out.
var errPublic = errors.New("allowedCIDRs cannot contain the public addresses of the machines, which are not known before they run")
