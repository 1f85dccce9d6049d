// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// Create creates the interface, with its address if one is asked for, and then the machine
// with its disks. The machine is created under the condition that none of the name exists;
// the parts have no such condition: they are read first, and their names carry a mark of
// the owner.
func (m machines) Create(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
	op := fmt.Sprintf("create machine %q on %s", s.Name, m.config)
	if err := refuseSpec(op, s); err != nil {
		return provider.Machine{}, err
	}
	there, err := m.existing(ctx, op, s.MachineRef)
	if err != nil {
		return provider.Machine{}, err
	}
	if there != nil {
		return m.resume(ctx, op, s.MachineRef, *there)
	}
	a, err := m.attempt(ctx, op, s)
	if err != nil {
		return provider.Machine{}, err
	}
	request, err := m.request(op, s, a)
	if err != nil {
		return provider.Machine{}, err
	}
	if err := m.createParts(ctx, s, a, tagMap(request.Tags)); err != nil {
		return provider.Machine{}, within(op, err)
	}
	return m.createVM(ctx, op, s.MachineRef, a, request)
}

// existing returns the machine of the owner. One of another owner with the name is a
// Conflict.
func (m machines) existing(ctx context.Context, op string, ref provider.MachineRef) (*armcompute.VirtualMachine, error) {
	all, err := m.listed.Do(ctx, ref.Name)
	if err != nil {
		return nil, apiError(op, err)
	}
	vm := all[strings.ToLower(ref.Name)]
	if vm == nil {
		return nil, nil
	}
	if !owned(vm.Tags, ref.Owner, ref.Name) {
		return nil, nameTaken(op, ref.Name)
	}
	fresh, err := m.vm(ctx, ref) // with its run time status, and not as old as a listing
	return fresh, apiError(op, err)
}

func nameTaken(op, name string) error {
	return provider.NameTaken(op, fmt.Sprintf("virtual machine %q", name), "machineName")
}

// resume reports a machine that exists. One that was never placed is removed, so that the
// next attempt can be in another zone.
func (m machines) resume(ctx context.Context, op string, ref provider.MachineRef, vm armcompute.VirtualMachine) (provider.Machine, error) {
	code, text := failure(vm)
	if !unplaced(vm) {
		return m.report(ctx, op, vm, ref)
	}
	if _, err := m.vms.BeginDelete(ctx, m.spec.ResourceGroup, ref.Name, nil); err != nil && !gone(err) {
		return provider.Machine{}, apiError(op, err)
	}
	where := strings.Join(values(vm.Zones), ", ")
	return provider.Machine{}, provider.Exhausted.New(op, provider.ReasonCapacityExhausted, fmt.Errorf("%s in zone %q: %s: %s", sizeNameOf(vm), where, code, text), cloud.HintNextZone)
}

func (m machines) createVM(ctx context.Context, op string, ref provider.MachineRef, a attempt, request armcompute.VirtualMachine) (provider.Machine, error) {
	_, err := m.vms.BeginCreateOrUpdate(ctx, m.spec.ResourceGroup, ref.Name, request, &armcompute.VirtualMachinesClientBeginCreateOrUpdateOptions{IfNoneMatch: new("*")})
	if taken(err) {
		return m.lost(ctx, op, ref)
	}
	if err != nil {
		return provider.Machine{}, runError(op, a, err)
	}
	return provider.Machine{Ref: ref, State: provider.StatePending, Message: fmt.Sprintf("virtual machine %s (%s) is being created", ref.Name, a.Size)}, nil
}

// lost reads the machine whose name was taken at the moment of its creation: it is the
// owner's if the answer to an earlier call was lost. Else the interface is removed again.
func (m machines) lost(ctx context.Context, op string, ref provider.MachineRef) (provider.Machine, error) {
	vm, err := m.vm(ctx, ref)
	if err != nil {
		return provider.Machine{}, apiError(op, err)
	}
	if vm != nil {
		return m.report(ctx, op, *vm, ref)
	}
	if _, err := m.vms.Get(ctx, m.spec.ResourceGroup, ref.Name, nil); gone(err) {
		return provider.Machine{}, provider.Unavailable.New(op, provider.ReasonNotVisible, fmt.Errorf("virtual machine %q exists, and is not shown yet", ref.Name), cloud.HintAgain)
	}
	if _, err := m.sweep(ctx, op, ref); err != nil {
		return provider.Machine{}, err
	}
	return provider.Machine{}, nameTaken(op, ref.Name)
}

// runError adds to a refusal what was asked for.
func runError(op string, a attempt, err error) error {
	mapped := apiError(op, err)
	if e, ok := mapped.(*provider.Error); ok && e.Kind == provider.Exhausted { //nolint:errorlint // apiError has just created it
		e.Err = fmt.Errorf("%s in %s, zone %q: %w", a.Size, a.Location, a.Zone, e.Err)
	}
	return mapped
}

// createParts creates what a machine needs before it.
func (m machines) createParts(ctx context.Context, s provider.MachineSpec, a attempt, tags map[string]string) error {
	if a.Set {
		if err := m.createSet(ctx, s.Owner, a.Location); err != nil {
			return err
		}
	}
	address := ""
	if m.spec.PublicIP {
		name := partName(s.Owner.ID, s.Name, suffixAddress)
		if err := m.createAddress(ctx, name, a.Location, tags); err != nil {
			return err
		}
		address = m.resource(kindAddress, name)
	}
	return m.createNIC(ctx, s, a, tags, address)
}

func zonesFor(zone string) []string {
	if zone == "" {
		return nil
	}
	return []string{zone}
}

// unchanged lets a write succeed only if the object still has this ETag.
func unchanged(ctx context.Context, etag *string) context.Context {
	if value(etag) == "" {
		return ctx
	}
	return policy.WithHTTPHeader(ctx, http.Header{"If-Match": []string{*etag}})
}
