// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

const (
	// briefly is how long templates and bridges are kept: as long as the machines of one
	// cluster are requested.
	briefly = 5 * time.Second
	// reservedFor is how long a VMID stays planned: until the VM that was cloned to it is listed.
	reservedFor = time.Minute
	// gatherFor is how long calls for the same listing are gathered.
	gatherFor = 50 * time.Millisecond
	// gatherChecks is how long those who ask for the identity, and whether VMs can be seen, wait
	// for each other: each machine that is created does.
	gatherChecks = 200 * time.Millisecond
	// restFor is how many times as long as a listing took the next one waits.
	restFor = 3
	// mostKeys is how many calls one listing answers.
	mostKeys = 1000
	// oldest is the first version that is supported.
	oldest = 7
)

// platform is a connection to one cluster, or to a node without one.
type platform struct {
	*client
	spec   v1alpha1.ProxmoxSpec
	config string
	clones clones
	// pooled says that addresses of machines come from NetworkPools.
	pooled bool

	// What many calls ask for at the same time is read with one request.
	identity  *cloud.Batch[provider.Identity]
	seen      *cloud.Batch[*cluster]
	named     *cloud.Batch[[]resource]
	cloned    *cloud.Batch[map[string]listed]
	auditor   *cloud.Batch[bool]
	active    *cloud.Batch[bool]
	volumes   *cloud.Batch[map[number]bool]
	stored    *cloud.Batch[isos]
	templates *cloud.Recent[template]
	copied    *cloud.Recent[[]copyOf]
	bridges   *cloud.Recent[bridges]
	reserved  *cloud.Recent[string] // owners, by VMID
	known     *glances
	creating  *calls
}

func newPlatform(api *client, spec v1alpha1.ProxmoxSpec, config string) *platform {
	p := &platform{client: api, spec: spec, config: config}
	p.clones.targets = map[string]number{}
	p.identity = cloud.NewBatch(mostKeys, p.readIdentity).Apart(gatherChecks)
	p.seen = cloud.NewBatch(mostKeys, p.readCluster).Apart(gatherFor).Resting(restFor)
	p.named = cloud.NewBatch(mostKeys, p.readNames).Apart(gatherFor).Resting(restFor)
	p.cloned = cloud.NewBatch(mostKeys, p.readClones).Apart(gatherFor).Resting(restFor)
	p.auditor = cloud.NewBatch(mostKeys, p.readAuditor).Apart(gatherChecks)
	p.active = cloud.NewBatch(mostKeys, p.readActive)
	p.volumes = cloud.NewBatch(mostKeys, p.readVolumeIDs).Apart(gatherFor).Resting(restFor)
	p.stored = cloud.NewBatch(mostKeys, p.readISOs).Apart(gatherFor).Resting(restFor)
	p.templates = cloud.NewRecent[template](briefly)
	p.copied = cloud.NewRecent[[]copyOf](briefly)
	p.bridges = cloud.NewRecent[bridges](briefly)
	p.known = &glances{of: map[number]glance{}}
	p.creating = &calls{of: map[number]int{}}
	p.reserved = cloud.NewRecent[string](reservedFor)
	return p
}

// connected reads the version, and refuses one that is too old, then the identity.
func (p *platform) connected(ctx context.Context, op string) (provider.Identity, error) {
	version, err := p.version(ctx)
	if err != nil {
		return "", err
	}
	if major := majorOf(version); major < oldest {
		return "", provider.Invalid.New(op, provider.ReasonPlatformRefused, fmt.Errorf("the version of Proxmox VE is %s", version), fmt.Sprintf("upgrade it: version %d is needed", oldest))
	}
	return p.identify(ctx)
}

func (p *platform) version(ctx context.Context) (string, error) {
	var v struct{ Version string }
	err := p.get(ctx, "/version", nil, &v)
	if err == nil && v.Version == "" {
		err = errForeign
	}
	return v.Version, err
}

func majorOf(version string) int {
	text, _, _ := strings.Cut(version, ".")
	major, _ := strconv.Atoi(text) // of another form it is 0, too old
	return major
}

// identify identifies the cluster by its own certificate authority, which every cluster
// creates for itself.
func (p *platform) identify(ctx context.Context) (provider.Identity, error) {
	identity, err := p.identity.Do(ctx, "")
	if err != nil {
		return "", apiError("identify the cluster of "+p.config, err)
	}
	return identity, nil
}

func (p *platform) readIdentity(ctx context.Context, _ []string) (provider.Identity, error) {
	var errs []error
	for _, node := range p.spec.Nodes {
		var all []struct{ Filename, Fingerprint string }
		if err := p.get(ctx, "/nodes/"+node+"/certificates/info", nil, &all); err != nil {
			errs = append(errs, err)
			continue
		}
		for _, c := range all {
			if c.Filename == "pve-root-ca.pem" && c.Fingerprint != "" {
				return provider.NewIdentity(provider.Mark{Name: "authority", Value: strings.ToLower(strings.ReplaceAll(c.Fingerprint, ":", ""))}), nil
			}
		}
	}
	if len(errs) == len(p.spec.Nodes) {
		return "", p.noNode(errs)
	}
	return "", nil
}

// noNode is the error of a cluster none of whose nodes answers for itself.
func (p *platform) noNode(errs []error) error {
	mapped := apiError("identify the cluster of "+p.config, errs[0])
	if e, ok := errors.AsType[*provider.Error](mapped); ok && e.Kind == provider.Invalid && e.Reason != provider.ReasonEndpointForeign {
		e.Hint = "correct spec.proxmox.nodes: " + strings.Join(p.spec.Nodes, ", ")
	}
	return mapped
}

// readNames lists the VMs of all nodes as they are now: the listing of the cluster has names
// as old as the last report of a node.
func (p *platform) readNames(ctx context.Context, _ []string) ([]resource, error) {
	c, err := p.seen.Do(ctx, "")
	if err != nil {
		return nil, err
	}
	return p.readGuests(ctx, c, nil)
}

// readGuests asks the nodes for their VMs. Those of others are as the cluster lists them.
func (p *platform) readGuests(ctx context.Context, c *cluster, q url.Values) (all []resource, err error) {
	for _, node := range p.spec.Nodes {
		var some []resource
		if !c.online(node) {
			continue
		}
		if err := p.get(ctx, "/nodes/"+node+"/qemu", q, &some); err != nil {
			return nil, err
		}
		for i := range some {
			some[i].Node = node
			some[i].readTags()
		}
		all = append(all, some...)
	}
	others := slices.DeleteFunc(slices.Clone(c.vms), func(r resource) bool { return slices.Contains(p.spec.Nodes, r.Node) && c.online(r.Node) })
	return append(all, others...), nil
}
