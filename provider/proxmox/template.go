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

	"github.com/butlerdotdev/butler/provider"
)

// copyOf is one copy of a template.
type copyOf struct {
	Node string `json:"node"`
	VMID number `json:"vmid"`
}

// template is a copy of the wanted template, and what can be done with it.
type template struct {
	copyOf
	name     string
	lock     string
	settings settings
	// linked says that its disks can be cloned without a copy.
	linked bool
}

// wanted names the template of a machine: an ID or a name.
func (p *platform) wanted(s provider.MachineSpec) string {
	switch {
	case s.Image != "":
		return s.Image
	case p.spec.TemplateID != 0:
		return strconv.Itoa(int(p.spec.TemplateID))
	case p.spec.Template != "":
		return p.spec.Template
	case s.TalosVersion != "":
		return "talos-" + s.TalosVersion
	}
	return ""
}

const hintTemplate = "create it, see docs/getting-started/proxmox.md, or correct spec.proxmox.template, templateID or the image of the machine"

// copies returns every copy of the template of a machine, in a fixed order. Names are not
// unique: each node may have its own.
func (p *platform) copies(ctx context.Context, s provider.MachineSpec) ([]copyOf, error) {
	name := p.wanted(s)
	if name == "" {
		return nil, provider.Invalid.New("", provider.ReasonImageMissing, errors.New("no template is named"), "set spec.proxmox.template or templateID")
	}
	return p.copied.Get(ctx, name, func(ctx context.Context) ([]copyOf, error) { return p.readCopies(ctx, name) })
}

func (p *platform) readCopies(ctx context.Context, name string) ([]copyOf, error) {
	id, _ := strconv.Atoi(name) // a name is no ID
	var all []copyOf
	var other bool
	vms, err := p.named.Do(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, vm := range vms {
		switch {
		case id > 0 && vm.VMID != number(id) || id == 0 && vm.Name != name:
		case vm.Template == 0:
			other = true
		default:
			all = append(all, copyOf{vm.Node, vm.VMID})
		}
	}
	if len(all) == 0 && other {
		return nil, provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("VM %s is not a template", name), "convert it with qm template, or name another one")
	}
	if len(all) == 0 {
		return nil, provider.Invalid.New("", provider.ReasonImageNotFound, fmt.Errorf("template %s not found", name), hintTemplate)
	}
	slices.SortFunc(all, func(a, b copyOf) int {
		if a.Node != b.Node {
			return strings.Compare(a.Node, b.Node)
		}
		return int(a.VMID - b.VMID)
	})
	return all, nil
}

// readTemplate reads one copy.
func (p *platform) readTemplate(ctx context.Context, of copyOf) (template, error) {
	return p.templates.Get(ctx, fmt.Sprint(of), func(ctx context.Context) (t template, err error) {
		t = template{copyOf: of}
		if t.settings, err = p.readSettings(ctx, of.Node, of.VMID); err != nil {
			return t, err
		}
		t.name, t.lock = t.settings["name"], t.settings["lock"]
		var said struct {
			Has number `json:"hasFeature"`
		}
		err = p.get(ctx, vmPath(of.Node, of.VMID)+"/feature", url.Values{"feature": {"clone"}}, &said)
		t.linked = said.Has != 0
		return t, err
	})
}

// full reports whether the disks have to be copied: the storage cannot clone them, or they
// are on another one.
func (p *platform) full(t template) bool {
	for _, d := range t.settings.drives() {
		if !d.cdrom() && d.storage() != p.spec.Storage {
			return true
		}
	}
	return !t.linked
}

// reaches reports whether a copy can be cloned to a node: on its own always, on another one if
// every storage that takes part is shared.
func (p *platform) reaches(c *cluster, t template, node string) bool {
	if t.Node == node {
		return true
	}
	if !c.shared(p.spec.Storage) {
		return false
	}
	for _, d := range t.settings.drives() {
		if storage := d.storage(); storage != "" && !c.shared(storage) {
			return false
		}
	}
	return true
}

// shared reports whether all nodes see the same content of a storage.
func (c *cluster) shared(storage string) bool {
	return slices.ContainsFunc(c.storages, func(r resource) bool { return r.Storage == storage && r.Shared != 0 })
}

// checkTags refuses a template that was a machine: its clones would have the tags of that one,
// and be known as copies of it.
func (t template) checkTags() error {
	for w := range words(t.settings["tags"]) {
		if strings.HasPrefix(w, "butler-") {
			return provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("template %d on %s has the tag %s of a machine", t.VMID, t.Node, w), fmt.Sprintf("remove its tags that begin with butler-: qm set %d --tags ''", t.VMID))
		}
	}
	return nil
}

// check refuses a template with tags of a machine, one without a disk, and one whose disk does not fit into what is
// asked for.
func (t template) check(s provider.MachineSpec) error {
	if err := t.checkTags(); err != nil {
		return err
	}
	if s.Network != nil && !needsISO(s) {
		if err := t.checkAddressable(); err != nil {
			return err
		}
	}
	root, ok := t.settings.root()
	if !ok {
		return provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("template %d on %s has no disk", t.VMID, t.Node), "attach the disk of Talos to it")
	}
	if least := root.gigabytes(); s.DiskGB > 0 && least > int64(s.DiskGB) {
		return provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("template %d on %s has a disk of %d GB, and %d are requested", t.VMID, t.Node, least, s.DiskGB), "raise diskGB")
	}
	return nil
}
