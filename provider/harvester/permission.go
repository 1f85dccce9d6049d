// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
)

// grant is what the credentials should be allowed to do with a resource.
type grant struct {
	group, resource string
	needed          []string // without one of these, machines fail
	wanted          []string // without one of these, something works less well:
	otherwise       string   // this
}

func (g grant) name() string { return strings.TrimSuffix(g.resource+"."+g.group, ".") }

// grants are the permissions that matter for the machines. What is only read
// before a machine is created shows when it is read.
func (m *machines) grants(specs []provider.MachineSpec) []grant {
	secrets := grant{resource: "secrets", wanted: []string{"get", "create", "delete"}, otherwise: "cloud-init data above 2048 bytes cannot be stored"}
	if slices.ContainsFunc(specs, func(s provider.MachineSpec) bool { return m.secret(s) != nil }) {
		secrets.needed, secrets.wanted = secrets.wanted, nil
	}
	polled := "changes are found by polling, so later"
	return []grant{
		{"kubevirt.io", "virtualmachines", []string{"create", "get", "list", "delete"}, []string{"watch"}, polled},
		{"kubevirt.io", "virtualmachineinstances", []string{"get"}, []string{"watch"}, polled},
		{"", "persistentvolumeclaims", []string{"create", "get", "list", "delete"}, nil, ""},
		secrets,
	}
}

// permissions asks Harvester what the credentials may do in the namespace.
func (p preflight) permissions(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	return check.Each(p.grants(specs), func(g grant) (provider.Finding, error) { return p.permission(ctx, g) })
}

func (p preflight) permission(ctx context.Context, g grant) (provider.Finding, error) {
	about := fmt.Sprintf("permissions on %s in namespace %s", g.name(), p.spec.Namespace)
	needed, err := p.denied(ctx, g, g.needed)
	if err != nil {
		return check.Verdict(about, apiError("", err))
	}
	wanted, err := p.denied(ctx, g, g.wanted)
	if err != nil {
		return check.Verdict(about, apiError("", err))
	}
	f := provider.Finding{Check: about, Verdict: provider.Passed}
	switch {
	case len(needed) > 0:
		f.Verdict, f.Message, f.Hint = provider.Refused, strings.Join(needed, ", ")+" is not granted", hintPermission
	case len(wanted) > 0:
		f.Verdict, f.Message, f.Hint = provider.Unknown, strings.Join(wanted, ", ")+" is not granted: "+g.otherwise, hintPermission
	}
	return f, nil
}

// denied returns those of the verbs that are not granted.
func (p preflight) denied(ctx context.Context, g grant, verbs []string) ([]string, error) {
	var missing []string
	for _, verb := range verbs {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: p.spec.Namespace, Group: g.group, Resource: g.resource, Verb: verb,
			},
		}}
		if err := p.api.Create(ctx, review); err != nil {
			return nil, err
		}
		if !review.Status.Allowed {
			missing = append(missing, verb)
		}
	}
	return missing, nil
}
