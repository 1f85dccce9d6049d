// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package team reconciles Teams: a namespace, the roles of the members in it, and how much of
// the quotas is used.
package team

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/internal/controller/tenantcluster"
)

const (
	// owner is the name under which the fields of objects are owned.
	owner = tenantcluster.Owner
	// deletionPoll is how often a namespace is looked at that is being deleted.
	deletionPoll = time.Second
	// Annotations of the namespace of a team.
	annotationDescription = v1alpha1.Group + "/description"
	annotationDisplayName = v1alpha1.Group + "/display-name"
)

// Reconciler drives Teams.
type Reconciler struct {
	Client client.Client
	Live   client.Reader
}

// Reconcile creates the namespace and the roles of a team.
func (r *Reconciler) Reconcile(ctx context.Context, team *v1alpha1.Team) (reconcile.Result, error) {
	result, err := r.reconcile(ctx, team)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: lag.Again}, nil
	}
	return result, err
}

func (r *Reconciler) reconcile(ctx context.Context, team *v1alpha1.Team) (reconcile.Result, error) {
	if !team.DeletionTimestamp.IsZero() {
		return r.remove(ctx, team)
	}
	before := team.DeepCopy()
	if controllerutil.AddFinalizer(team, v1alpha1.FinalizerTeam) {
		return reconcile.Result{}, r.Client.Patch(ctx, team, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	}
	next := team.DeepCopy()
	conflict, err := r.namespace(ctx, next)
	if err != nil {
		return reconcile.Result{}, err
	}
	if conflict != "" {
		next.Status.Phase = v1alpha1.TeamFailed
		set(next, v1alpha1.ConditionNamespaceReady, false, "NamespaceConflict", conflict)
		set(next, v1alpha1.ConditionReady, false, "NamespaceConflict", conflict)
		return reconcile.Result{}, r.report(ctx, team, next)
	}
	if err := r.bind(ctx, next); err != nil {
		return reconcile.Result{}, err
	}
	next.Status.Namespace, next.Status.Phase = team.Name, v1alpha1.TeamReady
	set(next, v1alpha1.ConditionNamespaceReady, true, "NamespaceReady", "")
	set(next, v1alpha1.ConditionRBACReady, true, "RBACReady", "")
	set(next, v1alpha1.ConditionReady, true, "Ready", "")
	if err := r.count(ctx, next); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, r.report(ctx, team, next)
}

// namespace creates that of a team. One that exists and is not the team's is left alone: its
// members would get at what is in it.
func (r *Reconciler) namespace(ctx context.Context, team *v1alpha1.Team) (conflict string, err error) {
	found := &corev1.Namespace{}
	err = r.Live.Get(ctx, client.ObjectKey{Name: team.Name}, found)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return "", err
	case found.Labels[v1alpha1.LabelTeam] != team.Name:
		return fmt.Sprintf("namespace %s exists and is not that of the team; label it %s=%s to hand it over, or create the team with another name", team.Name, v1alpha1.LabelTeam, team.Name), nil
	default:
		return "", r.describe(ctx, team, found)
	}
	o := corev1ac.Namespace(team.Name).WithLabels(map[string]string{v1alpha1.LabelTeam: team.Name, "app.kubernetes.io/managed-by": "butler"})
	if err := r.Client.Apply(ctx, o, client.FieldOwner(owner), client.ForceOwnership); err != nil {
		return "", err
	}
	return "", r.describe(ctx, team, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team.Name}})
}

// describe writes on the namespace whose it is: members see the namespace, and not the Team.
func (r *Reconciler) describe(ctx context.Context, team *v1alpha1.Team, namespace *corev1.Namespace) error {
	before := namespace.DeepCopy()
	if namespace.Annotations == nil {
		namespace.Annotations = map[string]string{}
	}
	for key, value := range map[string]string{annotationDescription: team.Spec.Description, annotationDisplayName: team.Spec.DisplayName} {
		if value == "" {
			delete(namespace.Annotations, key)
			continue
		}
		namespace.Annotations[key] = value
	}
	if maps.Equal(before.Annotations, namespace.Annotations) {
		return nil
	}
	return r.Client.Patch(ctx, namespace, client.MergeFrom(before))
}

