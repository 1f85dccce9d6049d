// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// admitted reports whether the cluster exists: it was allowed once, and is looked after
// whatever is refused by now.
func (s *session) admitted() bool { return s.Status.TenantNamespace != "" }

// withhold reports a refusal, and continues the walk with no more than the cluster holds.
func (s *session) withhold(condition string, o *step.Obstacle, held *v1alpha1.QuotaReservation) {
	s.postpone(condition, o)
	if held != nil && held.Nodes > 0 {
		limit(&s.Spec.Workers, *held)
	}
}

// limit lowers number and size of workers to what a reservation has.
func limit(w *v1alpha1.TenantWorkersSpec, held v1alpha1.QuotaReservation) {
	w.Replicas = min(w.Replicas, held.Nodes)
	if w.Autoscaled() {
		w.MaxReplicas = min(w.MaxReplicas, held.Nodes)
		w.MinReplicas = min(w.MinReplicas, w.MaxReplicas)
	}
	t, nodes := &w.MachineTemplate, int64(held.Nodes)
	t.CPU = min(t.CPU, int32(held.CPU.Value()/nodes))
	t.Memory = smaller(t.Memory, held.Memory, nodes)
	t.DiskSize = smaller(t.DiskSize, held.Storage, nodes)
}

// smaller is a size, or the share of one of several nodes if that is smaller.
func smaller(size, sum resource.Quantity, nodes int64) resource.Quantity {
	if share := resource.NewQuantity(sum.Value()/nodes, sum.Format); share.Cmp(size) < 0 {
		return *share
	}
	return size
}
