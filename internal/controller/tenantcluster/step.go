// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// listedStep is one part of the way to a Ready cluster.
type listedStep struct {
	phase v1alpha1.TenantClusterPhase
	// condition is false while the step is not finished.
	condition string
	// run does what is missing and returns nil, or what blocks it.
	run func(context.Context, *session) (*step.Obstacle, error)
}

// steps is the way, from the top. The control plane is created before the infrastructure: its
// address is the endpoint, and infrastructure without an endpoint is never ready. Addons start
// before workers are waited for: nodes become Ready with the pod network, which is an addon.
func steps() []listedStep {
	const (
		access         = v1alpha1.ConditionProviderAccessGranted
		infrastructure = v1alpha1.ConditionInfrastructureReady
		controlPlane   = v1alpha1.ConditionControlPlaneReady
		workers        = v1alpha1.ConditionWorkersReady
		addons         = v1alpha1.ConditionAddonsReady
	)
	return []listedStep{
		{v1alpha1.TenantPending, access, checkAccess},
		{v1alpha1.TenantPending, v1alpha1.ConditionQuotaSatisfied, checkQuota},
		{v1alpha1.TenantPending, v1alpha1.ConditionNetworkReady, checkNetwork},
		{v1alpha1.TenantPending, v1alpha1.ConditionNetworkReady, reserveAddresses},
		{v1alpha1.TenantPending, v1alpha1.ConditionImageReady, checkImage},
		{v1alpha1.TenantPending, infrastructure, checkClusterAPI},
		{v1alpha1.TenantPending, infrastructure, prepareNamespace},
		{v1alpha1.TenantProvisioning, infrastructure, grantAccess},
		{v1alpha1.TenantProvisioning, infrastructure, copyCredentials},
		{v1alpha1.TenantProvisioning, controlPlane, applyControlPlane},
		{v1alpha1.TenantProvisioning, controlPlane, awaitEndpoint},
		{v1alpha1.TenantProvisioning, infrastructure, applyInfrastructure},
		{v1alpha1.TenantProvisioning, infrastructure, awaitInfrastructure},
		{v1alpha1.TenantProvisioning, controlPlane, awaitControlPlane},
		{v1alpha1.TenantProvisioning, controlPlane, awaitExposure},
		{v1alpha1.TenantProvisioning, controlPlane, connect},
		{v1alpha1.TenantProvisioning, workers, readKeys},
		{v1alpha1.TenantProvisioning, workers, renewToken},
		{v1alpha1.TenantProvisioning, workers, applyWorkers},
		{v1alpha1.TenantProvisioning, workers, configureWorkers},
		{v1alpha1.TenantProvisioning, workers, identifyNodes},
		{v1alpha1.TenantInstalling, addons, installAddons},
		{v1alpha1.TenantProvisioning, workers, awaitWorkers},
		{v1alpha1.TenantInstalling, addons, awaitAddons},
		{v1alpha1.TenantInstalling, addons, growAddresses},
		{v1alpha1.TenantInstalling, workers, keepTalosconfig},
		{v1alpha1.TenantInstalling, workers, removeUnused},
	}
}

