// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon/install"
)

func TestAddonThatFailsIsReportedFirst(t *testing.T) {
	status := func(name string, phase v1alpha1.AddonPhase, message string) v1alpha1.BootstrapAddonStatus {
		return v1alpha1.BootstrapAddonStatus{Name: name, Phase: phase, Message: message}
	}
	for reason, tc := range map[string]struct {
		addons []v1alpha1.BootstrapAddonStatus
		want   *Obstacle
	}{
		"all are ready":  {[]v1alpha1.BootstrapAddonStatus{status("a", v1alpha1.AddonReady, "")}, nil},
		"there are none": {nil, nil},
		"one that waits for others comes last": {
			[]v1alpha1.BootstrapAddonStatus{status("a", v1alpha1.AddonPending, "waits for b"), status("b", v1alpha1.AddonWaiting, "0 of 1 pods")},
			&Obstacle{Reason: "WaitingForAddons", Message: "addon b: 0 of 1 pods (and 1 more)"},
		},
		"one that fails comes first": {
			[]v1alpha1.BootstrapAddonStatus{status("a", v1alpha1.AddonWaiting, "0 of 1 pods"), status("b", v1alpha1.AddonFailing, "no chart")},
			&Obstacle{Reason: "AddonFailing", Message: "addon b: no chart (and 1 more)"},
		},
		"one without a message is described by its phase": {
			[]v1alpha1.BootstrapAddonStatus{status("a", v1alpha1.AddonInstalling, "")},
			&Obstacle{Reason: "WaitingForAddons", Message: "addon a is being installed"},
		},
	} {
		got := AddonObstacle(tc.addons)
		if got != nil {
			got.Urgent = false
		}
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(Obstacle{})); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}

func TestAddonThatFailsExplainsWhatFollowsFromIt(t *testing.T) {
	s := &Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}}
	nodes := &Obstacle{Reason: "WaitingForNodes", Message: "node is not Ready", Poll: true}
	if got := s.failingAddonFirst(nodes); got != nodes {
		t.Errorf("%+v", got)
	}
	s.Status.Addons = []v1alpha1.BootstrapAddonStatus{{Name: "cilium", Phase: v1alpha1.AddonFailing, Message: "no chart"}}
	if got := s.failingAddonFirst(nodes); got.Message != "addon cilium: no chart" || !got.Poll {
		t.Errorf("%+v", got)
	}
	lost := &Obstacle{Reason: "MachineRequestDeleted", Urgent: true}
	if got := s.failingAddonFirst(lost); got != lost {
		t.Errorf("%+v", got)
	}
}

// TestReadyBeforeARestartIsShownButNotReliedUpon: it may have been lost
// meanwhile.
func TestReadyBeforeARestartIsShownButNotReliedUpon(t *testing.T) {
	s := &Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}}
	ready := v1alpha1.BootstrapAddonStatus{Name: "cilium", Version: "1.17.0", Phase: v1alpha1.AddonReady, Digest: "sha256:1"}
	s.Status.Addons = []v1alpha1.BootstrapAddonStatus{ready}
	s.recordAddons([]install.State{{Key: "cilium", Version: "1.17.0"}})
	if !cmp.Equal(s.Status.Addons, []v1alpha1.BootstrapAddonStatus{ready}) || !s.Status.AddonsInstalled["cilium"] {
		t.Errorf("%+v", s.Status)
	}
	if o, err := awaitAddons(t.Context(), s); o == nil || err != nil {
		t.Errorf("%+v, %v", o, err)
	}
	s.recordAddons([]install.State{{Key: "cilium", Version: "1.17.0", Phase: v1alpha1.AddonReady}})
	if o, err := awaitAddons(t.Context(), s); o != nil || err != nil {
		t.Errorf("%+v, %v", o, err)
	}
	s.recordAddons([]install.State{{Key: "cilium", Version: "1.17.1"}})
	if s.Status.AddonsInstalled["cilium"] || s.Status.Addons[0].Phase != v1alpha1.AddonPending {
		t.Errorf("another version is not ready because this one was: %+v", s.Status)
	}
}
