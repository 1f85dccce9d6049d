// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"

	"github.com/butlerdotdev/butler/provider"
)

// offers lists clusters, subnets, images and storage containers. What may not be read is
// left out.
func (m machines) offers(ctx context.Context) (map[string][]provider.Offer, error) {
	out := map[string][]provider.Offer{}
	add := func(field, id, note string) { out[field] = append(out[field], provider.Offer{Value: id, Note: note}) }
	if all, err := m.listClusters(ctx); err == nil {
		for _, c := range all {
			if !c.central {
				add("spec.nutanix.clusterUUID", c.uuid, c.name)
			}
		}
	}
	if all, err := m.listSubnets(ctx, ""); err == nil {
		for _, s := range all {
			add("spec.nutanix.subnetUUID", s.uuid, s.name)
		}
	}
	if all, err := m.listImages(ctx, ""); err == nil {
		for _, i := range all {
			add("spec.nutanix.imageUUID", i.uuid, i.name)
		}
	}
	if all, err := m.listContainers(ctx); err == nil {
		for _, c := range all {
			add("spec.nutanix.storageContainerUUID", c.uuid, c.name)
		}
	}
	return out, nil
}
