// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"fmt"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Reasons of the Ready condition of a request that may not use its ProviderConfig.
const (
	ReasonNotGranted = "ProviderConfigNotGranted"
	ReasonScope      = "ProviderScope"
)

// granted is an error if a request may not use a ProviderConfig. What exists already,
// or is being deleted, is looked after all the same: a grant that is withdrawn must not
// leave machines behind.
func (c *Claim) granted(config *v1alpha1.ProviderConfig) error {
	if c.Known || !c.Object.GetDeletionTimestamp().IsZero() {
		return nil
	}
	if namespace := c.Object.GetNamespace(); !v1alpha1.AllowsNamespace(config, namespace) {
		return c.notGranted(ReasonNotGranted,
			fmt.Errorf("ProviderConfig %s/%s does not allow requests of namespace %s", config.Namespace, config.Name, namespace),
			fmt.Sprintf("use one of your own namespace, or have %s added to its annotation %s", namespace, v1alpha1.AnnotationAllowedNamespaces))
	}
	if team, limited := teamOf(config); limited && (team == "" || c.Object.GetLabels()[v1alpha1.LabelTeam] != team) {
		return c.notGranted(ReasonScope,
			fmt.Errorf("ProviderConfig %s/%s is for requests of team %s, and the label %s is %q", config.Namespace, config.Name, team, v1alpha1.LabelTeam, c.Object.GetLabels()[v1alpha1.LabelTeam]),
			"use one of scope platform or of the request's own team")
	}
	return nil
}

func (c *Claim) notGranted(reason string, err error, hint string) error {
	return &provider.Error{Kind: provider.Invalid, Reason: reason, Op: "create " + c.What, Err: err, Hint: hint}
}

// teamOf returns the team that a ProviderConfig is limited to.
func teamOf(config *v1alpha1.ProviderConfig) (team string, limited bool) {
	scope := config.Spec.Scope
	if scope == nil || scope.Type != v1alpha1.ScopeTeam {
		return "", false
	}
	if scope.TeamRef == nil {
		return "", true
	}
	return scope.TeamRef.Name, true
}
