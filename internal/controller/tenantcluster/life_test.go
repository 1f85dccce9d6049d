// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestATenantBecomesReadyAndGoesWithoutRest(t *testing.T) {
	f := newFixture(t)
	tc := f.ready(f.tenant())
	for _, kind := range append(conditionTypes(), v1alpha1.ConditionReady) {
		if !isTrue(tc, kind) {
			t.Errorf("%s is not true: %+v", kind, condition(tc, kind))
		}
	}
	if s := tc.Status; s.WorkerNodesReady != 2 || s.ObservedState.KubernetesVersion != "v1.31.0" || s.ControlPlaneEndpoint == "" || s.KubeconfigSecretRef == nil {
		t.Errorf("status: %+v", s)
	}
	f.gone(tc)
}
