// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

// balancer is all that Google Cloud holds under the name and the owner of a load balancer.
// Most of its parts have no labels: their description is the tags.
type balancer struct {
	cloud.Claim

	address  *computepb.Address
	firewall *computepb.Firewall
	rules    map[int32]*computepb.ForwardingRule
	services map[int32]*computepb.BackendService
	checks   map[int32]*computepb.HealthCheck
	groups   map[string]*group // by zone
}

// group is the instance group of a zone.
type group struct {
	*computepb.InstanceGroup
	zone    string
	members []string // IDs of machines
}

// partName is how the names of all parts begin; it is that of address and groups.
func partName(name string) string {
	if name != "" && (name[0] < 'a' || name[0] > 'z') {
		name = "lb-" + name
	}
	return cloud.Short(name, mostName-len("-65535"))
}

// portName is the name of the parts of a port.
func portName(name string, port int32) string { return fmt.Sprintf("%s-%d", partName(name), port) }

// firewallName has the region: firewall rules are global.
func (b balancers) firewallName(name string) string {
	return cloud.Short(partName(name)+"-"+b.spec.Region, mostName)
}

// find reads what exists of a load balancer.
func (b balancers) find(ctx context.Context, ref provider.LoadBalancerRef) (*balancer, error) {
	found := &balancer{
		Claim: cloud.Claim{Ref: ref}, rules: map[int32]*computepb.ForwardingRule{}, services: map[int32]*computepb.BackendService{},
		checks: map[int32]*computepb.HealthCheck{}, groups: map[string]*group{},
	}
	for _, read := range []func(context.Context, *balancer) error{b.findAddress, b.findFirewall, b.findPorts, b.findGroups} {
		if err := read(ctx, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (b balancers) findAddress(ctx context.Context, f *balancer) error {
	one, err := b.addresses.Get(ctx, &computepb.GetAddressRequest{Project: b.spec.ProjectID, Region: b.spec.Region, Address: partName(f.Ref.Name)})
	if err == nil && f.owns(one.GetDescription(), "address "+one.GetName()) {
		f.address = one
	}
	return unlessGone(err)
}

func (b balancers) findFirewall(ctx context.Context, f *balancer) error {
	one, err := b.firewalls.Get(ctx, &computepb.GetFirewallRequest{Project: b.hostProject(), Firewall: b.firewallName(f.Ref.Name)})
	if err == nil && f.owns(one.GetDescription(), "firewall rule "+one.GetName()) {
		f.firewall = one
	}
	return unlessGone(err)
}

func unlessGone(err error) error {
	if gone(err) {
		return nil
	}
	return err
}

// ofPorts selects the parts of all ports.
func ofPorts(name string) *string { return new(fmt.Sprintf(`name eq "%s-[0-9]+"`, partName(name))) }

// portOf is the port at the end of a name.
func portOf(name string) int32 {
	n, _ := strconv.ParseInt(name[strings.LastIndex(name, "-")+1:], 10, 32) // the filter selects digits
	return int32(n)
}

// findPorts reads the parts of all ports.
func (b balancers) findPorts(ctx context.Context, f *balancer) error {
	ctx, end := b.bind(ctx)
	defer end()
	project, region, filter := b.spec.ProjectID, b.spec.Region, ofPorts(f.Ref.Name)
	return errors.Join(
		collect(b.rules.List(ctx, &computepb.ListForwardingRulesRequest{Project: project, Region: region, Filter: filter}).All(), partRule, keep(f, f.rules)),
		collect(b.services.List(ctx, &computepb.ListRegionBackendServicesRequest{Project: project, Region: region, Filter: filter}).All(), partService, keep(f, f.services)),
		collect(b.checks.List(ctx, &computepb.ListRegionHealthChecksRequest{Project: project, Region: region, Filter: filter}).All(), partCheck, keep(f, f.checks)),
	)
}

// keep adds the owner's parts by their ports.
func keep[T described](f *balancer, by map[int32]T) func(string, described) {
	return func(kind string, one described) {
		if part, ok := one.(T); ok && f.owns(one.GetDescription(), kind+" "+one.GetName()) {
			by[portOf(one.GetName())] = part
		}
	}
}

func (b balancers) findGroups(ctx context.Context, f *balancer) error {
	all, err := b.listGroups(ctx, new(fmt.Sprintf(`name="%s"`, partName(f.Ref.Name))))
	if err != nil {
		return err
	}
	for _, g := range all {
		zone := lastOf(g.GetZone())
		if !b.inRegion(zone) || !f.owns(g.GetDescription(), "instance group "+g.GetName()+" in "+zone) {
			continue
		}
		members, err := b.members(ctx, zone, g.GetName())
		if err != nil {
			return err
		}
		f.groups[zone] = &group{g, zone, members}
	}
	return nil
}

// listGroups lists the instance groups of all zones that a filter selects; nil means all.
func (b balancers) listGroups(ctx context.Context, filter *string) (all []*computepb.InstanceGroup, err error) {
	ctx, end := b.bind(ctx)
	defer end()
	list := b.groups.AggregatedList(ctx, &computepb.AggregatedListInstanceGroupsRequest{Project: b.spec.ProjectID, Filter: filter})
	for scope, err := range list.All() {
		if err == nil {
			err = b.unreachable(scope.Key, scope.Value.GetWarning())
		}
		if err != nil {
			return nil, err
		}
		all = append(all, scope.Value.GetInstanceGroups()...)
	}
	return all, nil
}

// members returns the IDs of the machines in a group. The SDK writes the path into the
// body of this request, which is not what the API accepts.
func (b balancers) members(ctx context.Context, zone, name string) (ids []string, err error) {
	path := fmt.Sprintf("%s/compute/v1/projects/%s/zones/%s/instanceGroups/%s/listInstances", cmp.Or(b.base, "https://compute.googleapis.com"), b.spec.ProjectID, zone, name)
	for token := ""; ; {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, path+"?pageToken="+url.QueryEscape(token), strings.NewReader("{}"))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		var page struct {
			Items         []struct{ Instance string }
			NextPageToken string
		}
		if err := b.call(r, &page); err != nil {
			return nil, unlessGone(err)
		}
		for _, one := range page.Items {
			ids = append(ids, pathOf(one.Instance))
		}
		if token = page.NextPageToken; token == "" {
			return ids, nil
		}
	}
}

// owns reports whether a description is that of the owner; else it notes what is taken.
func (f *balancer) owns(description, what string) bool {
	return f.Owns(tag.GCP().ReadText(description), what)
}

// report returns the state. The endpoint is known as soon as the address is reserved.
func (f *balancer) report() provider.LoadBalancer {
	r := provider.LoadBalancer{Ref: f.Ref, State: provider.StateRunning}
	if f.address == nil {
		if r.State = provider.StateAbsent; f.parts() > 0 {
			r.State, r.Message = provider.StatePartial, "parts of the load balancer exist without an address"
		}
		return r
	}
	r.ID, r.Endpoint = pathOf(f.address.GetSelfLink()), f.address.GetAddress()
	for _, g := range f.groups {
		r.Registered += int32(len(g.members))
	}
	if missing := f.missing(); missing != "" {
		r.State, r.Message = provider.StatePartial, missing
	}
	return r
}

func (f *balancer) parts() int {
	n := len(f.rules) + len(f.services) + len(f.checks) + len(f.groups)
	if f.firewall != nil {
		n++
	}
	return n
}

// missing says which part lacks its counterpart.
func (f *balancer) missing() string {
	switch {
	case f.address.GetAddress() == "":
		return "the address is being reserved"
	case len(f.groups) == 0:
		return "there is no instance group"
	case f.firewall == nil:
		return "there is no firewall rule"
	case len(f.rules) == 0:
		return "there is no forwarding rule"
	}
	for _, port := range f.ports() {
		if f.rules[port] == nil || f.services[port] == nil || f.checks[port] == nil {
			return fmt.Sprintf("port %d has no forwarding rule, no backend service or no health check", port)
		}
	}
	return ""
}

// ports are those of which a part exists.
func (f *balancer) ports() []int32 {
	all := slices.Concat(slices.Collect(maps.Keys(f.rules)), slices.Collect(maps.Keys(f.services)), slices.Collect(maps.Keys(f.checks)))
	slices.Sort(all)
	return slices.Compact(all)
}
