// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/apimachinery/pkg/types"

// CountsFor reports whether the machine of a request counts against the limits of a
// ProviderConfig for a team, the empty one for requests without a team. Machines of a
// ClusterBootstrap do not, and neither do requests that were not admitted.
func (m *MachineRequest) CountsFor(config types.NamespacedName, team string) bool {
	return m.Labels[LabelClusterBootstrap] == "" && m.Annotations[AnnotationClaimedBy] == string(m.UID) &&
		m.ProviderConfig() == config && m.Labels[LabelTeam] == team
}

// NodesFor returns how many workers of a tenant cluster count against the limits of a ProviderConfig
// for a team, the empty one for clusters without a team.
func (tc *TenantCluster) NodesFor(config types.NamespacedName, team string) int32 {
	of := ""
	if tc.Spec.TeamRef != nil {
		of = tc.Spec.TeamRef.Name
	}
	r := tc.Status.Reservation
	if r == nil || of != team || r.ProviderConfig != config.String() {
		return 0
	}
	return r.Nodes
}
