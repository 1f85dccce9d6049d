// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const (
	// talosOwner is the account that Talos' own images are published in.
	talosOwner = "540036508848"

	hintImage = "set spec.image of the request or spec.aws.ami, or import the image, see docs/getting-started/aws.md"
)

// wanted names the image of a machine.
func (p *platform) wanted(s provider.MachineSpec) string { return cmp.Or(s.Image, p.spec.AMI) }

// image returns the image of a machine: by its id, by its name, or by the Talos version
// and the schematic.
func (p *platform) image(ctx context.Context, s provider.MachineSpec, architecture string) (types.Image, error) {
	name := p.wanted(s)
	switch {
	case strings.HasPrefix(name, "ami-"):
		return p.imageByID(ctx, name)
	case name != "":
		return p.imageByName(ctx, name, nil)
	case s.TalosVersion == "":
		return types.Image{}, provider.Invalid.New("", provider.ReasonImageMissing, errors.New("neither an image nor a Talos version is set"), hintImage)
	}
	return p.talosImage(ctx, s, architecture)
}

func (p *platform) imageByID(ctx context.Context, id string) (types.Image, error) {
	images, err := p.describeImages(ctx, id, &ec2.DescribeImagesInput{ImageIds: []string{id}})
	if err != nil {
		return types.Image{}, err
	}
	if len(images) == 0 {
		return types.Image{}, p.noImage(id)
	}
	return usable(images[0])
}

func (p *platform) describeImages(ctx context.Context, key string, input *ec2.DescribeImagesInput) ([]types.Image, error) {
	return p.images.Get(ctx, key, func(ctx context.Context) ([]types.Image, error) {
		out, err := p.ec2.DescribeImages(ctx, input)
		if err != nil {
			return nil, err
		}
		return out.Images, nil
	})
}

// imageByName returns the newest image of this name, which may be a pattern, of the
// account or of Talos that is accepted.
func (p *platform) imageByName(ctx context.Context, name string, accept func(types.Image) bool) (types.Image, error) {
	images, err := p.describeImages(ctx, name, &ec2.DescribeImagesInput{Owners: []string{"self", talosOwner}, Filters: []types.Filter{filter("name", name)}})
	if err != nil {
		return types.Image{}, err
	}
	if accept != nil {
		images = slices.DeleteFunc(slices.Clone(images), func(i types.Image) bool { return !accept(i) })
	}
	if len(images) == 0 {
		return types.Image{}, p.noImage(name)
	}
	return usable(slices.MaxFunc(images, func(a, b types.Image) int {
		return cmp.Or(strings.Compare(value(a.CreationDate), value(b.CreationDate)), strings.Compare(value(a.ImageId), value(b.ImageId)))
	}))
}

// talosImage looks for an image of the account whose name has version and schematic, and
// else for the published one, which has no extensions.
func (p *platform) talosImage(ctx context.Context, s provider.MachineSpec, architecture string) (types.Image, error) {
	pattern := "*" + s.TalosVersion + "*"
	if s.Schematic != "" && s.Schematic != cloud.PlainSchematic {
		found, err := p.imageByName(ctx, pattern, func(i types.Image) bool {
			return strings.Contains(shown(i), s.Schematic) && cloud.ShowsVersion(value(i.Name), s.TalosVersion) && string(i.Architecture) == architecture
		})
		if e, ok := errors.AsType[*provider.Error](err); !ok || e.Reason != provider.ReasonImageNotFound {
			return found, err
		}
	}
	name := talosName(s.TalosVersion, p.spec.Region, architecture)
	return p.imageByName(ctx, name, func(i types.Image) bool { return string(i.Architecture) == architecture })
}

// talosName is the name of a published image.
func talosName(version, region, architecture string) string {
	short := map[string]string{string(types.ArchitectureValuesX8664): "amd64", string(types.ArchitectureValuesArm64): "arm64"}
	return cloud.TalosName(version, region, short[architecture])
}

// shown is the text of an image that may name its schematic.
func shown(i types.Image) string { return value(i.Name) + " " + value(i.Description) }

func (p *platform) noImage(name string) error {
	return provider.Invalid.New("", provider.ReasonImageNotFound, fmt.Errorf("region %s has no image %q that the account may use", p.spec.Region, name), hintImage)
}

// usable refuses an image that no machine can boot from.
func usable(i types.Image) (types.Image, error) {
	name := fmt.Sprintf("image %s (%s)", value(i.ImageId), value(i.Name))
	switch {
	case i.State == types.ImageStatePending:
		return i, provider.Unavailable.New("", provider.ReasonImageNotReady, errors.New(name+" is being imported"), cloud.HintAgain)
	case i.State != types.ImageStateAvailable && i.State != "":
		return i, provider.Invalid.New("", provider.ReasonImageBroken, fmt.Errorf("%s is %s", name, i.State), "import it again")
	case i.RootDeviceName == nil || i.RootDeviceType == types.DeviceTypeInstanceStore:
		return i, provider.Invalid.New("", provider.ReasonImageInvalid, errors.New(name+" has no root disk on EBS"), hintImage)
	}
	return i, nil
}

// root returns the snapshot and the size of the root disk of an image.
func root(i types.Image) (snapshot string, sizeGB int32) {
	for _, d := range i.BlockDeviceMappings {
		if d.Ebs != nil && value(d.DeviceName) == value(i.RootDeviceName) {
			return value(d.Ebs.SnapshotId), value(d.Ebs.VolumeSize)
		}
	}
	return "", 0
}

// architecture is that of the images that are looked up for the settings.
func (p *platform) architecture(ctx context.Context) (string, error) {
	if p.spec.InstanceType == "" {
		return string(types.ArchitectureValuesX8664), nil
	}
	one, err := p.settings.named(ctx, p.spec.InstanceType)
	if err == nil && one.Boots(string(types.ArchitectureValuesArm64)) {
		return string(types.ArchitectureValuesArm64), nil
	}
	return string(types.ArchitectureValuesX8664), err
}
