// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"
)

func getVersion(c *call) (any, error) {
	words := strings.SplitN(c.seed.Version, ".", 3)
	return map[string]any{"version": c.seed.Version, "release": strings.Join(words[:min(2, len(words))], "."), "repoid": "5ac30304265fbd8e"}, nil
}

// watchStatus publishes the status of VMs in lists of the cluster from time to time, as the
// daemon of each node does: until then a new VM has neither a name nor a status there.
func (p *PVE) watchStatus() {
	every := p.seed.Lag
	if every == 0 {
		every = max(5*p.Options.Create, 200*time.Millisecond)
	}
	for p.Sleep(every) {
		p.Do(p.publish)
	}
}

// publish has the lists show what the nodes that are online have.
func (p *PVE) publish() {
	for _, g := range p.st.guests.ByID {
		if !p.node(g.Node).Offline {
			g.Shown = p.status(g)
		}
	}
}

// status is that of a VM now.
func (p *PVE) status(g *guest) *shown {
	s := &shown{Name: g.name(), Status: "stopped", Template: g.isTemplate(), CPUs: g.cpus(), Memory: int64(g.memory()) << 20, Started: g.Started}
	if s.Name == "" {
		s.Name = "VM " + g.id()
	}
	if g.Running {
		s.Status = "running"
	}
	if v := p.bootVolume(g); v != nil {
		s.Disk = v.Bytes
	}
	return s
}

func (s *shown) uptime() int64 {
	if s.Status != "running" {
		return 0
	}
	return int64(time.Since(s.Started).Seconds())
}

// listResources lists what is in the cluster. Configurations are read at once, the status of
// their VMs is what was published last.
func listResources(c *call) (any, error) {
	kind := c.params["type"]
	out := []any{}
	if kind == "" || kind == "vm" {
		for _, g := range c.st.guests.All() {
			if c.may(g.path(), "VM.Audit") {
				out = append(out, resourceOf(g))
			}
		}
	}
	if kind == "" || kind == "node" {
		for i := range c.seed.Nodes {
			out = append(out, c.nodeEntry(&c.seed.Nodes[i]))
		}
	}
	if kind == "" || kind == "storage" {
		out = append(out, c.storageResources()...)
	}
	if kind == "" || kind == "sdn" {
		out = append(out, c.networkResources()...)
	}
	return out, nil
}

// resource is a VM in the list of a cluster. Lists are long, so that it is no map.
type resource struct {
	ID     string `json:"id"`
	VMID   int    `json:"vmid"`
	Node   string `json:"node"`
	Type   string `json:"type"`
	Status string `json:"status"`
	Lock   string `json:"lock,omitempty"`
	Tags   string `json:"tags,omitempty"`
	*published
}

// published is what a resource has once its node has published it.
type published struct {
	Name      string `json:"name"`
	Template  int    `json:"template"`
	Uptime    int64  `json:"uptime"`
	MaxCPU    int    `json:"maxcpu"`
	CPU       int    `json:"cpu"`
	MaxMem    int64  `json:"maxmem"`
	Mem       int64  `json:"mem"`
	MemHost   int64  `json:"memhost"`
	MaxDisk   int64  `json:"maxdisk"`
	Disk      int64  `json:"disk"`
	NetIn     int64  `json:"netin"`
	NetOut    int64  `json:"netout"`
	DiskRead  int64  `json:"diskread"`
	DiskWrite int64  `json:"diskwrite"`
}

func resourceOf(g *guest) resource {
	out := resource{ID: "qemu/" + g.id(), VMID: g.VMID, Node: g.Node, Type: "qemu", Status: "unknown", Lock: g.Config["lock"], Tags: g.Config["tags"]}
	if s := g.Shown; s != nil {
		out.Status = s.Status
		out.published = &published{Name: s.Name, Template: map[bool]int{true: 1}[s.Template], Uptime: s.uptime(), MaxCPU: s.CPUs, MaxMem: s.Memory, MaxDisk: s.Disk}
	}
	return out
}

// nodeEntry is a node with its load, for callers that may see that.
func (c *call) nodeEntry(n *Node) map[string]any {
	out := map[string]any{"id": "node/" + n.Name, "node": n.Name, "type": "node", "status": "online", "level": ""}
	if n.Offline {
		out["status"] = "offline"
	}
	if !c.may("/nodes/"+n.Name, "Sys.Audit") {
		return out
	}
	out["maxcpu"], out["maxmem"], out["maxdisk"] = n.CPUs, int64(n.MemoryGB)<<30, int64(100)<<30
	if !n.Offline {
		out["cpu"], out["mem"], out["disk"], out["uptime"] = 0.02, c.nodeMemory(n), int64(9)<<30, 864000
	}
	return out
}