// RoleName is the ClusterRole of members with a role, in the namespace of their team.
func RoleName(role v1alpha1.TeamRole) string { return owner + "-team-" + string(role) }

// bind gives the members their roles in the namespace. No role reads Secrets there.
func (r *Reconciler) bind(ctx context.Context, team *v1alpha1.Team) error {
	for _, role := range []v1alpha1.TeamRole{v1alpha1.TeamAdmin, v1alpha1.TeamOperator, v1alpha1.TeamViewer} {
		o := rbacv1ac.RoleBinding(RoleName(role), team.Name).
			WithLabels(map[string]string{v1alpha1.LabelTeam: team.Name, "app.kubernetes.io/managed-by": "butler"}).
			WithRoleRef(rbacv1ac.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("ClusterRole").WithName(RoleName(role))).
			WithSubjects(Members(team, role)...)
		if err := r.Client.Apply(ctx, o, client.FieldOwner(owner), client.ForceOwnership); err != nil {
			return fmt.Errorf("bind %s in namespace %s: %w", RoleName(role), team.Name, err)
		}
	}
	team.Status.MemberCount = int32(len(team.Spec.Access.Users) + len(team.Spec.Access.Groups))
	return nil
}

// Members are the users and groups of a team with a role.
func Members(team *v1alpha1.Team, role v1alpha1.TeamRole) (out []*rbacv1ac.SubjectApplyConfiguration) {
	subject := func(kind, name string) *rbacv1ac.SubjectApplyConfiguration {
		return rbacv1ac.Subject().WithAPIGroup(rbacv1.GroupName).WithKind(kind).WithName(name)
	}
	for _, u := range team.Spec.Access.Users {
		if u.Role == role || u.Role == "" && role == v1alpha1.TeamViewer {
			out = append(out, subject(rbacv1.UserKind, u.Name))
		}
	}
	for _, g := range team.Spec.Access.Groups {
		if g.Role == role || g.Role == "" && role == v1alpha1.TeamViewer {
			out = append(out, subject(rbacv1.GroupKind, g.Name))
		}
	}
	return out
}

// count compares what the clusters of a team have reserved with its limits.
func (r *Reconciler) count(ctx context.Context, team *v1alpha1.Team) error {
	clusters, err := r.clusters(ctx, team.Name)
	if err != nil {
		return err
	}
	team.Status.ClusterCount = int32(len(clusters))
	// A cluster whose finalizer was removed has left its reservation.
	team.Status.Reservations = slices.DeleteFunc(team.Status.Reservations, func(q v1alpha1.QuotaReservation) bool {
		return !slices.ContainsFunc(clusters, func(tc v1alpha1.TenantCluster) bool { return string(tc.UID) == q.UID })
	})
	config := &v1alpha1.ButlerConfig{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: v1alpha1.ButlerConfigName}, config); err != nil {
		if !apierrors.IsNotFound(err) {
			return err
		}
		config = nil
	}
	judge(team, tenantcluster.Limits(team, config))
	return nil
}

func (r *Reconciler) clusters(ctx context.Context, namespace string) ([]v1alpha1.TenantCluster, error) {
	var all v1alpha1.TenantClusterList
	err := r.Client.List(ctx, &all, client.InNamespace(namespace))
	return all.Items, err
}

