// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// preflight implements provider.Preflight.
type preflight struct{ *platform }

// Check looks at version, permissions, nodes, storages, templates, bridge, VMIDs, capacity and
// names. Without machines it looks at what the ProviderConfig itself names.
func (p preflight) Check(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	found, err := check.Run(ctx, specs, p.versions, p.permissions, p.nodes, p.storage, p.templatesOf, p.bridge, p.ids, p.capacity, p.names)
	if err != nil {
		return nil, apiError("check "+p.config, err)
	}
	return found, nil
}

func (p preflight) versions(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	version, err := p.version(ctx)
	return []provider.Finding{{Check: "version", Verdict: provider.Passed, Message: "Proxmox VE " + version}}, err
}

// nodes looks for every node of the settings.
func (p preflight) nodes(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	c, err := p.seen.Do(ctx, "")
	if err != nil {
		return nil, err
	}
	return check.Each(p.spec.Nodes, func(node string) (provider.Finding, error) {
		f := provider.Finding{Check: "node " + node, Verdict: provider.Passed}
		i := slices.IndexFunc(c.nodes, func(r resource) bool { return r.Node == node })
		switch {
		case i < 0:
			f.Verdict, f.Message, f.Hint = provider.Refused, "there is no such node", "correct spec.proxmox.nodes"
		case c.nodes[i].Status == "offline":
			f.Verdict, f.Message, f.Hint = provider.Unknown, "it is offline: machines are created on others", "start it, or remove it from spec.proxmox.nodes"
		}
		return f, nil
	})
}

// storage looks at the storage of disks on every node, and at one for user data where that is
// needed.
func (p preflight) storage(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	c, err := p.seen.Do(ctx, "")
	if err != nil {
		return nil, err
	}
	m := machines(p)
	needs := map[string]int64{}
	isoNeeded := false
	for _, s := range specs {
		needs[p.spec.Storage] += int64(s.DiskGB)
		for _, d := range s.ExtraDisks {
			needs[cmp.Or(d.StorageClass, p.spec.Storage)] += int64(d.SizeGB)
		}
		isoNeeded = isoNeeded || needsISO(s)
	}
	needs[p.spec.Storage] += 0
	var all []provider.Finding
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		f, err := p.oneStorage(m, c, name, needs[name])
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	for _, node := range p.spec.Nodes {
		if _, ok := m.isoStorage(c, node); isoNeeded && !ok {
			f, _ := check.Verdict("user data on node "+node, errISO("", node)) // it is an Error
			all = append(all, f)
		}
	}
	return all, nil
}

// oneStorage compares the disks with the free space. Thin storage may promise more than it
// has, so that a lack is a warning.
func (p preflight) oneStorage(m machines, c *cluster, name string, gigabytes int64) (provider.Finding, error) {
	var free int64
	counted := false
	for _, node := range p.spec.Nodes {
		if f, err := check.Verdict("storage "+name, m.checkStorage(c, node, name, "spec.proxmox.storage")); err != nil || f.Verdict != provider.Passed {
			return f, err
		}
		for _, r := range c.storages {
			if r.Node == node && r.Storage == name && (r.Shared == 0 || !counted) {
				free, counted = free+int64(r.MaxDisk-r.Disk), true
			}
		}
	}
	f := provider.Finding{Check: "storage " + name, Verdict: provider.Passed, Message: fmt.Sprintf("%d GB are requested, and %d are free", gigabytes, free>>30)}
	if gigabytes<<30 > free {
		f.Verdict, f.Hint = provider.Unknown, "free some space, or request less: thin storage that is full stops its VMs"
	}
	return f, nil
}

// templatesOf looks for every template that is wanted, on every node.
func (p preflight) templatesOf(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if len(specs) == 0 && p.wanted(provider.MachineSpec{}) != "" {
		specs = []provider.MachineSpec{{}} // what a machine without an image of its own gets
	}
	c, err := p.seen.Do(ctx, "")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var all []provider.Finding
	for _, s := range specs {
		if name := p.wanted(s); !seen[name] {
			seen[name] = true
			f, err := p.oneTemplate(ctx, c, s)
			if err != nil {
				return nil, err
			}
			all = append(all, f)
		}
	}
	return all, nil
}