// nodeMemory is the memory of a node that is used, in bytes: its own and that of its VMs.
func (c *call) nodeMemory(n *Node) int64 { return int64(c.usedMemory(n.Name)+2048) << 20 }

func (c *call) storageResources() (out []any) {
	for i := range c.seed.Storage {
		s := &c.seed.Storage[i]
		if !c.may("/storage/"+s.Name, "Datastore.Audit") || s.Disabled {
			continue
		}
		for _, n := range c.seed.Nodes {
			if !s.at(n.Name) {
				continue
			}
			total, used := c.usage(s, n.Name)
			one := map[string]any{
				"id": "storage/" + n.Name + "/" + s.Name, "storage": s.Name, "node": n.Name, "type": "storage", "plugintype": s.Type, "status": "available",
				"shared": map[bool]int{true: 1}[s.Shared], "content": s.contentText(), "maxdisk": total, "disk": used,
			}
			if n.Offline || s.Offline {
				one["status"] = "unknown"
			}
			out = append(out, one)
		}
	}
	return out
}

func (c *call) networkResources() (out []any) {
	if !c.may("/sdn/zones/localnetwork", "SDN.Audit") {
		return nil
	}
	for _, n := range c.seed.Nodes {
		out = append(out, map[string]any{
			"id": "network/" + n.Name + "/zone/localnetwork", "type": "network", "network-type": "zone", "network": "localnetwork", "node": n.Name, "status": "ok",
		})
	}
	return out
}

// nextID returns a free ID as a string, or confirms that one is free.
func nextID(c *call) (any, error) {
	if want := c.params["vmid"]; want != "" {
		if c.st.guests.ByID[want] != nil {
			return nil, wrongParam("vmid", "VM %s already exists", want)
		}
		return want, nil
	}
	for id := 100; ; id++ {
		if text := strconv.Itoa(id); c.st.guests.ByID[text] == nil {
			return text, nil
		}
	}
}

func clusterStatus(c *call) (any, error) {
	out := []any{map[string]any{"type": "cluster", "id": "cluster", "name": c.name, "nodes": len(c.seed.Nodes), "version": len(c.seed.Nodes), "quorate": 1}}
	for i, n := range c.seed.Nodes {
		out = append(out, map[string]any{
			"type": "node", "id": "node/" + n.Name, "name": n.Name, "nodeid": i + 1, "ip": fmt.Sprintf("192.0.2.%d", i+11), "local": map[bool]int{true: 1}[i == 0],
			"online": map[bool]int{false: 1}[n.Offline], "level": "",
		})
	}
	return out, nil
}

func listNodes(c *call) (any, error) {
	out := []any{}
	for i := range c.seed.Nodes {
		one := c.nodeEntry(&c.seed.Nodes[i])
		one["ssl_fingerprint"] = c.fingerprint(c.seed.Nodes[i].Name)
		out = append(out, one)
	}
	return out, nil
}

// listCertificates shows the authority that the cluster has created for itself, and the
// certificate of a node that it has signed.
func listCertificates(c *call) (any, error) {
	certificate := func(file, subject, of string) map[string]any {
		return map[string]any{
			"filename": file, "fingerprint": c.fingerprint(of), "issuer": "/CN=Proxmox Virtual Environment/OU=" + c.name + "/O=PVE Cluster Manager CA",
			"subject": subject, "notbefore": installed().Unix(), "notafter": installed().AddDate(10, 0, 0).Unix(),
		}
	}
	node := c.params["node"]
	return []any{
		certificate("pve-root-ca.pem", "/CN=Proxmox Virtual Environment/OU="+c.name+"/O=PVE Cluster Manager CA", "the authority"),
		certificate("pve-ssl.pem", "/OU=PVE Cluster Node/O=Proxmox Virtual Environment/CN="+node, node),
	}, nil
}

