// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// number is an integer that Proxmox VE writes as a number or as a text, whichever it is.
type number int64

// UnmarshalJSON reads both, and fractions; null and an empty text are 0.
func (n *number) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	if text == "null" || text == "" || text == "false" {
		*n = 0
		return nil
	}
	if text == "true" {
		text = "1"
	}
	f, err := strconv.ParseFloat(text, 64)
	*n = number(f)
	return err
}

// Types of resources.
const (
	typeVM      = "qemu"
	typeNode    = "node"
	typeStorage = "storage"
)

// resource is an entry of the listing of a whole cluster. Tags and lock are those of the
// configuration; name, status and amounts are as old as the last report of the node.
type resource struct {
	Type   string `json:"type"`
	Node   string `json:"node"`
	Status string `json:"status"`

	VMID     number `json:"vmid"`
	Name     string `json:"name"`
	Tags     string `json:"tags"`
	Lock     string `json:"lock"`
	Template number `json:"template"`
	// QMP and PID are in the listing of a node alone.
	QMP string `json:"qmpstatus"`
	PID number `json:"pid"`

	CPU    float64 `json:"cpu"`
	MaxCPU number  `json:"maxcpu"`
	Mem    number  `json:"mem"`
	MaxMem number  `json:"maxmem"`

	Storage    string `json:"storage"`
	PluginType string `json:"plugintype"`
	Content    string `json:"content"`
	Shared     number `json:"shared"`
	Disk       number `json:"disk"`
	MaxDisk    number `json:"maxdisk"`

	// tags and said are what Tags say, once they were read.
	tags map[string]string
	said mark
}

// readTags reads the tags of a VM, once for all calls that a listing answers.
func (r *resource) readTags() {
	r.tags = words(r.Tags)
	r.said = marked(r.tags)
}

// words reads the tags of a VM: they are separated by semicolons, commas or blanks.
func words(text string) map[string]string {
	all := map[string]string{}
	for _, w := range strings.FieldsFunc(text, func(c rune) bool { return c == ';' || c == ',' || c == ' ' }) {
		all[w] = ""
	}
	return all
}

// holds reports whether a storage has a type of content.
func (r resource) holds(content string) bool {
	return slices.Contains(strings.Split(r.Content, ","), content)
}

// cluster is what a listing shows.
type cluster struct {
	vms      []resource
	guests   map[number]bool // every VMID in use, those of containers included
	nodes    []resource
	storages []resource
	byID     map[number]*resource
	byOwner  map[string][]*resource
}

// readCluster lists the VMs, nodes and storages that the credentials may see, with one request.
func (p *platform) readCluster(ctx context.Context, _ []string) (*cluster, error) {
	var all []resource
	if err := p.get(ctx, "/cluster/resources", nil, &all); err != nil {
		return nil, err
	}
	return newCluster(all), nil
}

// newCluster sorts a listing by what it has.
func newCluster(all []resource) *cluster {
	c := &cluster{guests: map[number]bool{}, byID: map[number]*resource{}, byOwner: map[string][]*resource{}}
	for _, r := range all {
		switch r.Type {
		case typeVM:
			r.readTags()
			c.vms = append(c.vms, r)
		case typeNode:
			c.nodes = append(c.nodes, r)
		case typeStorage:
			c.storages = append(c.storages, r)
		}
		if r.VMID > 0 {
			c.guests[r.VMID] = true
		}
	}
	for i := range c.vms {
		r := &c.vms[i]
		c.byID[r.VMID] = r
		c.byOwner[r.said.OwnerID] = append(c.byOwner[r.said.OwnerID], r)
	}
	return c
}

// vm returns the VM with an ID.
func (c *cluster) vm(id number) *resource { return c.byID[id] }

// online reports whether a node is one of the cluster and answers.
func (c *cluster) online(node string) bool {
	i := slices.IndexFunc(c.nodes, func(r resource) bool { return r.Node == node })
	return i < 0 && len(c.nodes) == 0 || i >= 0 && c.nodes[i].Status != "offline"
}

// Words of a VM's tags beside those of its owner.
const (
	// wordVMID and wordNode are where a VM was created. Tags are copied to clones and restored
	// backups: one with another ID is a copy.
	wordVMID = "butler-vmid."
	wordNode = "butler-node."
	wordRole = "butler-role."
	// wordNew is on a VM that was not started yet. The log of tasks does not show that: an ID
	// may have had another VM before.
	wordNew = "butler-new"
)

// mark is what the tags of a VM, or before those its description, say about it.
type mark struct {
	tag.Set
	vmid number
	node string
}

// marked reads tags.
func marked(tags map[string]string) mark {
	m := mark{Set: tag.Proxmox().Read(tags)}
	for w := range tags {
		if text, ok := strings.CutPrefix(w, wordVMID); ok {
			id, _ := strconv.Atoi(text) // of another form it is no ID
			m.vmid = number(id)
		}
		if text, ok := strings.CutPrefix(w, wordNode); ok {
			m.node = text
		}
	}
	return m
}

// note is the description of a VM, which the clone call writes: tags come later.
type note struct {
	VMID number `json:"vmid"`
	Node string `json:"node"`
}

// describe returns the description of a new VM: the only text that the call that clones it takes.
func describe(s tag.Set, vmid number, node string) string {
	text := tag.Style{}.Text(s)
	extra, _ := json.Marshal(note{vmid, node}) // can always be written
	return strings.TrimSuffix(text, "}") + "," + strings.TrimPrefix(string(extra), "{")
}

// described reads a description. Any other text says nothing.
func described(text string) mark {
	var n note
	if json.Unmarshal([]byte(text), &n) != nil {
		return mark{}
	}
	return mark{Set: tag.Style{}.ReadText(text), vmid: n.VMID, node: n.Node}
}

// original reports whether the driver created the VM that has these marks.
func (m mark) original(vmid number) bool { return m.OwnerID != "" && m.vmid == vmid }

// of reports whether the marks are those of a machine.
func (m mark) of(ref provider.MachineRef, vmid number) bool {
	return ref.Owner.ID != "" && m.original(vmid) && m.OwnerID == ref.Owner.ID && m.Machine == ref.Name
}
