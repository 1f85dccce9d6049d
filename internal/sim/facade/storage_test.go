// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package facade_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

func TestStorageClassesAreThoseOfAllPools(t *testing.T) {
	disks := func(classes ...string) (p v1alpha1.NodePool) {
		for _, c := range classes {
			p.ExtraDisks = append(p.ExtraDisks, v1alpha1.DiskSpec{StorageClass: c})
		}
		return p
	}
	workers := disks("slow")
	for name, tc := range map[string]struct {
		spec v1alpha1.ClusterSpec
		want []string
	}{
		"no disks":                    {},
		"a disk of the default class": {v1alpha1.ClusterSpec{ControlPlane: disks("")}, nil},
		"both pools":                  {v1alpha1.ClusterSpec{ControlPlane: disks("fast", ""), Workers: &workers}, []string{"fast", "slow"}},
	} {
		if diff := cmp.Diff(tc.want, facade.StorageClasses(tc.spec)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
