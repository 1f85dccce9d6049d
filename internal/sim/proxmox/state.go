// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"log/slog"
	"maps"
	"path/filepath"
	"strconv"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/table"
	"github.com/butlerdotdev/butler/provider/tag"
)

// state is everything that exists in the cluster.
type state struct {
	guests   *table.Table[guest]  // by VM ID
	volumes  *table.Table[volume] // by key
	tasks    *table.Table[task]   // by UPID
	accounts *table.Table[account]
	grants   grants
}

// guest is a VM.
type guest struct {
	VMID int
	Node string
	// UUID is what the datacenter knows the machine by.
	UUID string
	// Config has the options, Pending those that apply at the next start; an empty value
	// there is an option that is removed.
	Config, Pending map[string]string
	// Temporary is a configuration that a clone has not finished.
	Temporary bool
	Running   bool
	Started   time.Time
	Image     string // what was on the disk of its template
	// Shown is what the last update of the cluster's status has.
	Shown *shown
	// Owner is whom the clone was for, for the auditor alone; Copy marks what a fault
	// has copied.
	Owner tag.Set
	Copy  bool

	boot boot
}

// boot is the drive that a VM starts from, and the options that say so.
type boot struct{ order, drive, value, file string }

// shown is the status of a VM that its node has published.
type shown struct {
	Name, Status  string
	Template      bool
	CPUs          int
	Memory, Disk  int64
	Started       time.Time
	FromMachineUp bool
}

func (g *guest) id() string       { return strconv.Itoa(g.VMID) }
func (g *guest) path() string     { return "/vms/" + g.id() }
func (g *guest) name() string     { return g.Config["name"] }
func (g *guest) isTemplate() bool { return g.Config["template"] == "1" }

// checkLock refuses what a lock forbids.
func (g *guest) checkLock() error {
	if lock := g.Config["lock"]; lock != "" {
		return fail("VM is locked (%s)", lock)
	}
	return nil
}

// current is the configuration with what is pending.
func (g *guest) current() map[string]string {
	out := maps.Clone(g.Config)
	for name, value := range g.Pending {
		if value == "" {
			delete(out, name)
			continue
		}
		out[name] = value
	}
	return out
}

// volume is a disk or an image on a storage.
type volume struct {
	ID      string // such as local-lvm:vm-100-disk-0
	Storage string
	Node    string // empty: on a shared storage
	VMID    int    // 0: of no VM
	Content string
	Format  string
	Bytes   int64
	Created time.Time
	Parent  string // that it is a difference to
	Image   string // what is on it
	Data    []byte // of an ISO image
	Owner   tag.Set
	Copy    bool
}

// key is what a volume is kept by: those of local storages may have the same ID.
func (v *volume) key() string { return volumeKey(v.ID, v.Node) }

func volumeKey(id, node string) string { return node + "|" + id }

func openState(dir string, log *slog.Logger) (s *state, err error) {
	s = &state{}
	if s.guests, err = table.Open[guest](filepath.Join(dir, "guests"), log); err != nil {
		return nil, err
	}
	if s.volumes, err = table.Open[volume](filepath.Join(dir, "volumes"), log); err != nil {
		return nil, err
	}
	if s.tasks, err = table.Open[task](filepath.Join(dir, "tasks"), log); err != nil {
		return nil, err
	}
	s.accounts, err = table.Open[account](filepath.Join(dir, "accounts"), log)
	return s, err
}

// snapshot returns a copy for reads of the past. Callers are the present ones.
func (s *state) snapshot() *state {
	return &state{guests: s.guests.Snapshot(), volumes: s.volumes.Snapshot(), tasks: s.tasks.Snapshot(), accounts: s.accounts, grants: s.grants}
}

func (s *state) put(g *guest) { s.guests.Put(g.id(), g) }

// guestNamed returns the first VM of a name.
func (s *state) guestNamed(name string) *guest {
	for _, g := range s.guests.ByID {
		if g.name() == name {
			return g
		}
	}
	return nil
}
