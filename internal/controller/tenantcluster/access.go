// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

const (
	reasonTenancy  = "TenancyMode"
	reasonTeam     = "TeamNotReady"
	reasonProvider = "ProviderConfig"
	// platformNamespace is that of the platform's own configuration.
	platformNamespace = "butler-system"
)

// checkAccess finds out for whom the cluster is and on which platform its workers run.
// Nothing is chosen by accident: without a reference, a default of the team or of the
// ButlerConfig, there is no platform. A cluster that exists is looked after although it would
// not be admitted any more; it does not grow.
func checkAccess(ctx context.Context, s *session) (*step.Obstacle, error) {
	if err := s.readConfig(ctx); err != nil {
		return nil, err
	}
	o, err := s.checkTenancy(ctx)
	if err != nil || o != nil && !s.admitted() {
		return o, err
	}
	if o != nil {
		s.withhold(v1alpha1.ConditionProviderAccessGranted, o, s.Status.Reservation)
	}
	return s.findProvider(ctx)
}

func (s *session) readConfig(ctx context.Context) error {
	config := &v1alpha1.ButlerConfig{}
	err := s.Client.Get(ctx, client.ObjectKey{Name: v1alpha1.ButlerConfigName}, config)
	if apierrors.IsNotFound(err) {
		return nil
	}
	s.config = config
	return err
}

// checkTenancy applies the tenancy mode: where a cluster may be, and whether it needs a team.
func (s *session) checkTenancy(ctx context.Context) (*step.Obstacle, error) {
	mode, team := s.config.Tenancy(), s.Spec.TeamRef
	switch {
	case team == nil && mode == v1alpha1.TenancyEnforced:
		return reported(reasonTenancy, "every tenant cluster belongs to a team (ButlerConfig, multiTenancy.mode Enforced); create it in the namespace of a team, with spec.teamRef"), nil
	case team != nil && mode == v1alpha1.TenancyDisabled:
		return reported(reasonTenancy, "there are no teams (ButlerConfig, multiTenancy.mode Disabled); create the cluster without spec.teamRef, or set the mode to Optional"), nil
	case team != nil:
		return s.checkTeam(ctx, team.Name)
	}
	if want := s.config.TenantsNamespace(); s.Namespace != want {
		return reported(reasonTenancy, "tenant clusters without a team are created in namespace %s (ButlerConfig, defaultNamespace), not in %s", want, s.Namespace), nil
	}
	return nil, nil
}

func (s *session) checkTeam(ctx context.Context, name string) (*step.Obstacle, error) {
	team := &v1alpha1.Team{}
	err := s.Client.Get(ctx, client.ObjectKey{Name: name}, team)
	switch {
	case apierrors.IsNotFound(err):
		return reported(reasonTeam, "team %s does not exist; create it, or create the cluster with another spec.teamRef", name), nil
	case err != nil:
		return nil, err
	case !s.admitted() && team.Status.Phase != v1alpha1.TeamReady:
		return reported(reasonTeam, "team %s is not Ready", name), nil
	case s.Namespace != cmp.Or(team.Status.Namespace, team.Name):
		return reported(reasonTenancy, "clusters of team %s are created in namespace %s, not in %s", name, team.Status.Namespace, s.Namespace), nil
	}
	s.team = team
	return nil, nil
}

// findProvider looks the ProviderConfig up: the one that the cluster was created with, that
// of its spec, that of the team, that of the ButlerConfig.
func (s *session) findProvider(ctx context.Context) (*step.Obstacle, error) {
	key, from := s.providerKey()
	if key.Name == "" {
		return reported(reasonProvider, "no ProviderConfig: set spec.providerConfigRef, that of the team, or spec.defaultProviderConfigRef of the ButlerConfig"), nil
	}
	config := &v1alpha1.ProviderConfig{}
	err := s.Client.Get(ctx, key, config)
	if apierrors.IsNotFound(err) {
		return reported(reasonProvider, "ProviderConfig %s of %s does not exist; apply it", key, from), nil
	}
	if err != nil {
		return nil, err
	}
	if why := s.refusal(config); why != "" {
		o := reported(reasonProvider, "ProviderConfig %s of %s %s", key, from, why)
		if !s.admitted() {
			return o, nil
		}
		s.withhold(v1alpha1.ConditionProviderAccessGranted, o, s.Status.Reservation)
	}
	s.provider = config
	s.Status.ProviderConfigRef = &v1alpha1.NamespacedReference{Name: key.Name, Namespace: key.Namespace}
	return nil, nil
}

// providerKey is which ProviderConfig counts, and who says so. Once workers may exist it does
// not change any more: a new default does not move them.
func (s *session) providerKey() (key types.NamespacedName, from string) {
	switch ref := s.Status.ProviderConfigRef; {
	case ref != nil:
		return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, "status.providerConfigRef"
	case s.Spec.ProviderConfigRef != nil:
		return types.NamespacedName{Namespace: s.Spec.ProviderConfigRef.Namespace, Name: s.Spec.ProviderConfigRef.Name}, "spec.providerConfigRef"
	case s.team != nil && s.team.Spec.ProviderConfigRef != nil:
		return types.NamespacedName{Namespace: platformNamespace, Name: s.team.Spec.ProviderConfigRef.Name}, "team " + s.team.Name
	case s.config != nil && s.config.Spec.DefaultProviderConfigRef != nil:
		return types.NamespacedName{Namespace: platformNamespace, Name: s.config.Spec.DefaultProviderConfigRef.Name}, "the ButlerConfig"
	}
	return types.NamespacedName{}, ""
}

// refusal is why the cluster may not use a ProviderConfig; empty if it may.
func (s *session) refusal(config *v1alpha1.ProviderConfig) string {
	if scope := config.Spec.Scope; scope != nil && scope.Type == v1alpha1.ScopeTeam {
		switch {
		case scope.TeamRef == nil:
			return "has scope team and names none"
		case s.team == nil || s.team.Name != scope.TeamRef.Name:
			return fmt.Sprintf("is for team %s only", scope.TeamRef.Name)
		}
	}
	if s.team == nil || s.team.Spec.ResourceLimits == nil {
		return ""
	}
	if allowed := s.team.Spec.ResourceLimits.AllowedProviders; len(allowed) > 0 && !slices.Contains(allowed, config.Name) {
		return fmt.Sprintf("is not among the allowedProviders of team %s", s.team.Name)
	}
	return ""
}
