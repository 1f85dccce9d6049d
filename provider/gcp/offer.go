// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"slices"

	"github.com/butlerdotdev/butler/provider"
)

// offers lists the subnetworks of the region and their networks.
func (m machines) offers(ctx context.Context) (map[string][]provider.Offer, error) {
	out := map[string][]provider.Offer{}
	all, err := m.subnetsOf(ctx, "")
	if err != nil {
		return nil, apiError("list what "+m.config+" has", err)
	}
	for _, s := range all {
		network := provider.Offer{Value: lastOf(s.GetNetwork())}
		if !slices.Contains(out["spec.gcp.network"], network) {
			out["spec.gcp.network"] = append(out["spec.gcp.network"], network)
		}
		out["spec.gcp.subnetwork"] = append(out["spec.gcp.subnetwork"], provider.Offer{Value: s.GetName(), Note: network.Value + ", " + s.GetIpCidrRange()})
	}
	return out, nil
}
