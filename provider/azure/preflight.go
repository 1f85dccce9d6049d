// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// preflight implements provider.Preflight.
type preflight struct {
	*platform
	credentials provider.Credentials
}

// Check looks at the subscription, permissions, subnet, security group, images, sizes,
// quotas and names. Without machines it looks at what the ProviderConfig itself names.
func (p preflight) Check(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	found, err := check.Run(ctx, specs, p.account, p.permissions, p.subnetwork, p.securityGroups, p.identityOfMachines, p.imagesOf, p.sizesOf, p.quotas, p.names)
	if err != nil {
		return nil, apiError("check "+p.config, err)
	}
	return found, nil
}

// account reports the subscription and the resource group.
func (p preflight) account(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	s, err := p.subscription(ctx)
	f, err := check.Verdict("subscription "+p.spec.SubscriptionID, within("", err))
	if err != nil {
		return nil, err
	}
	if f.Verdict == provider.Passed {
		f.Message = strings.TrimSpace(s.DisplayName + " of tenant " + s.TenantID)
	}
	if f.Verdict == provider.Passed && s.State != "" && s.State != "Enabled" {
		f.Verdict, f.Message, f.Hint = provider.Refused, "the subscription is "+s.State, "enable it"
	}
	g, err := read[group](ctx, p.clients, p.scope(), versionResources)
	of, err := check.Verdict("resource group "+p.spec.ResourceGroup, within("", err))
	if err != nil {
		return nil, err
	}
	if of.Verdict == provider.Passed {
		of.Message = "location " + cmp.Or(plainLocation(p.spec.Location), plainLocation(g.Location))
	}
	return []provider.Finding{f, of}, nil
}

// identityOfMachines refuses ambient credentials: on the new cluster they would be those of
// the machines, which have none.
func (p preflight) identityOfMachines(context.Context, []provider.MachineSpec) ([]provider.Finding, error) {
	if !p.credentials.Empty() {
		return nil, nil
	}
	return cloud.NoCredentials("credentials of the cluster", "set spec.credentialsRef"), nil
}

// names looks for machines of other owners with the names of the machines, and for names
// that Azure or a node cannot have.
func (p preflight) names(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	all, err := p.listed.Do(ctx, "")
	if err != nil {
		f, err := check.Verdict("names", apiError("", err))
		return []provider.Finding{f}, err
	}
	return check.Each(specs, func(s provider.MachineSpec) (provider.Finding, error) {
		f := provider.Finding{Check: "name " + s.Name, Verdict: provider.Passed}
		if why := unusableName(s.Name); why != "" {
			f.Verdict, f.Message, f.Hint = provider.Refused, why, "choose another machineName"
		} else if vm := all[strings.ToLower(s.Name)]; vm != nil && !owned(vm.Tags, s.Owner, s.Name) {
			return check.Verdict(f.Check, nameTaken("", s.Name))
		}
		return f, nil
	})
}

// unusableName says why a machine, and the node that it becomes, cannot have the name.
func unusableName(name string) string {
	switch {
	case len(name) > 63:
		return fmt.Sprintf("it has %d characters, and a node has at most 63", len(name))
	case strings.ToLower(name) != name:
		return "it has capital letters, and the name of a node has none"
	}
	return ""
}

// imagesOf looks at every image that is wanted, and compares its schematic.
func (p preflight) imagesOf(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	return cloud.Images(specs, p.wanted, func(s provider.MachineSpec) (provider.Finding, error) { return p.oneImage(ctx, s) })
}

func (p preflight) oneImage(ctx context.Context, s provider.MachineSpec) (provider.Finding, error) {
	found, err := p.image(ctx, s)
	f, err := check.Verdict("image "+cmp.Or(p.wanted(s), "for Talos "+s.TalosVersion), within("", err))
	if err != nil || f.Verdict != provider.Passed {
		return f, err
	}
	f.Message = fmt.Sprintf("%s (%s, generation %s)", found.reference, found.architecture, cmp.Or(found.generation, "unknown"))
	return cloud.Schematic{Wanted: s.Schematic, Shown: found.text, Published: found.published, Needs: s.Extensions, Hint: hintImage, Mark: "the name or a tag of the image"}.Add(f), nil
}

// sizesOf reports the size of every kind of machine in every zone.
func (p preflight) sizesOf(ctx context.Context, specs []provider.MachineSpec) (all []provider.Finding, err error) {
	seen := map[string]bool{}
	for _, s := range specs {
		about := fmt.Sprintf("VM size for %d vCPUs and %d MiB", s.CPU, s.MemoryMB)
		if seen[about] {
			continue
		}
		seen[about] = true
		spots, known, err := p.chosen(ctx, s)
		if !known {
			if err != nil {
				return nil, err
			}
			continue
		}
		f, err := check.Verdict(about, within("", err))
		if err != nil {
			return nil, err
		}
		for _, at := range spots {
			f.Message = strings.TrimPrefix(f.Message+", "+where(at), ", ")
		}
		all = append(all, f)
	}
	return all, nil
}

func where(s spot) string {
	if s.zone == "" {
		return s.size.Name + " without a zone"
	}
	return s.size.Name + " in zone " + s.zone
}

// chosen returns where a machine can be. It is not known if the image is not there, which
// another check reports; the error is then for a platform that could not be asked.
func (p preflight) chosen(ctx context.Context, s provider.MachineSpec) (all []spot, known bool, err error) {
	found, err := p.image(ctx, s)
	if err != nil {
		_, err = check.Verdict("", within("", err))
		return nil, false, err
	}
	all, err = p.spots(ctx, s, found)
	return all, true, err
}
