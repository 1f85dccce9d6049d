// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// grant is what the driver needs on one path.
type grant struct {
	path       string
	privileges []string
	// below says that they have to hold for what is below the path.
	below bool
}

// Privileges that depend on the version.
const (
	// privilegeAgent reads addresses from the guest agent since version 9, privilegeMonitor
	// before.
	privilegeAgent   = "VM.GuestAgent.Audit"
	privilegeMonitor = "VM.Monitor"
	// firstAgent is that version, firstSDN the one that checks who may use a bridge.
	firstAgent, firstSDN = 9, 8
)

// grants returns every privilege that machines need, by path. The role in the guide has the
// same.
func (p *platform) grants(major int, storages, isoStorages []string) []grant {
	vms := []string{
		"VM.Allocate", "VM.Audit", "VM.Clone", "VM.Config.CDROM", "VM.Config.CPU", "VM.Config.Cloudinit", "VM.Config.Disk", "VM.Config.HWType",
		"VM.Config.Memory", "VM.Config.Network", "VM.Config.Options", privilegeAgent, "VM.PowerMgmt",
	}
	if major < firstAgent {
		vms[slices.Index(vms, privilegeAgent)] = privilegeMonitor
	}
	all := []grant{
		{"/vms", vms, true},
	}
	for _, s := range append([]string{p.spec.Storage}, storages...) {
		all = append(all, grant{"/storage/" + s, []string{"Datastore.Allocate", "Datastore.AllocateSpace", "Datastore.Audit"}, false})
	}
	for _, s := range isoStorages {
		all = append(all, grant{"/storage/" + s, []string{"Datastore.Allocate", "Datastore.AllocateTemplate", "Datastore.Audit"}, false})
	}
	for _, n := range p.spec.Nodes {
		all = append(all, grant{"/nodes/" + n, []string{"Sys.Audit"}, false})
	}
	if p.spec.Bridge != "" && major >= firstSDN {
		all = append(all, grant{"/sdn/zones/localnetwork/" + p.spec.Bridge, []string{"SDN.Use"}, p.spec.VLAN != 0})
	}
	return all
}

// readAuditor asks whether VMs can be seen: a listing leaves out those that may not be. The
// value of a privilege is 1 if it holds below the path too, where the VMs are.
func (p *platform) readAuditor(ctx context.Context, _ []string) (bool, error) {
	var all map[string]map[string]number
	err := p.get(ctx, "/access/permissions", url.Values{"path": {"/vms"}}, &all)
	return all["/vms"]["VM.Audit"] != 0, err
}

// absenceSeen demands that VMs can be seen, so that the absence of one is real.
func (p *platform) absenceSeen(ctx context.Context, op string) error {
	granted, err := p.auditor.Do(ctx, "")
	if err != nil || granted {
		return within(op, err)
	}
	return provider.Unauthorized.New(op, provider.ReasonPermissionDenied, errors.New("VM.Audit is not granted on /vms and what is below: VMs are not seen"), hintPermission)
}

// permissions compares what is granted with what machines need, path by path.
func (p preflight) permissions(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	version, err := p.version(ctx)
	if err != nil {
		return nil, err
	}
	c, err := p.seen.Do(ctx, "")
	if err != nil {
		return nil, err
	}
	var all []provider.Finding
	for _, g := range p.grants(majorOf(version), p.diskStorages(specs), p.isoStorages(c, specs)) {
		f, err := p.granted(ctx, g)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// diskStorages are those of further disks, beside that of the settings.
func (p preflight) diskStorages(specs []provider.MachineSpec) []string {
	found := map[string]bool{}
	for _, s := range specs {
		for _, d := range s.ExtraDisks {
			found[d.StorageClass] = d.StorageClass != "" && d.StorageClass != p.spec.Storage
		}
	}
	maps.DeleteFunc(found, func(_ string, other bool) bool { return !other })
	return slices.Sorted(maps.Keys(found))
}

// isoStorages are those that the user data of machines would be uploaded to.
func (p preflight) isoStorages(c *cluster, specs []provider.MachineSpec) []string {
	found := map[string]bool{}
	for _, s := range specs {
		for _, n := range p.spec.Nodes {
			if storage, ok := machines(p).isoStorage(c, n); ok && needsISO(s) {
				found[storage] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func (p preflight) granted(ctx context.Context, g grant) (provider.Finding, error) {
	f := provider.Finding{Check: "permissions on " + g.path, Verdict: provider.Passed}
	var all map[string]map[string]number
	err := p.get(ctx, "/access/permissions", url.Values{"path": {g.path}}, &all)
	switch {
	case forbidden(err):
		f.Verdict, f.Message, f.Hint = provider.Unknown, "the credentials cannot read the privileges", "compare the role with docs/getting-started/proxmox.md"
		return f, nil
	case err != nil:
		return f, err
	}
	denied := slices.DeleteFunc(slices.Clone(g.privileges), func(one string) bool {
		below, ok := all[g.path][one]
		return ok && (below != 0 || !g.below)
	})
	if len(denied) > 0 {
		f.Verdict, f.Message = provider.Refused, strings.Join(denied, ", ")+" is not granted to "+p.user
		f.Hint = "grant the role of docs/getting-started/proxmox.md on " + g.path
		if g.below {
			f.Hint += ", with propagation"
		}
		if strings.Contains(p.user, "!") {
			f.Hint += "; a token with privilege separation has what is granted to both the token and its user"
		}
	}
	return f, nil
}

// unknownGrant describes what may not be read.
func unknownGrant(check, privilege, path string) provider.Finding {
	return provider.Finding{Check: check, Verdict: provider.Unknown, Message: "the credentials cannot read it", Hint: fmt.Sprintf("grant %s on %s", privilege, path)}
}
