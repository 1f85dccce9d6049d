// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// preflight implements provider.Preflight.
type preflight struct {
	*platform
	credentials provider.Credentials
}

// Check looks at the account, permissions, subnets, security groups, images, types, quotas
// and names. Without machines it looks at what the ProviderConfig itself names.
func (p preflight) Check(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	found, err := check.Run(ctx, specs, p.account, p.permissions, p.subnetworks, p.groups, p.profile, p.imagesOf, p.sizes, p.quota, p.names)
	if err != nil {
		return nil, apiError("check "+p.config, err)
	}
	return found, nil
}

// account reports whose credentials these are.
func (p preflight) account(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	who, err := p.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return nil, err
	}
	return []provider.Finding{{Check: "account " + value(who.Account), Verdict: provider.Passed, Message: "the credentials are those of " + value(who.Arn)}}, nil
}

// profile looks for the instance profile. On the new cluster ambient credentials are those
// of the machines: without a profile there are none.
func (p preflight) profile(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	name := p.spec.IAMInstanceProfile
	if name == "" {
		if !p.credentials.Empty() {
			return nil, nil
		}
		return cloud.NoCredentials("instance profile", "set spec.aws.iamInstanceProfile, or spec.credentialsRef"), nil
	}
	short := name[strings.LastIndex(name, "/")+1:]
	_, err := p.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &short})
	f, err := check.Verdict("instance profile "+name, apiError("", err))
	if f.Verdict == provider.Refused {
		f.Hint = "create it, or correct spec.aws.iamInstanceProfile"
	}
	return []provider.Finding{f}, err
}

// names looks for instances of other owners with the names of the machines.
func (p preflight) names(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	return check.Each(specs, func(s provider.MachineSpec) (provider.Finding, error) {
		return check.Verdict("name "+s.Name, p.free(ctx, "", s.MachineRef))
	})
}

// imagesOf looks at every image that is wanted, and compares its schematic.
func (p preflight) imagesOf(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	return cloud.Images(specs, p.wanted, func(s provider.MachineSpec) (provider.Finding, error) { return p.oneImage(ctx, s) })
}

func (p preflight) oneImage(ctx context.Context, s provider.MachineSpec) (provider.Finding, error) {
	name := p.wanted(s)
	if name == "" {
		name = "for Talos " + s.TalosVersion
	}
	architecture, err := p.architecture(ctx)
	if err != nil {
		return check.Verdict("instance type "+p.spec.InstanceType, within("", err))
	}
	image, err := p.image(ctx, s, architecture)
	f, err := check.Verdict("image "+name, within("", err))
	if err != nil || f.Verdict != provider.Passed {
		return f, err
	}
	f.Message = fmt.Sprintf("%s (%s, %s)", value(image.ImageId), value(image.Name), image.Architecture)
	return cloud.Schematic{
		Wanted: s.Schematic, Shown: shown(image), Published: value(image.OwnerId) == talosOwner,
		Needs: s.Extensions, Hint: hintImage, Mark: "the name or the description of the image",
	}.Add(f), nil
}

// sizes reports the type of every kind of machine in every zone.
func (p preflight) sizes(ctx context.Context, specs []provider.MachineSpec) (all []provider.Finding, err error) {
	chosen, err := p.chosen(ctx, specs)
	if err != nil || chosen == nil {
		return nil, err
	}
	return typesOf().Findings(chosen)
}

// chosen returns the types of machines in every zone, the zone of the first attempt first.
// It is nil if subnets or image are not there, which other checks report.
func (p preflight) chosen(ctx context.Context, specs []provider.MachineSpec) (all []cloud.Choice, err error) {
	subnets, err := p.subnets(ctx)
	if err != nil {
		return nil, cloud.Unreported(within("", err))
	}
	architecture, err := p.architecture(ctx)
	if err != nil {
		return nil, cloud.Unreported(within("", err))
	}
	for _, s := range specs {
		image, err := p.image(ctx, s, architecture)
		if err != nil {
			return nil, cloud.Unreported(within("", err))
		}
		for _, zone := range cloud.Successive(subnets, zoneOfSubnet, cloud.NumberOf(s.Name)) {
			one, err := p.sizeFor(ctx, s, string(image.Architecture), zone)
			all = append(all, cloud.Choice{Spec: s, Zone: zone, Size: one, Err: within("", err)})
		}
	}
	return all, nil
}