// session is one walk along the steps for one TenantCluster, whose status the steps fill in.
type session struct {
	*v1alpha1.TenantCluster
	*Reconciler

	// What steps leave to later ones, by the steps that set it.
	config       *v1alpha1.ButlerConfig      // set by checkAccess; nil: there is none
	team         *v1alpha1.Team              // set by checkAccess; nil: there is none
	provider     *v1alpha1.ProviderConfig    // set by checkAccess
	addresses    []v1alpha1.TenantAddresses  // set by reserveAddresses: those that may be used
	lacking      *step.Obstacle              // addresses that a cluster lacks that runs
	again        time.Duration               // when to look again at the latest; 0: as usual
	kinds        kinds                       // set by checkClusterAPI
	input        tenant.Input                // grows from step to step
	built        tenant.Objects              // of the input
	skew         *step.Obstacle              // set by applyControlPlane
	upgrading    *step.Obstacle              // set by awaitControlPlane
	unassigned   bool                        // set by applyControlPlane: no address for too long
	unexposed    *step.Obstacle              // set by applyControlPlane: why the hostname points nowhere
	controlPlane *unstructured.Unstructured  // set by awaitEndpoint
	remote       *Tenant                     // set by connect
	keys         keys                        // set by readKeys and renewToken
	machines     []unstructured.Unstructured // set by applyWorkers
	sets         []unstructured.Unstructured // set by applyWorkers
	warnings     map[string]string           // set by awaitWorkers: by the name of a machine of the provider
	nodes        []corev1.Node
	seen         bool            // the nodes were read in this walk
	deferred     *step.Obstacle  // set by configureWorkers: what awaitWorkers waits for
	states       []install.State // set by installAddons
	addonsSeen   bool            // the installer has reported on each of them
	postponed    []postponed     // set by steps that the walk continues after
}

// postponed is a part of the spec that is refused, or has to wait, while the rest of the
// cluster is looked after.
type postponed struct {
	condition string
	obstacle  *step.Obstacle
}

// postpone records an obstacle that does not end the walk.
func (s *session) postpone(condition string, o *step.Obstacle) {
	s.postponed = append(s.postponed, postponed{condition, o})
}

// lookWithin has the next walk begin that soon at the latest.
func (s *session) lookWithin(after time.Duration) { s.again = min(after, cmp.Or(s.again, after)) }

// progress is where a walk ended.
type progress struct {
	phase v1alpha1.TenantClusterPhase
	// condition is that of the step where the walk ended; empty if it is complete.
	condition string
	obstacle  *step.Obstacle
	// lacking are addresses that a cluster lacks that runs: it stays Ready, because control
	// plane, workers and addons are.
	lacking *step.Obstacle
	// done are the conditions of finished steps that no unfinished one shares.
	done []string
	// postponed are the parts that the walk continued without.
	postponed []postponed
}

// of is the obstacle of a condition; nil if there is none. What was postponed explains what
// follows from it.
func (p progress) of(condition string) *step.Obstacle {
	for _, each := range p.postponed {
		if each.condition == condition {
			return each.obstacle
		}
	}
	if condition == p.condition {
		return p.obstacle
	}
	return nil
}

// first is what the cluster as a whole waits for.
func (p progress) first() *step.Obstacle {
	if p.condition == "" && len(p.postponed) > 0 {
		return p.postponed[0].obstacle
	}
	return p.of(p.condition)
}

// walk takes the steps until one is not finished. What is known of workers and addons is
// read again in any case: nothing of an earlier walk is repeated.
func (s *session) walk(ctx context.Context, all []listedStep) (progress, error) {
	for i, next := range all {
		if err := s.changed(ctx); err != nil {
			return progress{}, err
		}
		obstacle, err := next.run(ctx, s)
		if obstacle != nil || err != nil {
			s.count(ctx)
			return progress{next.phase, next.condition, obstacle, s.lacking, finished(all, i), s.postponed}, err
		}
	}
	s.count(ctx)
	return progress{phase: v1alpha1.TenantReady, lacking: s.lacking, done: finished(all, len(all)), postponed: s.postponed}, nil
}

// finished are the conditions all of whose steps are among the first n.
func finished(all []listedStep, n int) (out []string) {
	for _, s := range all[:n] {
		if !slices.ContainsFunc(all[n:], func(left listedStep) bool { return left.condition == s.condition }) {
			out = append(out, s.condition)
		}
	}
	return out
}

// changed reports whether a client has changed or deleted the TenantCluster while it is walked.
func (s *session) changed(ctx context.Context) error {
	now := &v1alpha1.TenantCluster{}
	err := s.Client.Get(ctx, client.ObjectKeyFromObject(s.TenantCluster), now)
	if apierrors.IsNotFound(err) || err == nil && now.Generation > s.Generation {
		return errChanged
	}
	return err
}
