// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/step"
)

// checkQuota reserves the share of the cluster in the quotas of its team, before anything is
// created. The reservations of a team are in its status, which is written with a lock: of two
// clusters one gets the last share. What runs keeps its share when limits are lowered; deletion
// does not come here.
func checkQuota(ctx context.Context, s *session) (*step.Obstacle, error) {
	if s.team == nil {
		return s.checkPlatformLimits(ctx)
	}
	if why := s.notAllowed(); why != "" {
		return reported("NotAllowed", "team %s: %s", s.team.Name, why), nil
	}
	team := &v1alpha1.Team{}
	if err := s.Live.Get(ctx, client.ObjectKeyFromObject(s.team), team); err != nil {
		return nil, err
	}
	want := s.reservation()
	i := slices.IndexFunc(team.Status.Reservations, func(r v1alpha1.QuotaReservation) bool { return r.Cluster == want.Cluster })
	if i >= 0 && equality.Semantic.DeepEqual(team.Status.Reservations[i], want) {
		return nil, nil
	}
	before := team.DeepCopy()
	if i < 0 {
		team.Status.Reservations = append(team.Status.Reservations, want)
	} else {
		team.Status.Reservations[i] = want
	}
	if i < 0 || grows(before.Status.Reservations[i], want) {
		if why := exceeded(team, s.config, s.provider, want); why != "" {
			return polled("QuotaExceeded", "team %s: %s", team.Name, why), nil
		}
	}
	return nil, s.Client.Status().Patch(ctx, team, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// reservation is what the cluster needs, with autoscaling at most.
func (s *session) reservation() v1alpha1.QuotaReservation {
	w := s.Spec.Workers
	nodes := max(w.Replicas, w.MaxReplicas)
	times := func(q resource.Quantity) resource.Quantity {
		return *resource.NewQuantity(q.Value()*int64(nodes), q.Format)
	}
	ref := s.Status.ProviderConfigRef
	return v1alpha1.QuotaReservation{
		Cluster: s.Namespace + "/" + s.Name, UID: string(s.UID), ProviderConfig: ref.Namespace + "/" + ref.Name, Nodes: nodes,
		CPU: times(*resource.NewQuantity(int64(w.MachineTemplate.CPU), resource.DecimalSI)), Memory: times(w.MachineTemplate.Memory), Storage: times(w.MachineTemplate.DiskSize),
	}
}

// grows reports whether a reservation is larger than another one in any respect.
func grows(from, to v1alpha1.QuotaReservation) bool {
	return to.UID != from.UID || to.Nodes > from.Nodes || to.CPU.Cmp(from.CPU) > 0 || to.Memory.Cmp(from.Memory) > 0 || to.Storage.Cmp(from.Storage) > 0
}

// exceeded is which limit the reservations of a team break; empty if none.
func exceeded(team *v1alpha1.Team, config *v1alpha1.ButlerConfig, provider *v1alpha1.ProviderConfig, want v1alpha1.QuotaReservation) string {
	limits := Limits(team, config)
	sum := Sum(team.Status.Reservations)
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
	on := Sum(slices.DeleteFunc(slices.Clone(team.Status.Reservations), func(r v1alpha1.QuotaReservation) bool { return r.ProviderConfig != want.ProviderConfig }))
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
		count("limits.maxNodesPerTeam of ProviderConfig "+provider.Name, on.TotalNodes, platform.MaxNodesPerTeam),
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

// notAllowed is which version or addon the team may not have; empty if none.
func (s *session) notAllowed() string {
	l := s.team.Spec.ResourceLimits
	if l == nil {
		return ""
	}
	version := s.Spec.KubernetesVersion
	if len(l.AllowedKubernetesVersions) > 0 && !slices.ContainsFunc(l.AllowedKubernetesVersions, func(v string) bool { return version == v || strings.HasPrefix(version, v+".") }) {
		return fmt.Sprintf("Kubernetes %s is not among allowedKubernetesVersions", version)
	}
	for _, name := range s.chosenAddons() {
		switch {
		case slices.Contains(l.DeniedAddons, name):
			return fmt.Sprintf("addon %s is among deniedAddons", name)
		case len(l.AllowedAddons) > 0 && !slices.Contains(l.AllowedAddons, name):
			return fmt.Sprintf("addon %s is not among allowedAddons", name)
		}
	}
	return ""
}

// chosenAddons are those that a cluster has besides its network.
func (s *session) chosenAddons() (out []string) {
	a := s.Spec.Addons
	for name, has := range map[string]bool{
		addon.CertManager: a.CertManager.Enabled == nil || *a.CertManager.Enabled, addon.MetalLB: a.LoadBalancer != nil, addon.Longhorn: a.Storage != nil,
		addon.Traefik: a.Ingress != nil && (a.Ingress.Enabled == nil || *a.Ingress.Enabled), addon.Flux: a.GitOps != nil,
	} {
		if has {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// checkPlatformLimits applies the limits of a ProviderConfig to clusters without a team, which
// count as those of one team. One process decides, and one cluster at a time.
func (s *session) checkPlatformLimits(ctx context.Context) (*step.Obstacle, error) {
	l := s.provider.Spec.Limits
	if l == nil || s.Status.TenantNamespace != "" && s.Status.ObservedGeneration == s.Generation {
		return nil, nil
	}
	s.admission.Lock()
	defer s.admission.Unlock()
	var all v1alpha1.TenantClusterList
	if err := s.Live.List(ctx, &all); err != nil {
		return nil, err
	}
	team := &v1alpha1.Team{}
	want := s.reservation()
	for i := range all.Items {
		other := s.session(&all.Items[i])
		if o := other.TenantCluster; o.UID == s.UID || o.Spec.TeamRef != nil || o.Status.TenantNamespace == "" || o.Status.ProviderConfigRef == nil {
			continue
		}
		team.Status.Reservations = append(team.Status.Reservations, other.reservation())
	}
	team.Status.Reservations = append(team.Status.Reservations, want)
	if why := exceeded(team, nil, s.provider, want); why != "" {
		return polled("QuotaExceeded", "clusters without a team: %s", why), nil
	}
	// Others count this cluster from now on.
	before := s.DeepCopy()
	s.Status.TenantNamespace = tenantNamespace(s.TenantCluster)
	return nil, s.Client.Status().Patch(ctx, s.DeepCopy(), client.MergeFrom(before))
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
