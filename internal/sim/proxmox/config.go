// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"crypto/sha1" //nolint:gosec // the digest of a configuration is this one
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// digest changes with each change of a configuration.
func (g *guest) digest() string {
	sum := sha1.New() //nolint:gosec // the digest of a configuration is this one
	for _, all := range []map[string]string{g.Config, g.Pending} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(sum, "%s: %s\n", name, all[name])
		}
		fmt.Fprintln(sum, "[PENDING]")
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// typed is the value of an option as the API shows it: integers and booleans are numbers,
// all else are strings, numbers with a fraction too.
func typed(name, value string) any {
	s, known := settings()[name]
	if known && (s.kind == "integer" || s.kind == "boolean") {
		if v, err := strconv.ParseInt(value, 10, 64); err == nil {
			return v
		}
	}
	switch name {
	case "description":
		return strings.TrimSuffix(value, "\n") + "\n"
	case "cipassword":
		return "**********"
	}
	return value
}

func getConfig(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if c.params["snapshot"] != "" {
		return nil, fail("snapshot '%s' does not exist", c.params["snapshot"])
	}
	config := g.current()
	if c.params["current"] == "1" {
		config = g.Config
	}
	out := map[string]any{"digest": g.digest()}
	for name, value := range config {
		out[name] = typed(name, value)
	}
	return out, nil
}

func getPending(c *call) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, all := range []map[string]string{g.Config, g.Pending} {
		for name := range all {
			names[name] = true
		}
	}
	out := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		one := map[string]any{"key": name}
		if value, set := g.Config[name]; set {
			one["value"] = typed(name, value)
		}
		if value, set := g.Pending[name]; set && value == "" {
			one["delete"] = 1
		} else if set {
			one["pending"] = typed(name, value)
		}
		out = append(out, one)
	}
	return out, nil
}

// updateConfig changes a configuration at once, updateConfigLater in a task.
func updateConfig(c *call) (any, error) {
	if err := c.checkUpdate(); err != nil {
		return nil, err
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	return nil, c.apply(g)
}

func updateConfigLater(c *call) (any, error) {
	if err := c.checkUpdate(); err != nil {
		return nil, err
	}
	params := maps.Clone(c.params)
	params[asUser] = c.who
	return c.fork("qmconfig", c.params["vmid"], params), nil
}

// asUser is who a task acts for, in its parameters.
const asUser = "\x00user"

// endConfig changes a configuration in a task.
func endConfig(p *PVE, t *task) error {
	c := p.taskCall(t)
	g, err := c.guest()
	if err == nil {
		err = c.checkState(g)
	}
	if err == nil {
		err = c.apply(g)
	}
	return err
}

// taskCall is the call that a task carries out.
func (p *PVE) taskCall(t *task) *call {
	params := maps.Clone(t.Params)
	who := params[asUser]
	delete(params, asUser)
	return &call{PVE: p, st: p.st, params: params, who: who, now: t.Start}
}

// changes are the options that a call sets.
func (c *call) changes() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.params)) {
		if _, is := settings()[name]; is && name != "vmid" {
			out = append(out, name)
		}
	}
	return out
}

// checkUpdate refuses an update before it changes anything.
func (c *call) checkUpdate() error {
	if c.params["skiplock"] == "1" && !c.isRoot() {
		return wrongParam("skiplock", "Only root may use this option.")
	}
	if cdrom, set := c.params["cdrom"]; set {
		delete(c.params, "cdrom")
		c.params["ide2"] = cdrom + ",media=cdrom"
	}
	removed := splitList(c.params["delete"])
	if len(c.changes())+len(removed)+len(splitList(c.params["revert"])) == 0 {
		return fail("no options specified")
	}
	for _, name := range removed {
		switch _, known := settings()[name]; {
		case !known:
			return wrongParam("delete", "unknown option '%s'", name)
		case c.params[name] != "":
			return wrongParam("delete", "you can't use '-%s' and -delete %s' at the same time", name, name)
		}
	}
	g, err := c.guest()
	if err != nil {
		return err
	}
	for _, name := range c.changes() {
		if err := c.checkChange(g, name); err != nil {
			return err
		}
	}
	for _, name := range removed {
		if err := c.allowSetting(g, name, ""); err != nil {
			return err
		}
	}
	if err := c.checkBridges(c.params); err != nil {
		return err
	}
	return c.checkState(g)
}

// checkState refuses changes of a configuration that another has changed, or holds.
func (c *call) checkState(g *guest) error {
	if want := c.params["digest"]; want != "" && want != g.digest() {
		return fail("checksum mismatch (file change by other user?)")
	}
	if c.params["skiplock"] == "1" {
		return nil
	}
	if err := g.checkLock(); err != nil {
		return err
	}
	memory, balloon := c.params["memory"], c.params["balloon"]
	if memory == "" {
		memory = g.current()["memory"]
	}
	if limit, _ := strconv.Atoi(strings.TrimPrefix(memory, "current=")); balloon != "" && c.number("balloon", 0) > limit {
		return fail("balloon value too large (must be smaller than assigned memory)")
	}
	return nil
}

