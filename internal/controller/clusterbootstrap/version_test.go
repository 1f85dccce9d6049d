// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// TestAnotherTalosThanAskedForStartsNoEtcd has images whose Talos reports its version
// before it is configured, and after that only.
func TestAnotherTalosThanAskedForStartsNoEtcd(t *testing.T) {
	for image, tc := range map[string]struct{ found, configured string }{
		"default/talos-v1.12.4": {found: "v1.12.4"},
		"default/talos-v1.9.5":  {found: "v1.9.5", configured: "dev-cp-0"},
	} {
		t.Run(image, func(t *testing.T) {
			s := siteWith(t, v1alpha1.ProviderHarvester, false, siteOptions{image: image})
			s.create(clusterBootstrap())
			var cb *v1alpha1.ClusterBootstrap
			s.eventually("a failure", func() bool { cb = s.reconcile("dev"); return cb.Status.Phase == v1alpha1.BootstrapFailed })
			failed := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionFailed)
			if cb.Status.FailureReason != "TalosVersionMismatch" || failed.Reason != "TalosVersionMismatch" {
				t.Errorf("%+v", cb.Status)
			}
			for _, words := range []string{"dev-cp-0 (10.0.0.", "runs Talos " + tc.found, "spec.talos.version is v1.9.2", "an image of Talos v1.9.2"} {
				if !strings.Contains(failed.Message, words) {
					t.Errorf("%q is not in %q", words, failed.Message)
				}
			}
			if n := s.bootstraps(); n != 0 {
				t.Errorf("%d etcd clusters were begun", n)
			}
			if m := cb.Status.Machines[0]; m.TalosConfigured != (tc.configured == m.Name) {
				t.Errorf("%+v", m)
			}
			if e := s.lastEvent(); !strings.HasPrefix(e, "Warning Failed") || !strings.Contains(e, tc.found) {
				t.Errorf("event %q", e)
			}
			if tc.configured == "" {
				s.correctVersion(tc.found)
			}
		})
	}
}

// correctVersion checks that a cluster continues once its spec names what runs.
func (s *site) correctVersion(version string) {
	s.Helper()
	s.change("dev", func(spec *v1alpha1.ClusterBootstrapSpec) { spec.Talos.Version = version })
	s.eventually("etcd", func() bool { s.reconcile("dev"); return s.bootstraps() == 1 })
}

// lastEvent is the youngest one so far.
func (s *site) lastEvent() (last string) {
	for {
		select {
		case last = <-s.events.Events:
		default:
			return last
		}
	}
}
