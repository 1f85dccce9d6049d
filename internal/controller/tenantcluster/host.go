// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/tenant"
)

// hosts are the programs that host control planes, the first one that is installed before others,
// with the kinds of their control planes.
func hosts() []struct {
	host tenant.Host
	kind string
} {
	return []struct {
		host tenant.Host
		kind string
	}{{tenant.Steward, "StewardControlPlane"}, {tenant.Kamaji, "KamajiControlPlane"}}
}

// findHost returns the host of the cluster's control plane, or the kind that is not served. A
// cluster keeps the host that it has; a control plane cannot move.
func (s *session) findHost(ctx context.Context) (kind schema.GroupVersionKind, host tenant.Host, missing string, err error) {
	var installed []schema.GroupVersionKind
	for _, each := range hosts() {
		found, err := s.served(schema.GroupKind{Group: controlPlaneGroup, Kind: each.kind})
		has := tenant.Host(s.Status.ControlPlaneHost)
		switch {
		case err != nil:
			return found, "", "", err
		case has == each.host && found.Empty():
			return found, has, fmt.Sprintf("%s, which hosts the control plane of this cluster", each.kind), nil
		case has == each.host:
			return found, has, "", nil
		case has == "" && !found.Empty():
			installed = append(installed, found)
		}
	}
	if len(installed) == 0 {
		return kind, "", "StewardControlPlane or KamajiControlPlane", nil
	}
	kind, err = s.existing(ctx, installed)
	return kind, hostOf(kind), "", err
}

// existing returns the kind of which the cluster has a control plane: its status may be lost. A
// cluster without one gets the first kind.
func (s *session) existing(ctx context.Context, all []schema.GroupVersionKind) (schema.GroupVersionKind, error) {
	for _, kind := range all[1:] {
		found, err := s.read(ctx, kind, client.ObjectKey{Namespace: tenantNamespace(s.TenantCluster), Name: s.Name})
		if err != nil || found != nil {
			return kind, err
		}
	}
	return all[0], nil
}

func hostOf(kind schema.GroupVersionKind) tenant.Host {
	for _, each := range hosts() {
		if each.kind == kind.Kind {
			return each.host
		}
	}
	return ""
}
