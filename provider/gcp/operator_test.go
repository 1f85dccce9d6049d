// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
	"github.com/butlerdotdev/butler/provider/tag"
)

// operator sees and changes the simulated project as its administrator does. Faults are
// the simulator's.
type operator struct{ *fixture }

// CreateConflict implements providertest.Operator.
func (o operator) CreateConflict(ctx context.Context, name string) error {
	return o.run(ctx, name, nil)
}

// run creates an instance as the console does, and waits until it runs.
func (o operator) run(ctx context.Context, name string, labels map[string]string) error {
	image, err := o.admin.talosImage(ctx, provider.MachineSpec{TalosVersion: talosVersion})
	if err != nil {
		return err
	}
	subnet, err := o.admin.subnet(ctx)
	if err != nil {
		return err
	}
	zone := o.seed.Region + "-a"
	begun, err := o.admin.instances.Insert(ctx, &computepb.InsertInstanceRequest{Project: o.seed.Project, Zone: zone, InstanceResource: &computepb.Instance{
		Name: &name, MachineType: new("zones/" + zone + "/machineTypes/e2-standard-2"), Labels: labels,
		Disks: []*computepb.AttachedDisk{{Boot: new(true), AutoDelete: new(true), InitializeParams: &computepb.AttachedDiskInitializeParams{
			SourceImage: new(pathOf(image.GetSelfLink())), Labels: labels,
		}}},
		NetworkInterfaces: []*computepb.NetworkInterface{{Subnetwork: new(pathOf(subnet.GetSelfLink()))}},
	}})
	return o.ended(ctx, begun, err)
}

// ended waits for an operation.
func (o operator) ended(ctx context.Context, begun *compute.Operation, err error) error {
	for err == nil && !begun.Done() {
		<-time.After(20 * time.Millisecond)
		err = begun.Poll(ctx)
	}
	if err != nil {
		return err
	}
	return failureOf(begun.Proto())
}

// Clone implements providertest.Operator: "create similar" of the console copies labels.
func (o operator) Clone(ctx context.Context, name, as string) (func(), error) {
	of, err := o.admin.listInstances(ctx, `name="`+name+`"`)
	if err != nil || len(of) != 1 {
		return nil, fmt.Errorf("%d machines of the name: %w", len(of), err)
	}
	err = o.run(ctx, as, of[0].GetLabels())
	return func() {
		// What is left is seen by the next look.
		_, _ = o.admin.instances.Delete(context.WithoutCancel(ctx), &computepb.DeleteInstanceRequest{Project: o.seed.Project, Zone: o.seed.Region + "-a", Instance: as})
	}, err
}

// Inspect implements providertest.Operator.
func (o operator) Inspect(ctx context.Context, name string) (s providertest.View, err error) {
	instances, err := o.admin.listInstances(ctx, `name="`+name+`"`)
	if err != nil {
		return s, err
	}
	for _, i := range instances {
		seen, err := o.seen(ctx, i)
		if err != nil {
			return s, err
		}
		s.Machines = append(s.Machines, seen)
	}
	disks, err := o.admin.listDisks(ctx, `name eq "`+name+`(-disk-[0-9]+)?"`)
	for _, d := range disks {
		s.Parts = append(s.Parts, d.GetName()+" in "+lastOf(d.GetZone()))
	}
	return s, err
}

func (o operator) seen(ctx context.Context, i *computepb.Instance) (s providertest.MachineState, err error) {
	s = providertest.MachineState{
		ID: o.admin.path(lastOf(i.GetZone()), i.GetName()), Owner: i.GetLabels()[labelOwner], Labels: i.GetLabels(),
		Version: fmt.Sprint(i.GetLabels(), i.GetStatus(), i.GetMachineType()),
	}
	size, err := o.admin.types.Get(ctx, &computepb.GetMachineTypeRequest{Project: o.seed.Project, Zone: lastOf(i.GetZone()), MachineType: lastOf(i.GetMachineType())})
	if err != nil {
		return s, err
	}
	s.CPU, s.MemoryMB = size.GetGuestCpus(), size.GetMemoryMb()
	for _, item := range i.GetMetadata().GetItems() {
		if item.GetKey() == "user-data" {
			s.UserData = item.GetValue()
		}
	}
	for _, d := range i.GetDisks() {
		one, err := o.admin.disks.Get(ctx, &computepb.GetDiskRequest{Project: o.seed.Project, Zone: lastOf(i.GetZone()), Disk: lastOf(d.GetSource())})
		if gone(err) {
			continue // it is being deleted
		}
		if err != nil {
			return s, err
		}
		if d.GetBoot() {
			s.DiskGB = int32(one.GetSizeGb())
		} else {
			s.ExtraDisksGB = append(s.ExtraDisksGB, int32(one.GetSizeGb()))
		}
	}
	return s, nil
}

