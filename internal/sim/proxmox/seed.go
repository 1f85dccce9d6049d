// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Seed is what exists in the cluster. The zero value is a cluster of three nodes, each
// with a template.
type Seed struct {
	// Endpoint is the URL that the manifest names; Hosts are further names of the API.
	Endpoint string   `json:"endpoint,omitempty"`
	Hosts    []string `json:"hosts,omitempty"`
	// Version of Proxmox VE; default 9.1.4.
	Version string    `json:"version,omitempty"`
	Nodes   []Node    `json:"nodes,omitempty"`
	Storage []Storage `json:"storage,omitempty"`
	// Bridges are on every node that names none.
	Bridges   []string   `json:"bridges,omitempty"`
	Templates []Template `json:"templates,omitempty"`
	// Commands create roles and grants as pveum does; default those of the guide.
	Commands string `json:"commands,omitempty"`
	// Tasks is how long tasks that copy disks take, Lag how often the status in lists of
	// the cluster is updated; 0: as long as the profile says.
	Tasks time.Duration `json:"tasks,omitempty"`
	Lag   time.Duration `json:"lag,omitempty"`
	// Linger is how long every task still runs once its effect shows.
	Linger time.Duration `json:"linger,omitempty"`
	// Tickets are valid for this long; default two hours.
	Tickets time.Duration `json:"tickets,omitempty"`
	// Debris is what a clone that fails leaves: "", volumes, guest or config; with disks, a VM that is
	// destroyed leaves its disks.
	Debris string `json:"debris,omitempty"`
}

// Node is a host.
type Node struct {
	Name     string   `json:"name"`
	CPUs     int      `json:"cpus,omitempty"`     // default 64
	MemoryGB int      `json:"memoryGB,omitempty"` // default 512
	Offline  bool     `json:"offline,omitempty"`
	Bridges  []string `json:"bridges,omitempty"`
}

// Storage is a storage of the cluster.
type Storage struct {
	Name string `json:"name"`
	// Type is dir, lvm, lvmthin, zfspool, nfs or rbd.
	Type     string   `json:"type"`
	Content  []string `json:"content"`
	Shared   bool     `json:"shared,omitempty"`
	Nodes    []string `json:"nodes,omitempty"` // empty: all
	SizeGB   int      `json:"sizeGB,omitempty"`
	Disabled bool     `json:"disabled,omitempty"`
	// Offline is a storage whose server does not answer.
	Offline bool `json:"offline,omitempty"`
}

// Template is a VM that clones are made of.
type Template struct {
	VMID    int    `json:"vmid"`
	Name    string `json:"name"`
	Node    string `json:"node,omitempty"`
	Storage string `json:"storage,omitempty"`
	DiskGB  int    `json:"diskGB,omitempty"`
	// Image says what is on its disk: version and schematic of Talos.
	Image string `json:"image,omitempty"`
	// Plain is a VM that is no template.
	Plain bool `json:"plain,omitempty"`
	// Lock is what another task holds, such as backup.
	Lock string `json:"lock,omitempty"`
}

const (
	defaultEndpoint = "https://proxmox.example.com:8006"
	defaultTemplate = 9000
)

func (s Seed) withDefaults() Seed {
	s.Endpoint, s.Version = cmp.Or(s.Endpoint, defaultEndpoint), cmp.Or(s.Version, "9.1.4")
	s.Commands = cmp.Or(s.Commands, documented)
	if len(s.Nodes) == 0 {
		s.Nodes = []Node{{Name: "pve1"}, {Name: "pve2"}, {Name: "pve3"}}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.CPUs, n.MemoryGB = cmp.Or(n.CPUs, 64), cmp.Or(n.MemoryGB, 512)
		if len(n.Bridges) == 0 {
			n.Bridges = append([]string{"vmbr0"}, s.Bridges...)
		}
	}
	s.addStorage(
		Storage{Name: "local", Type: "dir", Content: []string{"iso", "vztmpl", "backup", "import"}, SizeGB: 100},
		Storage{Name: "local-lvm", Type: "lvmthin", Content: []string{"images", "rootdir"}, SizeGB: 4096},
	)
	if len(s.Templates) == 0 {
		for i, n := range s.Nodes {
			s.Templates = append(s.Templates, Template{VMID: defaultTemplate + i, Name: "talos-v1.9.2", Node: n.Name, Image: "v1.9.2"})
		}
	}
	for i := range s.Templates {
		t := &s.Templates[i]
		t.Node, t.Storage, t.DiskGB = cmp.Or(t.Node, s.Nodes[0].Name), cmp.Or(t.Storage, s.imageStorage()), cmp.Or(t.DiskGB, 4)
	}
	return s
}

// addStorage adds storages unless there are any of that name.
func (s *Seed) addStorage(more ...Storage) {
	for _, one := range more {
		if !slices.ContainsFunc(s.Storage, func(have Storage) bool { return have.Name == one.Name }) {
			s.Storage = append(s.Storage, one)
		}
	}
}

// imageStorage is the first storage for disks.
func (s *Seed) imageStorage() string {
	for _, one := range s.Storage {
		if slices.Contains(one.Content, "images") {
			return one.Name
		}
	}
	return "local-lvm"
}

func (s Seed) ticketLife() time.Duration { return cmp.Or(s.Tickets, ticketLife) }

// at reports whether a storage is available on a node.
func (s Storage) at(node string) bool { return len(s.Nodes) == 0 || slices.Contains(s.Nodes, node) }

func (s Storage) has(content string) bool { return slices.Contains(s.Content, content) }

// onFiles reports whether volumes are files, so that other files can be uploaded.
func (s Storage) onFiles() bool { return s.Type == "dir" || s.Type == "nfs" || s.Type == "cifs" }

// dates reports whether the platform knows when a volume was created.
func (s Storage) dates() bool { return s.Type != "zfspool" && s.Type != "rbd" }

// links reports whether disks can be copied as differences to a template's.
func (s Storage) links() bool { return s.Type != "lvm" }

// overcommits reports whether more than the size of the storage can be allocated.
func (s Storage) overcommits() bool { return s.Type != "lvm" }

// contentText is the list of content types in the order of the platform.
func (s Storage) contentText() string {
	sorted := slices.Clone(s.Content)
	slices.Sort(sorted)
	return strings.Join(sorted, ",")
}

// announcesClones reports whether the log of a clone begins with the ID of the new VM: it does
// since version 9.2.
func (s Seed) announcesClones() bool {
	var major, minor int
	_, _ = fmt.Sscanf(s.Version, "%d.%d", &major, &minor) // of another form it is old
	return major > 9 || major == 9 && minor >= 2
}
