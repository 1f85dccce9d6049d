// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// privilegeTable are all privileges, by the role of a kind that is the least one with them.
const privilegeTable = `
VM admin VM.Config.Disk VM.Config.CPU VM.Config.Memory VM.Config.Network VM.Config.HWType VM.Config.Options VM.Allocate VM.Clone VM.GuestAgent.Unrestricted VM.Migrate VM.Replicate VM.Snapshot VM.Snapshot.Rollback
VM user VM.Config.CDROM VM.Config.Cloudinit VM.Console VM.Backup VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite VM.PowerMgmt
VM audit VM.Audit VM.GuestAgent.Audit
Sys root Sys.PowerMgmt Sys.Modify Sys.Incoming Sys.AccessNetwork
Sys admin Sys.Console Sys.Syslog
Sys audit Sys.Audit
Datastore admin Datastore.Allocate Datastore.AllocateTemplate
Datastore user Datastore.AllocateSpace
Datastore audit Datastore.Audit
SDN admin SDN.Allocate SDN.Audit
SDN user SDN.Use
SDN audit SDN.Audit
User root Realm.Allocate
User admin User.Modify Group.Allocate Realm.AllocateUser
Pool admin Pool.Allocate
Pool user Pool.Audit
Mapping admin Mapping.Modify
Mapping user Mapping.Use
Mapping audit Mapping.Audit
Access root Permissions.Modify
`

// builtinRoles are the roles that every installation has.
var builtinRoles = sync.OnceValue(func() map[string][]string {
	roles := map[string][]string{"NoAccess": {}, "PVETemplateUser": {"VM.Clone", "VM.Audit"}}
	for line := range strings.SplitSeq(strings.TrimSpace(privilegeTable), "\n") {
		words := strings.Fields(line)
		kind, level := words[0], words[1]
		grant := func(role string) { roles[role] = append(roles[role], words[2:]...) }
		grant("Administrator")
		if level == "root" {
			continue
		}
		grant("PVE" + kind + "Admin")
		grant("PVEAdmin")
		if level != "admin" {
			grant("PVE" + kind + "User")
		}
		if level == "audit" {
			grant("PVEAuditor")
		}
	}
	return roles
})

// documented are the commands of the guide that create the role and grant it.
//
//go:embed role.sh
var documented string

// grants are what commands like those of the guide set up: roles, and who has them where.
type grants struct {
	roles map[string][]string
	acl   []grant
}

// grant gives a role to a user or a token on a path.
type grant struct {
	Path, Who, Role string
	Propagate       bool
}

// readGrants reads pveum commands: role add NAME --privs LIST, acl modify PATH --roles NAME
// with --users or --tokens. Others, for users and tokens, are left to the caller.
func readGrants(commands string) (grants, error) {
	g := grants{roles: maps.Clone(builtinRoles())}
	for line := range strings.SplitSeq(strings.ReplaceAll(commands, "\\\n", " "), "\n") {
		words := strings.Fields(strings.NewReplacer(`"`, "", `'`, "").Replace(line))
		if len(words) < 4 || words[0] != "pveum" {
			continue
		}
		flags := flagsOf(words[4:])
		switch strings.Join(words[1:3], " ") {
		case "role add", "role modify":
			g.roles[words[3]] = splitList(flags["privs"])
		case "acl modify":
			g.grant(words[3], flags)
		}
	}
	return g, g.check()
}

// flagsOf reads flags with their values, which may be several words.
func flagsOf(words []string) map[string]string {
	out := map[string]string{}
	name := ""
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			var value string
			name, value, _ = strings.Cut(strings.TrimLeft(word, "-"), "=")
			out[name] = value
			continue
		}
		out[name] += " " + word
	}
	return out
}

func (g *grants) grant(path string, flags map[string]string) {
	for _, who := range append(splitList(flags["users"]), splitList(flags["tokens"])...) {
		for _, role := range splitList(flags["roles"]) {
			g.acl = append(g.acl, grant{Path: path, Who: who, Role: role, Propagate: strings.TrimSpace(flags["propagate"]) != "0"})
		}
	}
}

// check refuses privileges and roles that do not exist.
func (g *grants) check() error {
	known := builtinRoles()["Administrator"]
	for role, privileges := range g.roles {
		for _, one := range privileges {
			if !slices.Contains(known, one) {
				return fmt.Errorf("role %s: invalid privilege '%s'", role, one)
			}
		}
	}
	for _, one := range g.acl {
		if g.roles[one.Role] == nil {
			return fmt.Errorf("role '%s' does not exist", one.Role)
		}
	}
	return nil
}

// rolesOn returns the roles that someone has on a path: the deepest path that grants any
// counts alone.
func (g *grants) rolesOn(who, path string) map[string]bool {
	found := map[string]bool{}
	for _, at := range prefixes(path) {
		here := map[string]bool{}
		for _, one := range g.acl {
			if one.Who == who && one.Path == at && (at == path || one.Propagate) {
				here[one.Role] = one.Propagate
			}
		}
		if len(here) > 0 {
			found = here
		}
	}
	if _, none := found["NoAccess"]; none {
		return nil
	}
	return found
}

// prefixes are a path and those above it, from the root.
func prefixes(path string) []string {
	out := []string{"/"}
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			out = append(out, path[:i])
		}
	}
	if path != "/" {
		out = append(out, path)
	}
	return out
}

// privileges are what someone has on a path, each with whether it holds below too.
func (g *grants) privileges(who, path string) map[string]bool {
	out := map[string]bool{}
	for role, propagate := range g.rolesOn(who, path) {
		for _, one := range g.roles[role] {
			out[one] = out[one] || propagate
		}
	}
	return out
}
