// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"net/url"

	"github.com/butlerdotdev/butler/provider"
)

// kubeletProviderID demands what a cloud controller manager needs to find the machine of
// a node.
func kubeletProviderID(t *trial) {
	owners := map[string]provider.MachineSpec{}
	for range 2 {
		s := t.spec()
		t.create(s)
		id := t.await(s.MachineRef, provider.StateRunning).NodeProviderID
		if id == "" && t.suite.Provider.Type.OnPrem() {
			continue
		}
		if u, err := url.Parse(id); err != nil || u.Scheme == "" || u.Host+u.Path == "" {
			t.errorf("NodeProviderID is %q, want the form scheme://identifier", id)
			continue
		}
		if other, taken := owners[id]; taken {
			t.errorf("machines %s and %s have the NodeProviderID %s", other.Name, s.Name, id)
		}
		owners[id] = s
	}
	for id, s := range owners {
		t.keepsNodeProviderID(s, id)
	}
}

// keepsNodeProviderID demands the same ID of every further call.
func (t *trial) keepsNodeProviderID(s provider.MachineSpec, id string) {
	again, err := t.machines.Create(t.ctx, s)
	if err != nil {
		t.errorf("create again: %v", err)
	}
	all, err := t.machines.List(t.ctx, s.Owner)
	if err != nil {
		t.errorf("list: %v", err)
	}
	for _, m := range append(all, t.observe(s.MachineRef), again) {
		if m.State == provider.StateRunning && m.NodeProviderID != id {
			t.errorf("NodeProviderID was %s and is %q", id, m.NodeProviderID)
		}
	}
}
