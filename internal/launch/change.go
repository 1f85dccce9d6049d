// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/plan"
)

// planChange returns what the manifest changes of a cluster that exists. The plane that is in
// charge of it tries each change, and keeps none.
func (l *Launch) planChange(ctx context.Context, c client.Client, known *v1alpha1.ClusterBootstrap) (plan.Plan, error) {
	p, err := l.newPlan(plan.Continue)
	if err != nil {
		return p, err
	}
	pairs, err := operation.Pairs(ctx, c, l.Manifest)
	if err != nil {
		return p, err
	}
	for _, pair := range pairs {
		changed, err := objectOf(pair).Changes()
		if err != nil {
			return p, err
		}
		p.Changes = append(p.Changes, changed...)
	}
	switch {
	case len(p.Changes) > 0:
		p.Action = plan.Alter
	case known.Status.Phase == v1alpha1.BootstrapReady:
		p.Action = plan.Nothing
	}
	return p, nil
}

func objectOf(p operation.Pair) plan.Object {
	return plan.Object{Kind: p.Kind, Name: p.Name, Now: specOf(p.Now), Then: specOf(p.Then), Workers: workersOf(p.Now), Refused: p.Refused}
}

// workersOf returns the names of the workers of a cluster.
func workersOf(o client.Object) (names []string) {
	cb, ok := o.(*v1alpha1.ClusterBootstrap)
	if !ok {
		return nil
	}
	for _, m := range cb.Status.Machines {
		if m.Role == v1alpha1.RoleWorker {
			names = append(names, m.Name)
		}
	}
	return names
}

// specOf returns the spec of an object of a manifest; nil if there is none.
func specOf(o client.Object) any {
	switch o := o.(type) {
	case *v1alpha1.ClusterBootstrap:
		return o.Spec
	case *v1alpha1.ProviderConfig:
		return o.Spec
	case *v1alpha1.NetworkPool:
		return o.Spec
	}
	return nil
}

// confirmChange shows what changes of a cluster that exists, and asks for a confirmation if
// anything does.
func (l *Launch) confirmChange(o *operation.Operation, known *v1alpha1.ClusterBootstrap) error {
	p, err := l.planChange(o.Context(), o.Client(), known)
	if err != nil {
		return err
	}
	if err := l.matchSaved(p); err != nil || len(p.Changes) == 0 {
		return err
	}
	if err := l.show(p); err != nil {
		return err
	}
	return l.question(o, fmt.Sprintf("Make %d change(s) to %s?", len(p.Changes), p.Cluster))
}
