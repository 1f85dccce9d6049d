// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// part is a disk or an interface that carries the tags of a machine.
type part struct {
	provider.Part
	tags []types.Tag
	// holder is the instance that it is attached to.
	holder string
	// snapshot is what a disk was created from.
	snapshot string
	deleting bool
	remove   func(context.Context) error
}

// parts lists disks and interfaces that the filters select.
func (p *platform) parts(ctx context.Context, filters ...types.Filter) ([]part, error) {
	disks, err := p.disks(ctx, filters)
	if err != nil {
		return nil, err
	}
	nics, err := p.networkInterfaces(ctx, filters)
	return append(disks, nics...), err
}

func (p *platform) disks(ctx context.Context, filters []types.Filter) (all []part, err error) {
	in := &ec2.DescribeVolumesInput{Filters: filters, MaxResults: new(int32(500))}
	for more := true; more; more = value(in.NextToken) != "" {
		page, err := p.ec2.DescribeVolumes(ctx, in)
		if err != nil {
			return nil, err
		}
		in.NextToken = page.NextToken
		for _, v := range page.Volumes {
			all = append(all, p.volume(v))
		}
	}
	return all, nil
}

func (p *platform) networkInterfaces(ctx context.Context, filters []types.Filter) (all []part, err error) {
	in := &ec2.DescribeNetworkInterfacesInput{Filters: filters, MaxResults: new(int32(500))}
	for more := true; more; more = value(in.NextToken) != "" {
		page, err := p.ec2.DescribeNetworkInterfaces(ctx, in)
		if err != nil {
			return nil, err
		}
		in.NextToken = page.NextToken
		for _, n := range page.NetworkInterfaces {
			all = append(all, p.networkInterface(n))
		}
	}
	return all, nil
}

func (p *platform) volume(v types.Volume) part {
	out := part{
		Part: provider.Part{Kind: provider.PartDisk, Name: value(v.VolumeId)}, tags: v.Tags, snapshot: value(v.SnapshotId),
		deleting: v.State == types.VolumeStateDeleting || v.State == types.VolumeStateDeleted,
		remove: func(ctx context.Context) error {
			_, err := p.ec2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: v.VolumeId})
			return err
		},
	}
	for _, a := range v.Attachments {
		if a.State != types.VolumeAttachmentStateDetached {
			out.holder = value(a.InstanceId)
		}
	}
	return out
}

// partInterface is the kind of network interfaces.
const partInterface = "network interface"

func (p *platform) networkInterface(n types.NetworkInterface) part {
	out := part{
		Part: provider.Part{Kind: partInterface, Name: value(n.NetworkInterfaceId)}, tags: n.TagSet,
		remove: func(ctx context.Context) error {
			_, err := p.ec2.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: n.NetworkInterfaceId})
			return err
		},
	}
	if n.Attachment != nil && n.Attachment.Status != types.AttachmentStatusDetached {
		out.holder = value(n.Attachment.InstanceId)
	}
	return out
}

// copied reports whether the driver did not create the part: it is attached to an
// instance that is no machine of the owner, or was restored from a backup.
func (d part) copied(holders map[string]bool) bool {
	if d.holder != "" {
		return !holders[d.holder]
	}
	return d.snapshot != "" && d.snapshot != tagMap(d.tags)[tagSnapshot]
}

// partsBy lists the parts of several owners.
func (p *platform) partsBy(ctx context.Context, owners []string) (map[string][]part, error) {
	all, err := p.parts(ctx, filter("tag:"+tag.OwnerID, owners...))
	by := map[string][]part{}
	for _, d := range all {
		id := tagsOf(d.tags).OwnerID
		by[id] = append(by[id], d)
	}
	return by, err
}

// remains returns the parts that are left of a machine that has no instance.
func (m machines) remains(ctx context.Context, ref provider.MachineRef) (left []part, err error) {
	all, err := m.remnants.Do(ctx, ref.Owner.ID)
	for _, d := range all[ref.Owner.ID] {
		if tagsOf(d.tags).Machine == ref.Name && !d.copied(nil) {
			left = append(left, d)
		}
	}
	return left, err
}

// remnant reports a machine of which only parts are left.
func remnant(ref provider.MachineRef, left []part) provider.Machine {
	return provider.Machine{Ref: ref, State: provider.StatePartial, Message: "the instance is gone, but " + left[0].Kind + " " + left[0].Name + " is left"}
}
