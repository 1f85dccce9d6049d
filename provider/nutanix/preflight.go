// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// preflight implements provider.Preflight.
type preflight struct{ *platform }

// Check looks at Prism Central, permissions, cluster, subnet, addresses, project, images, storage,
// capacity and names. Without machines it looks at what the ProviderConfig itself names.
func (p preflight) Check(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	found, err := check.Run(ctx, specs, p.central, p.permissions, p.cluster, p.subnets, p.addresses, p.project, p.images, p.storages, p.capacity, p.names)
	if err != nil {
		return nil, apiError("check "+p.config, err)
	}
	return found, nil
}

// central reports the version of Prism Central. That it answers shows that it serves v3.
func (p preflight) central(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	f := provider.Finding{Check: "Prism Central", Verdict: provider.Unknown, Message: "the credentials cannot read its version; it serves the API v3", Hint: hintPermission}
	all, err := p.listClusters(ctx)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(c cluster) bool { return c.central }); i >= 0 {
		f.Verdict, f.Hint = provider.Passed, ""
		f.Message = fmt.Sprintf("version %s serves the API v3", cmp.Or(all[i].version, "unknown"))
	}
	return append([]provider.Finding{f}, p.verified()...), nil
}

// verified warns of a certificate that is not verified.
func (p preflight) verified() []provider.Finding {
	if !p.spec.Insecure {
		return nil
	}
	return []provider.Finding{{
		Check: "certificate", Verdict: provider.Unknown, Message: "spec.nutanix.insecure is set: it is not verified, and any server on the way gets the credentials",
		Hint: "set the authority of Prism Central in the key caBundle of the Secret",
	}}
}

// cluster looks for the cluster of the machines and for its hypervisor.
func (p preflight) cluster(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	home, err := p.home(ctx)
	f, err := check.Verdict("cluster "+p.spec.ClusterUUID, within("", err))
	if f.Verdict == provider.Passed {
		f.Message = fmt.Sprintf("%s, AOS %s, %s", home.name, cmp.Or(home.version, "of an unknown version"), cmp.Or(strings.Join(slices.Compact(home.hypervisors), ", "), "hypervisor unknown"))
		if len(home.hypervisors) == 0 {
			f.Verdict, f.Hint = provider.Unknown, "make sure that it runs AHV"
		}
	}
	return []provider.Finding{f}, err
}

func (p preflight) subnets(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	net, err := p.network(ctx)
	f, err := check.Verdict("subnet "+cmp.Or(p.spec.SubnetUUID, p.spec.SubnetName), within("", err))
	if f.Verdict == provider.Passed {
		f.Message = fmt.Sprintf("%s, VLAN %d", net.name, net.vlan)
		if net.overlay {
			f.Message = net.name + ", an overlay"
		}
	}
	return []provider.Finding{f}, err
}

func (p preflight) project(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	if p.spec.Project == "" {
		return nil, nil
	}
	_, err := p.projectFor(ctx)
	f, err := check.Verdict("project "+p.spec.Project, within("", err))
	return []provider.Finding{f}, err
}

// images looks at every image that is wanted, and compares its schematic.
func (p preflight) images(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if len(specs) == 0 && p.wanted(provider.MachineSpec{}) != "" {
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
	found, err := p.imageFor(ctx, s)
	f, err := check.Verdict("image "+cmp.Or(p.wanted(s), "for Talos "+s.TalosVersion), within("", err))
	if err != nil || f.Verdict != provider.Passed {
		return f, err
	}
	f.Message = found.name
	if s.TalosVersion != "" && strings.Contains(found.name, "talos") && !cloud.ShowsVersion(found.name, s.TalosVersion) {
		f.Verdict, f.Hint = provider.Unknown, hintImage
		f.Message += " is not named after Talos " + s.TalosVersion
		return f, nil
	}
	if hasSchematic(found, s.Schematic) {
		return f, nil
	}
	return cloud.Schematic{Wanted: s.Schematic, Shown: found.name + " " + found.description, Needs: s.Extensions, Mark: "the name or description of the image", Hint: hintImage}.Add(f), nil
}

// storages looks for the storage containers of all disks, and compares their free space.
func (p preflight) storages(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	asked := map[string]int64{}
	if own := cmp.Or(p.spec.StorageContainerUUID, p.spec.StorageContainerName); own != "" {
		asked[own] = 0
	}
	for _, s := range specs {
		for _, d := range append([]v1alpha1.DiskSpec{{SizeGB: s.DiskGB}}, s.ExtraDisks...) {
			asked[cmp.Or(d.StorageClass, p.spec.StorageContainerUUID, p.spec.StorageContainerName)] += int64(d.SizeGB)
		}
	}
	delete(asked, "") // Prism Central chooses
	return check.Each(sorted(asked), func(name string) (provider.Finding, error) {
		found, err := p.storage(ctx, name)
		f, err := check.Verdict("storage container "+name, within("", err))
		if err != nil || f.Verdict != provider.Passed {
			return f, err
		}
		return room(f, found, asked[name]), nil
	})
}

// room compares the disks with the free space. Disks are thin, so that too little is no
// refusal.
func room(f provider.Finding, c container, askedGB int64) provider.Finding {
	if c.freeBytes == nil {
		f.Verdict, f.Message, f.Hint = provider.Unknown, fmt.Sprintf("%d GiB are requested; the free space is not shown", askedGB), "compare it with the storage container in Prism Central"
		return f
	}
	free := *c.freeBytes >> 30
	f.Message = fmt.Sprintf("%d GiB are requested, and %d GiB are free", askedGB, free)
	if askedGB > free {
		f.Verdict, f.Hint = provider.Unknown, "free some, or use another storage container: disks are thin, and fill it later"
	}
	return f
}

// names looks for VMs of other owners with the names of the machines.
func (p preflight) names(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	return check.Each(specs, func(s provider.MachineSpec) (provider.Finding, error) {
		_, err := machines(p).existing(ctx, "", s.MachineRef)
		return check.Verdict("name "+s.Name, within("", err))
	})
}