// InspectBalancers implements providertest.LoadBalancerOperator: the forwarding rules at one
// address are a load balancer, everything else is a part.
func (o operator) InspectBalancers(ctx context.Context, name string) (s providertest.BalancerView, err error) {
	b := balancers{o.admin}
	var seen providertest.BalancerState
	var services []string
	project, region := o.seed.Project, o.seed.Region
	of := func(name2 string) bool { return strings.HasPrefix(name2, name) }
	for r, err := range b.rules.List(ctx, &computepb.ListForwardingRulesRequest{Project: project, Region: region}).All() {
		if err != nil {
			return s, err
		}
		if of(r.GetName()) {
			seen.Ports = append(seen.Ports, portOf(r.GetName()))
			seen.Owner = tag.GCP().ReadText(r.GetDescription()).OwnerID
			services = append(services, lastOf(r.GetBackendService()))
		}
	}
	for one, err := range b.services.List(ctx, &computepb.ListRegionBackendServicesRequest{Project: project, Region: region}).All() {
		if err != nil {
			return s, err
		}
		if of(one.GetName()) {
			s.Parts = append(s.Parts, "backend service "+one.GetName())
		}
		if len(services) > 0 && one.GetName() == services[0] {
			if seen.Targets, err = o.targets(ctx, one); err != nil {
				return s, err
			}
		}
	}
	if err := o.lookParts(ctx, of, &s, &seen); err != nil {
		return s, err
	}
	if len(seen.Ports) > 0 {
		slices.Sort(seen.Ports)
		seen.Port = seen.Ports[0]
		s.Balancers = append(s.Balancers, seen)
	}
	return s, nil
}

func (o operator) lookParts(ctx context.Context, of func(string) bool, s *providertest.BalancerView, seen *providertest.BalancerState) error {
	b := balancers{o.admin}
	objects := map[string][]string{}
	add := func(kind string, one described) {
		if of(one.GetName()) {
			objects[kind] = append(objects[kind], one.GetName())
			s.Parts = append(s.Parts, kind+" "+one.GetName())
		}
		if f, ok := one.(*computepb.Firewall); ok && of(f.GetName()) {
			seen.AllowedCIDRs = slices.DeleteFunc(slices.Clone(f.GetSourceRanges()), func(r string) bool { return r == "0.0.0.0/0" })
		}
	}
	project, region := o.seed.Project, o.seed.Region
	for _, err := range []error{
		collect(b.checks.List(ctx, &computepb.ListRegionHealthChecksRequest{Project: project, Region: region}).All(), partCheck, add),
		collect(b.addresses.List(ctx, &computepb.ListAddressesRequest{Project: project, Region: region}).All(), provider.PartAddress, add),
		collect(b.firewalls.List(ctx, &computepb.ListFirewallsRequest{Project: project}).All(), partFirewall, add),
	} {
		if err != nil {
			return err
		}
	}
	groups, err := b.listGroups(ctx, nil)
	for _, g := range groups {
		add(partGroup, g)
	}
	return err
}

// targets are the members of the groups of a backend service.
func (o operator) targets(ctx context.Context, service *computepb.BackendService) (all []string, err error) {
	for _, g := range service.GetBackends() {
		members, err := balancers{o.admin}.members(ctx, partOf(g.GetGroup(), "zones"), lastOf(g.GetGroup()))
		if err != nil {
			return nil, err
		}
		all = append(all, members...)
	}
	return all, nil
}
