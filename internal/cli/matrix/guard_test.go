// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package matrix

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// guard looks, until the test ends, whether a worker is on the platform without its tenant cluster.
func (h *host) guard() {
	ctx, outer, dir := h.Context(), h.T, h.state("sim")
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(300 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				h.expectTenantOfWorkers(ctx, outer, dir)
			}
		}
	})
	h.Cleanup(ended.Wait)
}

// expectTenantOfWorkers asks for the tenant cluster before and after the workers: one that is
// created or deleted meanwhile proves nothing.
func (h *host) expectTenantOfWorkers(ctx context.Context, t *testing.T, dir string) {
	t.Helper()
	if !h.lacksTenant(ctx) {
		return
	}
	all, err := sim.Left(ctx, dir)
	if err != nil || !h.lacksTenant(ctx) {
		return // the next round asks again
	}
	for _, o := range all {
		if o.Resource == fault.Machine && strings.HasPrefix(o.Name, tenantName+"-") {
			t.Errorf("worker %s is on the platform, and its tenant cluster is not there", o.Name)
		}
	}
}

func (h *host) lacksTenant(ctx context.Context) bool {
	err := h.api.Get(ctx, client.ObjectKey{Namespace: v1alpha1.DefaultTenantsNamespace, Name: tenantName}, &v1alpha1.TenantCluster{})
	return apierrors.IsNotFound(err)
}
