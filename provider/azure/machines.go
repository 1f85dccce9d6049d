// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// machines implements provider.Machines.
type machines struct{ *platform }

var _ provider.Machines = machines{}

// mostUserData is what Azure accepts, before it is encoded.
const mostUserData = 65535

// listVMs lists the machines of the resource group, by name.
func (p *platform) listVMs(ctx context.Context, _ []string) (map[string]*armcompute.VirtualMachine, error) {
	all, err := p.vmsIn(ctx)
	by := map[string]*armcompute.VirtualMachine{}
	for _, vm := range all {
		by[strings.ToLower(value(vm.Name))] = vm
	}
	return by, err
}

func (p *platform) vmsIn(ctx context.Context) ([]*armcompute.VirtualMachine, error) {
	return drain(ctx, p.vms.NewListPager(p.spec.ResourceGroup, nil), func(r armcompute.VirtualMachinesClientListResponse) []*armcompute.VirtualMachine { return r.Value })
}

// vm returns the machine of the reference with its run time status, nil if there is none
// that the driver created for the owner.
func (p *platform) vm(ctx context.Context, ref provider.MachineRef) (*armcompute.VirtualMachine, error) {
	found, err := p.vms.Get(ctx, p.spec.ResourceGroup, ref.Name, &armcompute.VirtualMachinesClientGetOptions{Expand: new(armcompute.InstanceViewTypesInstanceView)})
	if gone(err) {
		return nil, nil
	}
	if err != nil || !owned(found.Tags, ref.Owner, ref.Name) {
		return nil, err
	}
	return &found.VirtualMachine, nil
}

// refuseSpec refuses what a spec can say but Azure cannot do.
func refuseSpec(op string, s provider.MachineSpec) error {
	if err := provider.CheckSpec(op, s, clusterTag(s.Owner.Cluster)); err != nil {
		return err
	}
	return cloud.CheckUserData(op, "Azure", s, mostUserData)
}