func (c *call) checkChange(g *guest, name string) error {
	if isDrive(name) {
		if err := c.checkDrive(g, name); err != nil {
			return err
		}
	}
	return c.allowSetting(g, name, c.params[name])
}

// allowSetting needs the privilege for an option.
func (c *call) allowSetting(g *guest, name, value string) error {
	right := settings()[name].right
	path := g.path()
	switch right {
	case "root":
		if !c.isRoot() {
			return fail("only root can set '%s' config", name)
		}
		return nil
	case "drive":
		return c.allowDrive(g, name, value)
	case "serial":
		if value != "" && value != "socket" && !c.isRoot() {
			return fail("only root can set '%s' config for real devices", name)
		}
		return c.need(path, "VM.Config.HWType")
	case "tagging":
		return c.need(path, "VM.Config.Options")
	case "Cloudinit":
		return c.needAny(path, "VM.Config.Cloudinit", "VM.Config.Network")
	case "VM.PowerMgmt":
		return c.need(path, right)
	}
	if err := c.need(path, "VM.Config."+right); err != nil {
		return err
	}
	if name == "startup" {
		return c.need("/", "Sys.Modify")
	}
	return nil
}

// apply changes the configuration of a VM: what a running one cannot take is pending until
// its next start.
func (c *call) apply(g *guest) error {
	if order, set := c.params["boot"]; set {
		if err := c.checkBoot(g, order); err != nil {
			return err
		}
	}
	for _, name := range splitList(c.params["revert"]) {
		delete(g.Pending, name)
	}
	for _, name := range splitList(c.params["delete"]) {
		if _, set := g.current()[name]; set {
			c.remove(g, name)
		}
	}
	for _, name := range c.changes() {
		value := c.params[name]
		if isDrive(name) {
			var err error
			if value, err = c.attach(g, name, value); err != nil {
				return err
			}
		}
		c.set(g, name, normal(name, value))
	}
	c.st.put(g)
	c.auditGuest(g)
	return nil
}

// normal is the value of an option as it is kept.
func normal(name, value string) string {
	switch {
	case strings.HasPrefix(name, "net"):
		parts, _ := parseOption("net", name, value)
		if parts["macaddr"] == "" {
			parts["macaddr"] = randomMAC()
		}
		parts["macaddr"] = strings.ToUpper(parts["macaddr"])
		return printOption("net", parts)
	case name == "tags":
		words := splitList(strings.ToLower(value))
		slices.Sort(words)
		return strings.Join(slices.Compact(words), ";")
	}
	return value
}

// hotplugged reports whether a running VM takes a change at once.
func hotplugged(name string) bool {
	switch {
	case strings.HasPrefix(name, "net"), strings.HasPrefix(name, "scsi"), strings.HasPrefix(name, "virtio"), strings.HasPrefix(name, "unused"):
		return name != "scsihw"
	}
	return slices.Contains([]string{"name", "description", "tags", "onboot", "startup", "protection", "lock", "hotplug", "shares", "cpuunits", "cpulimit"}, name)
}

func (c *call) set(g *guest, name, value string) {
	delete(g.Pending, name)
	if g.Running && !hotplugged(name) && g.Config[name] != value {
		g.Pending[name] = value
		return
	}
	g.Config[name] = value
}

// remove takes an option away. A disk becomes an unused one, and an unused one is deleted.
func (c *call) remove(g *guest, name string) {
	value := g.current()[name]
	delete(g.Pending, name)
	if g.Running && !hotplugged(name) {
		g.Pending[name] = ""
		return
	}
	delete(g.Config, name)
	if !isDrive(name) {
		return
	}
	drive := parseDrive(name, value)
	v := c.st.volumeAt(drive["file"], g.Node)
	switch {
	case v == nil || v.VMID != g.VMID:
	case !inUse(name) || isCloudinit(drive) || c.params["force"] == "1":
		c.free(v)
	default:
		c.setUnused(g, v.ID)
	}
}

func (c *call) setUnused(g *guest, id string) {
	for i := 0; ; i++ {
		if name := fmt.Sprint("unused", i); g.Config[name] == "" {
			g.Config[name] = id
			return
		}
	}
}

// checkBoot refuses an order with devices that do not exist.
func (c *call) checkBoot(g *guest, value string) error {
	parts, _ := parseOption("boot", "boot", value)
	for _, device := range splitList(parts["order"]) {
		if g.current()[device] == "" && c.params[device] == "" {
			return fail("invalid bootorder: device '%s' does not exist'", device)
		}
	}
	return nil
}

// applyPending makes what is pending the configuration.
func (p *PVE) applyPending(g *guest) {
	g.Config, g.Pending = g.current(), map[string]string{}
}
