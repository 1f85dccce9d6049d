// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// checkProvider sees that the ProviderConfig is there and fits. One that is
// missing may be applied a moment later. The steps that follow use it.
func checkProvider(ctx context.Context, s *Session) (*Obstacle, error) {
	key := s.ProviderConfig()
	config := &v1alpha1.ProviderConfig{}
	err := s.Client.Get(ctx, key, config)
	if apierrors.IsNotFound(err) {
		return &Obstacle{Reason: "ProviderConfigMissing", Message: fmt.Sprintf("ProviderConfig %s does not exist; apply it", key)}, nil
	}
	if err != nil {
		return nil, err
	}
	if config.Spec.Provider != s.Spec.Provider {
		return nil, &Failure{Reason: "ProviderMismatch", Message: fmt.Sprintf("spec.provider is %s, but ProviderConfig %s is one of %s", s.Spec.Provider, key, config.Spec.Provider)}
	}
	if scope := config.Spec.Scope; scope != nil && scope.Type == v1alpha1.ScopeTeam {
		return nil, &Failure{Reason: "ProviderScope", Message: fmt.Sprintf("ProviderConfig %s belongs to a team; a management cluster needs one of scope platform", key)}
	}
	if len(s.Status.Machines) == 0 && !v1alpha1.AllowsNamespace(config, s.Namespace) {
		return nil, &Failure{Reason: "ProviderConfigNotGranted", Message: fmt.Sprintf("ProviderConfig %s does not allow ClusterBootstraps of namespace %s; use one of that namespace, or add it to the annotation %s", key, s.Namespace, v1alpha1.AnnotationAllowedNamespaces)}
	}
	if c := meta.FindStatusCondition(config.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.Reason == v1alpha1.ReasonNoController && !slices.ContainsFunc(s.Status.Machines, hasAddress) {
		return &Obstacle{Reason: v1alpha1.ReasonNoController, Message: fmt.Sprintf("ProviderConfig %s: %s", key, c.Message)}, nil
	}
	if err := CheckEndpoint(s.Spec, config); err != nil {
		return nil, err
	}
	if s.plane() == v1alpha1.PlaneLocal {
		if err := CheckCredentials(s.Spec, config); err != nil {
			return nil, err
		}
	}
	s.provider = config
	return nil, nil
}

func hasAddress(m v1alpha1.BootstrapMachineStatus) bool { return m.IPAddress != "" }