func (p preflight) oneTemplate(ctx context.Context, c *cluster, s provider.MachineSpec) (provider.Finding, error) {
	name := cmp.Or(p.wanted(s), "of machines")
	copies, err := p.copies(ctx, s)
	if err != nil {
		return check.Verdict("template "+name, within("", err))
	}
	var shown, on []string
	for _, node := range p.spec.Nodes {
		if !c.online(node) {
			continue
		}
		t, err := p.sourceFor(ctx, c, copies, node)
		if err == nil {
			err = t.check(s)
		}
		if err == nil && p.pooled && !needsISO(s) {
			err = t.checkAddressable()
		}
		if f, err := check.Verdict("template "+name, within("", err)); err != nil || f.Verdict != provider.Passed {
			return f, err
		}
		shown = append(shown, t.name+" "+t.settings["description"]+" "+t.settings["tags"])
		on = append(on, fmt.Sprintf("%s: %s clone of VM %d", node, map[bool]string{true: "full", false: "linked"}[p.full(t)], t.VMID))
	}
	f := provider.Finding{Check: "template " + name, Verdict: provider.Passed, Message: strings.Join(on, ", ")}
	if s.TalosVersion != "" && strings.Contains(name, "talos-v") && !cloud.ShowsVersion(name, s.TalosVersion) {
		f.Verdict, f.Hint = provider.Unknown, hintTemplate
		f.Message += "; it is not named after Talos " + s.TalosVersion
		return f, nil
	}
	return cloud.Schematic{Wanted: s.Schematic, Shown: strings.Join(shown, " "), Needs: s.Extensions, Mark: "the notes of the template", Hint: hintTemplate}.Add(f), nil
}

// bridge looks for the bridge on every node.
func (p preflight) bridge(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	if p.spec.Bridge == "" {
		return nil, nil
	}
	c, err := p.seen.Do(ctx, "")
	if err != nil {
		return nil, err
	}
	f := provider.Finding{Check: "bridge " + p.spec.Bridge, Verdict: provider.Passed}
	var without []string
	for _, node := range p.spec.Nodes {
		if !c.online(node) {
			continue
		}
		has, known, err := machines(p).hasBridge(ctx, node)
		if err != nil {
			return nil, err
		}
		if !known {
			return []provider.Finding{unknownGrant(f.Check, "Sys.Audit", "/nodes/"+node)}, nil
		}
		if !has {
			without = append(without, node)
		}
	}
	if len(without) > 0 {
		f.Verdict, f.Message, f.Hint = provider.Refused, "it does not exist on "+strings.Join(without, ", "), "create it there, or correct spec.proxmox.bridge"
	}
	return []provider.Finding{f}, nil
}

// ids counts the VMIDs that are free.
func (p preflight) ids(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	c, err := p.seen.Do(ctx, "")
	if err != nil {
		return nil, err
	}
	first, size := p.vmids()
	used := int64(0)
	for id := range c.guests {
		if int64(id) >= first && int64(id) < first+size {
			used++
		}
	}
	f := provider.Finding{Check: fmt.Sprintf("VMIDs %d to %d", first, first+size-1), Verdict: provider.Passed, Message: fmt.Sprintf("%d are free", size-used)}
	if size-used < int64(len(specs)) {
		f.Verdict, f.Hint = provider.Refused, "widen spec.proxmox.vmidRange, or remove VMs"
		f.Message = fmt.Sprintf("%d machines are requested, and %d VMIDs are free", len(specs), size-used)
	}
	return []provider.Finding{f}, nil
}

// capacity compares the machines with processors and memory of the nodes.
func (p preflight) capacity(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	c, err := p.seen.Do(ctx, "")
	if err != nil || len(specs) == 0 {
		return nil, err
	}
	pool := check.Pool{Used: &check.Amount{}, Grant: "grant Sys.Audit on /nodes"}
	for _, n := range c.nodes {
		if !slices.Contains(p.spec.Nodes, n.Node) || n.Status == "offline" {
			continue
		}
		if n.MaxMem == 0 {
			return []provider.Finding{unknownGrant("capacity", "Sys.Audit", "/nodes/"+n.Node)}, nil
		}
		has := check.Amount{CPU: int64(n.MaxCPU) * 1000, Memory: int64(n.MaxMem)}
		at := machines(p).room(c, provider.MachineSpec{}, place{node: n.Node})
		pool.Hosts = append(pool.Hosts, has)
		*pool.Used = pool.Used.Plus(check.Amount{CPU: has.CPU - at.cpu*1000, Memory: has.Memory - at.memory})
	}
	return append([]provider.Finding{pool.Capacity(specs)}, pool.Spread(specs)...), nil
}

// names looks for names that Proxmox VE does not accept, and for VMs of other owners with the
// names of the machines.
func (p preflight) names(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	m := machines(p)
	c, err := p.seen.Do(ctx, "")
	if err != nil {
		return nil, err
	}
	return check.Each(specs, func(s provider.MachineSpec) (provider.Finding, error) {
		var err error
		if !machineName.MatchString(s.Name) {
			err = provider.Invalid.New("", reasonName, fmt.Errorf("%q cannot be the name of a VM", s.Name), "choose another name")
		} else {
			_, err = m.checkName(ctx, "", c, s.MachineRef)
		}
		return check.Verdict("name "+s.Name, err)
	})
}