// judge writes usage and quota status.
func judge(team *v1alpha1.Team, limits v1alpha1.TeamResourceLimits) {
	usage := tenantcluster.Sum(team.Status.Reservations)
	shares := []share{
		{"maxClusters", percent(int64(usage.Clusters), whole(limits.MaxClusters))}, {"maxTotalNodes", percent(int64(usage.TotalNodes), whole(limits.MaxTotalNodes))},
	}
	usage.ClusterUtilization, usage.NodeUtilization = shares[0].percent, shares[1].percent
	if limits.MaxCPUCores != nil {
		usage.CPUUtilization = percent(usage.TotalCPU.MilliValue(), limits.MaxCPUCores.MilliValue())
		shares = append(shares, share{"maxCPUCores", usage.CPUUtilization})
	}
	if limits.MaxMemory != nil {
		usage.MemoryUtilization = percent(usage.TotalMemory.Value(), limits.MaxMemory.Value())
		shares = append(shares, share{"maxMemory", usage.MemoryUtilization})
	}
	most := slices.MaxFunc(shares, func(a, b share) int { return int(a.percent - b.percent) })
	team.Status.ResourceUsage, team.Status.QuotaStatus, team.Status.QuotaMessage = &usage, v1alpha1.QuotaOK, ""
	if most.percent >= 80 {
		team.Status.QuotaStatus, team.Status.QuotaMessage = v1alpha1.QuotaWarning, fmt.Sprintf("%d %% of %s are used", most.percent, most.limit)
	}
	if most.percent > 100 {
		team.Status.QuotaStatus = v1alpha1.QuotaExceededStatus
	}
	set(team, v1alpha1.ConditionQuotaExceeded, most.percent > 100, string(team.Status.QuotaStatus), team.Status.QuotaMessage)
}

type share struct {
	limit   string
	percent int32
}

func whole(limit *int32) int64 {
	if limit == nil {
		return -1
	}
	return int64(*limit)
}

// percent is 0 without a limit. Anything of nothing is too much.
func percent(is, of int64) int32 {
	switch {
	case of < 0 || is == 0:
		return 0
	case of == 0:
		return 1000
	}
	return int32(min(is*100/of, 1000))
}

// remove deletes the namespace of a team that has no clusters.
func (r *Reconciler) remove(ctx context.Context, team *v1alpha1.Team) (reconcile.Result, error) {
	if !slices.Contains(team.Finalizers, v1alpha1.FinalizerTeam) {
		return reconcile.Result{}, nil
	}
	next := team.DeepCopy()
	next.Status.Phase = v1alpha1.TeamTerminating
	clusters, err := r.clusters(ctx, team.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(clusters) > 0 {
		set(next, v1alpha1.ConditionReady, false, "DeletionBlocked", fmt.Sprintf("the team has %d tenant clusters, among them %s; delete them first", len(clusters), clusters[0].Name))
		return reconcile.Result{}, r.report(ctx, team, next)
	}
	gone, err := r.removeNamespace(ctx, team)
	if err != nil || !gone {
		set(next, v1alpha1.ConditionReady, false, "DeletingNamespace", "namespace "+team.Name+" is being deleted")
		return reconcile.Result{RequeueAfter: deletionPoll}, client.IgnoreNotFound(firstOf(err, r.report(ctx, team, next)))
	}
	before := team.DeepCopy()
	controllerutil.RemoveFinalizer(team, v1alpha1.FinalizerTeam)
	return reconcile.Result{}, client.IgnoreNotFound(r.Client.Patch(ctx, team, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// removeNamespace deletes the namespace, if it is the team's.
func (r *Reconciler) removeNamespace(ctx context.Context, team *v1alpha1.Team) (gone bool, err error) {
	found := &corev1.Namespace{}
	err = r.Live.Get(ctx, client.ObjectKey{Name: team.Name}, found)
	if apierrors.IsNotFound(err) || err == nil && found.Labels[v1alpha1.LabelTeam] != team.Name {
		return true, nil
	}
	if err == nil && found.DeletionTimestamp == nil {
		err = client.IgnoreNotFound(r.Client.Delete(ctx, found))
	}
	return false, err
}

func set(team *v1alpha1.Team, kind string, is bool, reason, message string) {
	status := metav1.ConditionFalse
	if is {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&team.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: team.Generation})
}

func (r *Reconciler) report(ctx context.Context, before, after *v1alpha1.Team) error {
	after.Status.ObservedGeneration = after.Generation
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	return r.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
