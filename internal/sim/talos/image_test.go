// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

// TestNodesRunWhatTheirImageHas also is what a client learns before it hands out a
// configuration: since Talos 1.10 the version, and the schematic always.
func TestNodesRunWhatTheirImageHas(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	for reason, tc := range map[string]struct {
		image       string
		maintenance talos.Report
		configured  string // with an install image of v1.9.2
	}{
		"no version in its name": {"default/image-5rs6d", talos.Report{}, "v1.9.2"},
		"one that reports":       {"default/talos-v1.12.4", talos.Report{Version: "v1.12.4"}, "v1.12.4"},
		"one that does not":      {"talos-v1.9.5-amd64", talos.Report{Old: true}, "v1.9.5"},
		"with a schematic":       {"talos-v1.8.0-" + testClass, talos.Report{Old: true, Image: talos.Image{Schematic: testClass}}, "v1.8.0"},
	} {
		m, err := s.datacenter.PowerOn(datacenter.Spec{ID: tc.configured, Name: "cp-0", Image: tc.image})
		check(t, err)
		address := m.Address.Addr().String()
		s.awaitState(t, address, talos.StateMaintenance)
		tc.maintenance.State = talos.StateMaintenance
		if got, err := s.client.Inspect(t.Context(), address); !cmp.Equal(got, tc.maintenance) {
			t.Errorf("%s: %+v, %v", reason, got, err)
		}
		s.configure(t, m, talos.ControlPlane)
		s.awaitState(t, address, talos.StateConfigured)
		if got, err := s.client.Inspect(t.Context(), address); got.Version != tc.configured || got.State != talos.StateConfigured {
			t.Errorf("%s, configured: %+v, %v", reason, got, err)
		}
	}
}
