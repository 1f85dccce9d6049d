// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// checkQuota reserves the share of the cluster in the quotas of its team, before anything is
// created. The reservations of a team are in its status, which is written with a lock: of two
// clusters one gets the last share. What runs keeps its share when limits are lowered, and is
// looked after when its growth is refused; deletion does not come here.
func checkQuota(ctx context.Context, s *session) (*step.Obstacle, error) {
	switch {
	case s.team == nil && s.Spec.TeamRef != nil:
		return nil, nil // checkAccess has withheld growth
	case s.team == nil:
		return s.checkPlatformLimits(ctx)
	}
	if o := s.checkAllowed(); o != nil {
		return o, nil
	}
	if s.reserved() {
		return nil, nil
	}
	team := &v1alpha1.Team{}
	if err := s.Live.Get(ctx, client.ObjectKeyFromObject(s.team), team); err != nil {
		return nil, err
	}
	before := team.DeepCopy()
	others := slices.DeleteFunc(team.Status.Reservations, func(r v1alpha1.QuotaReservation) bool { return r.Cluster == s.clusterKey() })
	held := heldBefore(before.Status.Reservations, string(s.UID))
	granted, o, err := s.reserve(ctx, held, others, "team "+team.Name, Limits(team, s.config))
	if o != nil || err != nil {
		return o, err
	}
	if held != nil && equality.Semantic.DeepEqual(*held, granted) {
		return nil, nil
	}
	team.Status.Reservations = slices.Concat(others, []v1alpha1.QuotaReservation{granted})
	return nil, s.Client.Status().Patch(ctx, team, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// reserved reports whether the team, as the cache has it, holds just what the cluster needs. Only
// the end of the cluster releases that.
func (s *session) reserved() bool {
	held, want := heldBefore(s.team.Status.Reservations, string(s.UID)), s.reservation()
	if held == nil || !equality.Semantic.DeepEqual(*held, want) {
		return false
	}
	s.Status.Reservation = &want
	return true
}

// heldBefore is the reservation of a cluster; nil if it has none.
func heldBefore(all []v1alpha1.QuotaReservation, uid string) *v1alpha1.QuotaReservation {
	if i := slices.IndexFunc(all, func(r v1alpha1.QuotaReservation) bool { return r.UID == uid }); i >= 0 {
		return &all[i]
	}
	return nil
}

// reserve returns what the cluster may have beside others. A cluster that exists keeps what it
// held if more is refused, and the walk continues with that.
func (s *session) reserve(ctx context.Context, held *v1alpha1.QuotaReservation, others []v1alpha1.QuotaReservation, whose string, limits v1alpha1.TeamResourceLimits) (v1alpha1.QuotaReservation, *step.Obstacle, error) {
	want := s.reservation()
	if held == nil || grows(*held, want) {
		requested, err := s.requested(ctx)
		if err != nil {
			return want, nil, err
		}
		if why := exceeded(append(slices.Clone(others), want), limits, s.provider, want, requested); why != "" {
			o := polled("QuotaExceeded", "%s: %s", whose, why)
			if held == nil || !s.admitted() {
				return want, o, nil
			}
			s.withhold(v1alpha1.ConditionQuotaSatisfied, o, held)
			want = s.reservation()
		}
	}
	s.Status.Reservation = &want
	return want, nil, nil
}

// clusterKey is the namespace/name of the cluster.
func (s *session) clusterKey() string { return s.Namespace + "/" + s.Name }

// reservation is what the cluster needs, with autoscaling at most.
func (s *session) reservation() v1alpha1.QuotaReservation {
	w := s.Spec.Workers
	nodes := max(w.Replicas, w.MaxReplicas)
	times := func(q resource.Quantity) resource.Quantity {
		return *resource.NewQuantity(q.Value()*int64(nodes), q.Format)
	}
	ref := s.Status.ProviderConfigRef
	return v1alpha1.QuotaReservation{
		Cluster: s.clusterKey(), UID: string(s.UID), ProviderConfig: ref.Namespace + "/" + ref.Name, Nodes: nodes,
		CPU: times(*resource.NewQuantity(int64(w.MachineTemplate.CPU), resource.DecimalSI)), Memory: times(w.MachineTemplate.Memory), Storage: times(w.MachineTemplate.DiskSize),
	}
}

// grows reports whether a reservation is larger than another one in any respect.
func grows(from, to v1alpha1.QuotaReservation) bool {
	return to.UID != from.UID || to.Nodes > from.Nodes || to.CPU.Cmp(from.CPU) > 0 || to.Memory.Cmp(from.Memory) > 0 || to.Storage.Cmp(from.Storage) > 0
}

// requested is how many machines the team has by MachineRequests on the platform.
func (s *session) requested(ctx context.Context) (n int32, err error) {
	team := ""
	if s.team != nil {
		team = s.team.Name
	}
	if l := s.provider.Spec.Limits; l == nil || l.MaxNodesPerTeam == nil {
		return 0, nil
	}
	var all v1alpha1.MachineRequestList
	if err := s.Live.List(ctx, &all); err != nil {
		return 0, fmt.Errorf("count the MachineRequests of the team: %w", err)
	}
	for i := range all.Items {
		if all.Items[i].CountsFor(client.ObjectKeyFromObject(s.provider), team) {
			n++
		}
	}
	return n, nil
}

// exceeded is which limit the reservations of a team break, beside the machines that it has by
// MachineRequests on the platform; empty if none.
func exceeded(all []v1alpha1.QuotaReservation, limits v1alpha1.TeamResourceLimits, provider *v1alpha1.ProviderConfig, want v1alpha1.QuotaReservation, requested int32) string {
	sum := Sum(all)
	count := func(name string, is int32, most *int32) string {
		if most == nil || is <= *most {
			return ""
		}
		return fmt.Sprintf("%s is %d, and this would be %d", name, *most, is)
	}
	amount := func(name string, is resource.Quantity, most *resource.Quantity) string {
		if most == nil || is.Cmp(*most) <= 0 {
			return ""
		}
		return fmt.Sprintf("%s is %s, and this would be %s", name, most.String(), is.String())
	}
	on := Sum(slices.DeleteFunc(slices.Clone(all), func(r v1alpha1.QuotaReservation) bool { return r.ProviderConfig != want.ProviderConfig }))
	platform := provider.Spec.Limits
	if platform == nil {
		platform = &v1alpha1.ProviderLimits{}
	}
	return cmp.Or(
		count("maxClusters", sum.Clusters, limits.MaxClusters),
		count("maxNodesPerCluster", want.Nodes, limits.MaxNodesPerCluster),
		count("maxTotalNodes", sum.TotalNodes, limits.MaxTotalNodes),
		amount("maxCPUCores", *sum.TotalCPU, limits.MaxCPUCores),
		amount("maxMemory", *sum.TotalMemory, limits.MaxMemory),
		amount("maxStorage", *sum.TotalStorage, limits.MaxStorage),
		count("limits.maxClustersPerTeam of ProviderConfig "+provider.Name, on.Clusters, platform.MaxClustersPerTeam),
		count("limits.maxNodesPerTeam of ProviderConfig "+provider.Name, on.TotalNodes+requested, platform.MaxNodesPerTeam),
	)
}

// Sum adds reservations up.
func Sum(all []v1alpha1.QuotaReservation) v1alpha1.TeamResourceUsage {
	out := v1alpha1.TeamResourceUsage{TotalCPU: new(resource.Quantity), TotalMemory: new(resource.Quantity), TotalStorage: new(resource.Quantity)}
	for _, r := range all {
		out.Clusters++
		out.TotalNodes += r.Nodes
		out.TotalCPU.Add(r.CPU)
		out.TotalMemory.Add(r.Memory)
		out.TotalStorage.Add(r.Storage)
	}
	return out
}

// Limits are those of a team; what it leaves out is that of the ButlerConfig.
func Limits(team *v1alpha1.Team, config *v1alpha1.ButlerConfig) v1alpha1.TeamResourceLimits {
	out := v1alpha1.TeamResourceLimits{}
	if team.Spec.ResourceLimits != nil {
		out = *team.Spec.ResourceLimits
	}
	if config == nil || config.Spec.DefaultTeamLimits == nil {
		return out
	}
	d := config.Spec.DefaultTeamLimits
	out.MaxClusters = cmp.Or(out.MaxClusters, d.MaxClusters)
	out.MaxNodesPerCluster = cmp.Or(out.MaxNodesPerCluster, d.MaxWorkersPerCluster)
	out.MaxCPUCores = cmp.Or(out.MaxCPUCores, d.MaxTotalCPU)
	out.MaxMemory = cmp.Or(out.MaxMemory, d.MaxTotalMemory)
	out.MaxStorage = cmp.Or(out.MaxStorage, d.MaxTotalStorage)
	return out
}

// checkPlatformLimits applies the limits of a ProviderConfig to clusters without a team, which
// count as those of one team. Their reservations are in their own status. One process decides,
// and one cluster at a time.
func (s *session) checkPlatformLimits(ctx context.Context) (*step.Obstacle, error) {
	held, want := s.Status.Reservation, s.reservation()
	if s.provider.Spec.Limits == nil {
		s.Status.Reservation = &want
		return nil, nil
	}
	if held != nil && equality.Semantic.DeepEqual(*held, want) {
		return nil, nil
	}
	s.admission.Lock()
	defer s.admission.Unlock()
	var all v1alpha1.TenantClusterList
	if err := s.Live.List(ctx, &all); err != nil {
		return nil, err
	}
	held = ownReservation(all.Items, s.UID)
	granted, o, err := s.reserve(ctx, held, s.withoutTeam(all.Items), "clusters without a team", v1alpha1.TeamResourceLimits{})
	if err != nil {
		return nil, err
	}
	if o != nil || held != nil && equality.Semantic.DeepEqual(*held, granted) {
		return o, nil
	}
	// Others count this cluster from now on.
	written, before := s.DeepCopy(), s.DeepCopy()
	before.Status.Reservation = nil
	return nil, s.Client.Status().Patch(ctx, written, client.MergeFrom(before))
}

// ownReservation is that of the cluster of a UID, as it was written last.
func ownReservation(all []v1alpha1.TenantCluster, uid types.UID) *v1alpha1.QuotaReservation {
	for i := range all {
		if all[i].UID == uid {
			return all[i].Status.Reservation
		}
	}
	return nil
}

// withoutTeam are the reservations of other clusters that have no team.
func (s *session) withoutTeam(all []v1alpha1.TenantCluster) (out []v1alpha1.QuotaReservation) {
	for i := range all {
		if tc := &all[i]; tc.UID != s.UID && tc.Spec.TeamRef == nil && tc.Status.Reservation != nil {
			out = append(out, *tc.Status.Reservation)
		}
	}
	return out
}

// releaseQuota gives the share of a cluster back. A team that is gone has none.
func releaseQuota(ctx context.Context, s *session) (*step.Obstacle, error) {
	if s.Spec.TeamRef == nil {
		return nil, nil
	}
	team := &v1alpha1.Team{}
	err := s.Live.Get(ctx, client.ObjectKey{Name: s.Spec.TeamRef.Name}, team)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	before := team.DeepCopy()
	team.Status.Reservations = slices.DeleteFunc(team.Status.Reservations, func(r v1alpha1.QuotaReservation) bool { return r.UID == string(s.UID) })
	if len(team.Status.Reservations) == len(before.Status.Reservations) {
		return nil, nil
	}
	err = s.Client.Status().Patch(ctx, team, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	return nil, client.IgnoreNotFound(err)
}
