// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// releaseAddresses deletes the IPAllocations of the cluster, after everything that had their
// addresses. They are not released as long as the status lists them, so that it lists none
// first.
func releaseAddresses(ctx context.Context, s *session) (*step.Obstacle, error) {
	if len(s.Status.Allocations) > 0 {
		before := s.DeepCopy()
		s.Status.Allocations, s.Status.IPAllocationRef, s.Status.LBAllocationRef = nil, nil, nil
		if err := s.Client.Status().Patch(ctx, s.DeepCopy(), client.MergeFrom(before)); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
	}
	var all v1alpha1.IPAllocationList
	if err := s.Live.List(ctx, &all); err != nil {
		return nil, err
	}
	var left []string
	for i := range all.Items {
		a := &all.Items[i]
		if !s.owns(a) {
			continue
		}
		if a.DeletionTimestamp.IsZero() {
			if err := s.delete(ctx, a); err != nil {
				return nil, err
			}
		}
		left = append(left, a.Name)
	}
	if len(left) > 0 {
		return polled("ReleasingAddresses", "the addresses of IPAllocation %s are being released", step.Listed(left)), nil
	}
	return nil, nil
}
