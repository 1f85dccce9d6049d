// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
)

// offers lists nodes, storages for disks, and templates.
func (m machines) offers(ctx context.Context) (map[string][]provider.Offer, error) {
	c, err := m.seen.Do(ctx, "")
	if err != nil {
		return nil, apiError("list what "+m.config+" has", err)
	}
	out := map[string][]provider.Offer{}
	add := func(field string, o provider.Offer) {
		if !slices.Contains(out[field], o) {
			out[field] = append(out[field], o)
		}
	}
	for _, n := range c.nodes {
		add("spec.proxmox.nodes", provider.Offer{Value: n.Node, Note: n.Status})
	}
	for _, s := range c.storages {
		if strings.Contains(s.Content, "images") {
			add("spec.proxmox.storage", provider.Offer{Value: s.Storage, Note: s.PluginType})
		}
	}
	for _, v := range c.vms {
		if v.Template == 1 {
			add("spec.proxmox.template", provider.Offer{Value: v.Name, Note: "on " + v.Node})
		}
	}
	return out, nil
}
