// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// preflight implements provider.Preflight.
type preflight struct {
	*platform
	credentials provider.Credentials
}

// Check looks at the project, permissions, zones, subnetwork, firewall rules, service
// account, images, machine types, quotas and names. Without machines it looks at what the
// ProviderConfig itself names.
func (p preflight) Check(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	found, err := check.Run(ctx, specs, p.project, p.permissions, p.placed, p.subnetwork, p.firewall, p.account, p.imagesOf, p.types, p.quota, p.names)
	if err != nil {
		return nil, apiError("check "+p.config, err)
	}
	return found, nil
}

// project reports which project the credentials read.
func (p preflight) project(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	one, err := p.projects.Get(ctx, &computepb.GetProjectRequest{Project: p.spec.ProjectID})
	if err != nil {
		return nil, err
	}
	return []provider.Finding{{Check: "project " + p.spec.ProjectID, Verdict: provider.Passed, Message: fmt.Sprintf("its number in Compute Engine is %d", one.GetId())}}, nil
}

// placed looks for the zones that machines are spread over.
func (p preflight) placed(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	zones, err := p.zoneNames(ctx)
	f, err := check.Verdict("region "+p.spec.Region, within("", err))
	if f.Verdict == provider.Passed {
		f.Message = strings.Join(zones, ", ")
	}
	return []provider.Finding{f}, err
}

// account demands a service account for machines whose cluster has no Secret: on the new
// cluster ambient credentials are those of the machines.
func (p preflight) account(context.Context, []provider.MachineSpec) ([]provider.Finding, error) {
	if p.spec.ServiceAccount != "" || !p.credentials.Empty() {
		return nil, nil
	}
	return cloud.NoCredentials("service account", "set spec.gcp.serviceAccount, or spec.credentialsRef"), nil
}

// names looks for names that Compute Engine does not accept, and for instances of other
// owners with the names of the machines.
func (p preflight) names(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	return check.Each(specs, func(s provider.MachineSpec) (provider.Finding, error) {
		err := checkName("", s.Name)
		if err == nil {
			all, listErr := p.seen.Do(ctx, key(s.MachineRef))
			if err = listErr; err == nil {
				err = taken("", all, s.MachineRef)
			}
		}
		return check.Verdict("name "+s.Name, within("", err))
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
	image, err := p.image(ctx, s)
	f, err := check.Verdict("image "+name, within("", err))
	if err != nil || f.Verdict != provider.Passed {
		return f, err
	}
	f.Message = fmt.Sprintf("%s (%s)", image.GetName(), architecture(image))
	if s.TalosVersion != "" && strings.Contains(image.GetName(), "talos-v") && !cloud.ShowsVersion(image.GetName(), s.TalosVersion) {
		f.Verdict, f.Hint = provider.Unknown, hintImage
		f.Message += " is not named after Talos " + s.TalosVersion
		return f, nil
	}
	if hasSchematic(image, s.Schematic) {
		return f, nil
	}
	return cloud.Schematic{Wanted: s.Schematic, Shown: image.GetDescription(), Needs: s.Extensions, Mark: "the description of the image", Hint: hintImage}.Add(f), nil
}

// types reports the type of every kind of machine in every zone.
func (p preflight) types(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	chosen, err := p.chosen(ctx, specs)
	if err != nil {
		return nil, err
	}
	return catalogue().Findings(chosen)
}

// chosen returns the types of machines in every zone, the zone of the first attempt first.
// It is nil if zones or image are not there, which other checks report.
func (p preflight) chosen(ctx context.Context, specs []provider.MachineSpec) (all []cloud.Choice, err error) {
	zones, err := p.zoneNames(ctx)
	if err != nil {
		return nil, cloud.Unreported(within("", err))
	}
	for _, s := range specs {
		image, err := p.image(ctx, s)
		if err != nil {
			return nil, cloud.Unreported(within("", err))
		}
		for _, zone := range cloud.Successive(zones, itself, cloud.NumberOf(s.Name)) {
			one, err := p.sizeFor(ctx, s, architecture(image), zone)
			all = append(all, cloud.Choice{Spec: s, Zone: zone, Size: one, Err: within("", err)})
		}
	}
	return all, nil
}
