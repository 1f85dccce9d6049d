// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// ShowTenant reports what has changed in a TenantCluster since the last call.
func (r *Reporter) ShowTenant(tc *v1alpha1.TenantCluster) { r.advance(stateOfTenant(tc)) }

// stateOfTenant is a TenantCluster as far as it is shown. Its phases are shown as those of a
// bootstrap are.
func stateOfTenant(tc *v1alpha1.TenantCluster) State {
	s := State{Phase: v1alpha1.ClusterBootstrapPhase(tc.Status.Phase)}
	if c := meta.FindStatusCondition(tc.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.Status != metav1.ConditionTrue {
		s.Obstacle = c.Message
	}
	if tc.Status.ObservedState == nil {
		return s
	}
	phases := map[v1alpha1.TenantAddonState]v1alpha1.AddonPhase{
		v1alpha1.TenantAddonPending: v1alpha1.AddonPending, v1alpha1.TenantAddonInstalling: v1alpha1.AddonInstalling, v1alpha1.TenantAddonHealthy: v1alpha1.AddonReady,
		v1alpha1.TenantAddonDegraded: v1alpha1.AddonWaiting, v1alpha1.TenantAddonFailed: v1alpha1.AddonFailing,
	}
	for _, a := range tc.Status.ObservedState.Addons {
		s.Addons = append(s.Addons, v1alpha1.BootstrapAddonStatus{Name: a.Name, Version: a.Version, Phase: phases[a.Status]})
	}
	return s
}
