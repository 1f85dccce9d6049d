// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func extraDisks(t *trial) {
	s := t.spec(func(s *provider.MachineSpec) { s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 3}, {SizeGB: 5}} })
	t.create(s)
	t.await(s.MachineRef, complete()...)
	got := slices.Sorted(slices.Values(t.only(s.Name).ExtraDisksGB))
	if !slices.Equal(got, []int32{3, 5}) {
		t.errorf("asked for disks of 3 and 5 GB, the platform has %v", got)
	}
}

func userData(t *trial) {
	for _, data := range []string{"#cloud-config\n# ä 'quoted' \"twice\" $HOME\n", longUserData()} {
		s := t.spec(func(s *provider.MachineSpec) { s.UserData = provider.Sensitive(data) })
		_, err := t.machines.Create(t.ctx, s)
		if len(data) > 1000 && err != nil {
			// Too long for the platform is an answer; cut off is none.
			t.refused("create with long user data", err, provider.Invalid)
			continue
		}
		if err != nil {
			t.fatalf("create with user data: %v", err)
		}
		t.await(s.MachineRef, complete()...)
		if got := t.only(s.Name).UserData; got != data {
			t.errorf("%d bytes of user data arrive as %d other bytes", len(data), len(got))
		}
	}
}

func labels(t *trial) {
	want := t.suite.Labels
	s := t.spec(func(s *provider.MachineSpec) { s.Labels = want })
	t.create(s)
	t.await(s.MachineRef, complete()...)
	seen := t.only(s.Name)
	for _, k := range names(want) {
		if seen.Labels[k] != want[k] {
			t.errorf("label %s is %q on the platform, want %q", k, seen.Labels[k], want[k])
		}
	}
}
