// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// place is a node and the copy of the template that is cloned to it.
type place struct {
	node   string
	source template
	// load counts the machines of the same cluster and role there.
	load int
	// memory, cpu and disk are free, in bytes and cores; fits says whether they suffice.
	memory, cpu, disk int64
	fits              bool
}

// places returns the nodes that a machine can be cloned to, the best first: those with room,
// with the fewest machines of the cluster in this role, with the most memory, cores and space.
// Those of control planes are in the order of the settings instead of the amounts: these change
// while others of the cluster are planned, and the number of a machine would choose a node twice.
func (m machines) places(ctx context.Context, c *cluster, s provider.MachineSpec) ([]place, error) {
	copies, err := m.copies(ctx, s)
	if err != nil {
		return nil, err
	}
	var all []place
	var refused error
	for _, node := range m.spec.Nodes {
		if !c.online(node) {
			refused = provider.Unavailable.New("", provider.ReasonPlatformUnavailable, fmt.Errorf("node %s is offline", node), "start it, or remove it from spec.proxmox.nodes; it is retried")
			continue
		}
		source, err := m.sourceFor(ctx, c, copies, node)
		if err != nil {
			refused = err
			continue
		}
		all = append(all, m.room(c, s, place{node: node, source: source}))
	}
	if len(all) == 0 {
		return nil, cmp.Or(refused, m.noNode([]error{errors.New("no node")}))
	}
	sortPlaces(all, s.Role)
	return all, nil
}

func sortPlaces(all []place, role v1alpha1.MachineRole) {
	slices.SortStableFunc(all, func(a, b place) int {
		first := cmp.Or(boolOrder(a.fits, b.fits), cmp.Compare(a.load, b.load))
		if role == v1alpha1.RoleControlPlane {
			return first
		}
		return cmp.Or(first, cmp.Compare(b.memory>>30, a.memory>>30), cmp.Compare(b.cpu, a.cpu), cmp.Compare(b.disk>>30, a.disk>>30))
	})
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// sourceFor returns the copy that is cloned to a node, its own before others.
func (p *platform) sourceFor(ctx context.Context, c *cluster, copies []copyOf, node string) (template, error) {
	copies = slices.Clone(copies)
	slices.SortStableFunc(copies, func(a, b copyOf) int { return boolOrder(a.Node == node, b.Node == node) })
	for _, of := range copies {
		if !c.online(of.Node) {
			continue
		}
		t, err := p.readTemplate(ctx, of)
		if err != nil {
			return template{}, err
		}
		if p.reaches(c, t, node) {
			return t, nil
		}
	}
	return template{}, provider.Invalid.New("", provider.ReasonImageNotFound, fmt.Errorf("node %s has no copy of the template, and that of %s is not on shared storage", node, copies[0].Node), "create the template on every node of spec.proxmox.nodes")
}

// room compares what a machine needs with what a node has. Memory that VMs may use counts as
// used.
func (m machines) room(c *cluster, s provider.MachineSpec, at place) place {
	committed, cores, load := c.load(at.node, s)
	at.load, at.fits = load, true
	for _, n := range c.nodes {
		if n.Node == at.node && n.MaxMem > 0 {
			at.memory, at.cpu = int64(n.MaxMem)-max(int64(n.Mem), committed), int64(n.MaxCPU)-cores
			at.fits = at.memory >= int64(s.MemoryMB)<<20
		}
	}
	for _, r := range c.storages {
		if r.Node == at.node && r.Storage == m.spec.Storage && r.MaxDisk > 0 {
			at.disk = int64(r.MaxDisk - r.Disk)
			at.fits = at.fits && at.disk >= int64(s.DiskGB)<<30
		}
	}
	return at
}

// load is the memory and the cores of the VMs on a node, and how many machines of the same
// cluster and role are there.
func (c *cluster) load(node string, s provider.MachineSpec) (memory, cores int64, peers int) {
	for _, vm := range c.vms {
		if vm.Node != node || vm.Template != 0 {
			continue
		}
		if _, same := vm.tags[wordRole+string(s.Role)]; same && s.Owner.ClusterID != "" && vm.said.ClusterID == s.Owner.ClusterID {
			peers++
		}
		if vm.Status == "running" || vm.Status == "unknown" {
			memory, cores = memory+int64(vm.MaxMem), cores+int64(vm.MaxCPU)
		}
	}
	return memory, cores, peers
}

// choose spreads machines of successive numbers over the nodes that are equally good: others
// of the cluster may be planned at the same time. Without room everywhere, the node with the
// most is taken: platforms overcommit, and the node itself refuses.
func choose(all []place, s provider.MachineSpec, shift int) place {
	best := slices.IndexFunc(all, func(p place) bool {
		return p.fits != all[0].fits || s.Role == v1alpha1.RoleControlPlane && p.load != all[0].load
	})
	if best < 0 {
		best = len(all)
	}
	if shift >= best {
		return all[shift%len(all)]
	}
	return all[(cloud.NumberOf(s.Name)+shift)%best]
}

// checkStorage refuses a storage that a node does not have, or that holds no disks.
func (m machines) checkStorage(c *cluster, node, storage, field string) error {
	var elsewhere bool
	for _, r := range c.storages {
		if r.Storage != storage {
			continue
		}
		elsewhere = true
		if r.Node != node {
			continue
		}
		if r.Content != "" && !r.holds("images") {
			return provider.Invalid.New("", reasonStorage, fmt.Errorf("storage %s does not hold disks of VMs: its content is %s", storage, r.Content), "allow the content images, or correct "+field)
		}
		return nil
	}
	err := fmt.Errorf("storage %s not found", storage)
	if elsewhere {
		err = fmt.Errorf("storage %s is not on node %s", storage, node)
	}
	return provider.Invalid.New("", reasonStorage, err, "correct "+field+", or grant Datastore.Audit on it")
}
