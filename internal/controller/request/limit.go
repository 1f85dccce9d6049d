// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// admit claims the request, unless its team has as many as the ProviderConfig allows. One is
// admitted at a time, and claimed before the next one is counted, so that two cannot both get
// the last place. What is claimed already is looked after when the limit is lowered.
func (p *Pass[O, P, S]) admit(ctx context.Context, config *v1alpha1.ProviderConfig, record string) (minted, fresh bool, err error) {
	most := p.limit(config)
	if most == nil || p.Claim.claimed() || p.Facts.Deleting {
		return p.take(ctx, record)
	}
	p.r.admission.Lock()
	defer p.r.admission.Unlock()
	is, err := p.sameTeam(ctx)
	if err != nil {
		return false, false, err
	}
	if is >= *most {
		return false, false, &provider.Error{
			Kind: provider.Exhausted, Reason: provider.ReasonQuotaExceeded, Op: "create " + p.Claim.What,
			Err:  fmt.Errorf("limits.maxNodesPerTeam of ProviderConfig %s is %d, and %s has %d, with workers of tenant clusters", p.Request.ProviderConfig(), *most, p.team(p.Request), is),
			Hint: "delete a request, reduce the number of workers, or raise the limit",
		}
	}
	return p.take(ctx, record)
}

// limit is how many requests a team may have; nil without a limit. The machines of a
// management cluster are not those of a team.
func (p *Pass[O, P, S]) limit(config *v1alpha1.ProviderConfig) *int32 {
	limited := p.r.Kind.Extra.Limit
	if limited == nil || config == nil || config.Spec.Limits == nil {
		return nil
	}
	if _, ok := BootstrapOf(p.Request); ok {
		return nil
	}
	return limited(*config.Spec.Limits)
}

// sameTeam counts the claimed requests of the team on the platform and the workers of its tenant
// clusters, as the API server has them. Tenant clusters are admitted by another process: of a
// request and a cluster that come at the same moment, both may get the last place.
func (p *Pass[O, P, S]) sameTeam(ctx context.Context) (n int32, err error) {
	all := p.r.Kind.NewList()
	if err := p.r.Fence.Live.List(ctx, all); err != nil {
		return 0, err
	}
	err = meta.EachListItem(all, func(o runtime.Object) error {
		other := o.(O)
		_, managed := BootstrapOf(other)
		if !managed && other.GetUID() != p.Request.GetUID() && claimant(other) == string(other.GetUID()) &&
			other.ProviderConfig() == p.Request.ProviderConfig() && p.team(other) == p.team(p.Request) {
			n++
		}
		return nil
	})
	if err != nil {
		return n, err
	}
	workers, err := p.workers(ctx)
	return n + workers, err
}

// workers counts those of the team's tenant clusters on the platform. A plane that does not know
// the kind has none.
func (p *Pass[O, P, S]) workers(ctx context.Context) (n int32, err error) {
	var all v1alpha1.TenantClusterList
	if err := p.r.Fence.Live.List(ctx, &all); err != nil {
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return 0, nil
		}
		return 0, err
	}
	for i := range all.Items {
		n += all.Items[i].NodesFor(p.Request.ProviderConfig(), p.Request.GetLabels()[v1alpha1.LabelTeam])
	}
	return n, nil
}

// team names the team of a request: those without one are those of one team.
func (p *Pass[O, P, S]) team(o O) string {
	if name := o.GetLabels()[v1alpha1.LabelTeam]; name != "" {
		return "team " + name
	}
	return "the team of requests without a team"
}