// fingerprint is that of the certificate of a node, or of the cluster's authority. No other
// installation has it.
func (p *PVE) fingerprint(of string) string {
	sum := sha256.Sum256([]byte(p.st.accounts.ByID[root].Secret + p.name + "/" + of))
	words := make([]string, len(sum))
	for i, b := range sum {
		words[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(words, ":")
}

func nodeStatus(c *call) (any, error) {
	n := c.node(c.at())
	total, used := int64(n.MemoryGB)<<30, c.nodeMemory(n)
	return map[string]any{
		"uptime": 864000, "idle": 0, "wait": 0, "cpu": 0.02, "loadavg": []string{"0.25", "0.22", "0.20"}, "pveversion": "pve-manager/" + c.seed.Version + "/5ac30304265fbd8e",
		"kversion": "Linux 6.17.2-1-pve #1 SMP", "memory": map[string]any{"total": total, "used": used, "free": total - used, "available": total - used},
		"cpuinfo": map[string]any{"cpus": n.CPUs, "cores": n.CPUs / 2, "sockets": 2, "model": "Simulated CPU", "mhz": "2400.000", "flags": "", "hvm": "1", "user_hz": 100},
		"rootfs":  map[string]any{"total": int64(100) << 30, "used": int64(9) << 30, "avail": int64(91) << 30, "free": int64(91) << 30},
		"swap":    map[string]any{"total": 0, "used": 0, "free": 0},
		"ksm":     map[string]any{"shared": 0},
	}, nil
}

// listNetworks lists the interfaces of a node. Bridges that the caller may not use are left
// out when bridges are asked for.
func listNetworks(c *call) (any, error) {
	kind := c.params["type"]
	out := []any{}
	if kind == "" || kind == "eth" {
		out = append(out, map[string]any{"iface": "eno1", "type": "eth", "active": 1, "exists": 1, "method": "manual", "method6": "manual", "families": []string{"inet"}, "priority": 3})
	}
	for i, name := range c.node(c.at()).Bridges {
		if kind != "" && kind != "bridge" && !strings.HasPrefix(kind, "any_") && kind != "include_sdn" {
			continue
		}
		if strings.HasPrefix(kind, "any_") && c.needAny("/sdn/zones/localnetwork/"+name, "SDN.Use", "SDN.Audit") != nil {
			continue
		}
		out = append(out, map[string]any{
			"iface": name, "type": "bridge", "active": 1, "autostart": 1, "method": "static", "method6": "manual", "families": []string{"inet"}, "priority": 4 + i,
			"bridge_ports": "eno1", "bridge_stp": "off", "bridge_fd": "0", "bridge_vlan_aware": 1, "cidr": fmt.Sprintf("192.0.2.%d/24", i+11),
			"address": fmt.Sprintf("192.0.2.%d", i+11), "netmask": "24",
		})
	}
	return out, nil
}

func listGuests(c *call) (any, error) {
	out := []any{}
	for _, g := range c.st.guests.All() {
		if g.Node == c.at() && c.may(g.path(), "VM.Audit") {
			out = append(out, c.listedGuest(g))
		}
	}
	return out, nil
}

// listedGuest is the status of a VM in the list of a node. What QEMU itself says is asked for.
func (c *call) listedGuest(g *guest) map[string]any {
	out := c.guestStatus(g)
	if c.params["full"] == "1" {
		out["qmpstatus"] = out["status"]
	}
	return out
}

// guestStatus is the status of a VM at once.
func (c *call) guestStatus(g *guest) map[string]any {
	s := c.status(g)
	out := map[string]any{
		"vmid": g.VMID, "name": s.Name, "status": s.Status, "cpus": s.CPUs, "cpu": 0, "maxmem": s.Memory, "mem": 0, "memhost": 0, "maxdisk": s.Disk, "disk": 0,
		"uptime": s.uptime(), "netin": 0, "netout": 0, "diskread": 0, "diskwrite": 0,
	}
	if s.Template {
		out["template"] = 1
	}
	if g.Config["serial0"] != "" {
		out["serial"] = 1
	}
	if g.Running {
		out["pid"] = g.pid()
	}
	for _, name := range []string{"lock", "tags"} {
		if value := g.Config[name]; value != "" {
			out[name] = value
		}
	}
	return out
}

// pid is that of the process of a VM that runs: each start has another.
func (g *guest) pid() int64 {
	return 4000 + (g.Started.UnixNano()/int64(time.Microsecond)+int64(g.VMID))%(1<<22-4000)
}

func currentStatus(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	out := c.guestStatus(g)
	out["qmpstatus"], out["ha"] = out["status"], map[string]any{"managed": 0}
	if parts, _ := parseOption("agent", "agent", g.Config["agent"]); parts["enabled"] == "1" {
		out["agent"] = 1
	}
	if g.Running {
		out["running-qemu"], out["running-machine"] = "10.1.2", "pc-i440fx-10.1+pve0"
	}
	return out, nil
}
