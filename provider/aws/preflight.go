// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
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
		return []provider.Finding{{
			Check: "instance profile", Verdict: provider.Refused, Message: "without a Secret the new cluster uses the credentials of its machines, and they have none",
			Hint: "set spec.aws.iamInstanceProfile, or spec.credentialsRef",
		}}, nil
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
	if len(specs) == 0 && p.spec.AMI != "" {
		specs = []provider.MachineSpec{{}} // what a machine without an image of its own gets
	}
	seen := map[string]bool{}
	var all []provider.Finding
	for _, s := range specs {
		key := p.wanted(s) + " " + s.TalosVersion + " " + s.Schematic
		if seen[key] {
			continue
		}
		seen[key] = true
		f, err := p.oneImage(ctx, s)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

func (p preflight) oneImage(ctx context.Context, s provider.MachineSpec) (provider.Finding, error) {
	name := p.wanted(s)
	if name == "" {
		name = "for Talos " + s.TalosVersion
	}
	architecture, err := p.architecture(ctx)
	if err != nil {
		return check.Verdict("image "+name, within("", err))
	}
	image, err := p.image(ctx, s, architecture)
	f, err := check.Verdict("image "+name, within("", err))
	if err != nil || f.Verdict != provider.Passed {
		return f, err
	}
	f.Message = fmt.Sprintf("%s (%s, %s)", value(image.ImageId), value(image.Name), image.Architecture)
	text := value(image.Name) + " " + value(image.Description)
	switch {
	case s.Schematic == "" || strings.Contains(text, s.Schematic):
	case value(image.OwnerId) == talosOwner && s.Schematic != plainSchematic:
		f.Verdict, f.Hint = provider.Unknown, hintImage
		f.Message += " is the published one without extensions; the manifest has the schematic " + s.Schematic
	case value(image.OwnerId) != talosOwner:
		f.Verdict, f.Hint = provider.Unknown, "name the schematic in the name or the description of the image"
		f.Message += " does not show whether it has the schematic " + s.Schematic + ", which is compared once a machine runs"
	}
	return f, nil
}

// sizes reports the type of every kind of machine in every zone.
func (p preflight) sizes(ctx context.Context, specs []provider.MachineSpec) (all []provider.Finding, err error) {
	chosen, err := p.chosen(ctx, specs)
	if err != nil || chosen == nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, c := range chosen {
		about := fmt.Sprintf("instance type for %d vCPUs and %d MiB in %s", c.spec.CPU, c.spec.MemoryMB, c.zone)
		if seen[about] {
			continue
		}
		seen[about] = true
		f, err := check.Verdict(about, c.err)
		if err != nil {
			return nil, err
		}
		if c.err == nil {
			f.Message = c.size.name
		}
		all = append(all, f)
	}
	return all, nil
}

// choice is the type of a machine in a zone, or why there is none.
type choice struct {
	spec provider.MachineSpec
	zone string
	size size
	err  error
}

// chosen returns the types of machines in every zone, the zone of the first attempt first.
// It is nil if subnets or image are not there, which other checks report.
func (p preflight) chosen(ctx context.Context, specs []provider.MachineSpec) (all []choice, err error) {
	subnets, err := p.subnets(ctx)
	if err != nil {
		return nil, unlessReported(err)
	}
	architecture, err := p.architecture(ctx)
	if err != nil {
		return nil, unlessReported(err)
	}
	for _, s := range specs {
		image, err := p.image(ctx, s, architecture)
		if err != nil {
			return nil, unlessReported(err)
		}
		var zones []string
		for n := range subnets {
			zone := value(spread(subnets, numberOf(s.Name), n).AvailabilityZone)
			if slices.Contains(zones, zone) {
				continue
			}
			zones = append(zones, zone)
			one, err := p.sizeFor(ctx, s, string(image.Architecture), zone)
			all = append(all, choice{s, zone, one, within("", err)})
		}
	}
	return all, nil
}

// unlessReported is the error of a lookup that no other check turns into a finding.
func unlessReported(err error) error {
	_, err = check.Verdict("", within("", err))
	return err
}
