// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// TestAClusterKeepsTheHostOfItsControlPlane has a cluster whose host is not installed, while
// another one is.
func TestAClusterKeepsTheHostOfItsControlPlane(t *testing.T) {
	f, _ := newCrowded(t)
	tc := f.ready(f.tenant())
	if tc.Status.ControlPlaneHost != string(tenant.Steward) {
		t.Errorf("its host is %q", tc.Status.ControlPlaneHost)
	}
	hostedBy := func(host tenant.Host) {
		f.Await(func() error {
			now := f.until(tc, func(*v1alpha1.TenantCluster) bool { return true })
			now.Status.ControlPlaneHost = string(host)
			return f.Status().Update(t.Context(), now)
		})
		f.nudge(tc)
	}
	hostedBy(tenant.Kamaji)
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return strings.Contains(condition(tc, v1alpha1.ConditionInfrastructureReady).Message, "KamajiControlPlane, which hosts the control plane of this cluster")
	})
	hostedBy(tenant.Steward)
	f.until(tc, isReady)
	f.gone(tc)
}
