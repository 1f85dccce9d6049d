// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"slices"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"

	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/provider"
)

// TestAnInstanceHasTagsAndServiceAccountOfTheSettings, and none where they are left out.
func TestAnInstanceHasTagsAndServiceAccountOfTheSettings(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	for i, c := range []struct {
		account string
		tags    []string
	}{{account, []string{"butler-node", "web"}}, {"", nil}} {
		p, s := f.connected(t, func(p *provider.Config) { p.Spec.GCP.ServiceAccount, p.Spec.GCP.Tags = c.account, c.tags }), cluster()[i]
		if _, err := p.Machines.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		zone := []string{"europe-west3-a", "europe-west3-b"}[i]
		f.runs(t, p, s.MachineRef, zone)
		got, err := f.admin.instances.Get(t.Context(), &computepb.GetInstanceRequest{Project: f.seed.Project, Zone: zone, Instance: s.Name})
		if err != nil {
			t.Fatal(err)
		}
		var accounts []string
		for _, a := range got.GetServiceAccounts() {
			if accounts = append(accounts, a.GetEmail()); !slices.Equal(a.GetScopes(), []string{scope}) {
				t.Errorf("scopes %v", a.GetScopes())
			}
		}
		if !slices.Equal(got.GetTags().GetItems(), c.tags) || (c.account == "") != (len(accounts) == 0) || c.account != "" && accounts[0] != c.account {
			t.Errorf("tags %v, service accounts %v", got.GetTags().GetItems(), accounts)
		}
	}
}

// TestAnUnknownServiceAccountIsRefused with what to grant.
func TestAnUnknownServiceAccountIsRefused(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t, func(p *provider.Config) { p.Spec.GCP.ServiceAccount = "other@butler-example.iam.gserviceaccount.com" })
	if _, err := p.Machines.Create(t.Context(), cluster()[0]); err == nil || provider.KindOf(err) == provider.Unavailable {
		t.Errorf("%v", err)
	}
}
