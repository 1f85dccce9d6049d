// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// partCategory is the kind of the category of a cluster.
const partCategory = "category"

// scopes returns the categories of clusters that an owner selects: by an id, which is in their
// names, else by the name of a cluster, which is in their descriptions.
func (m machines) scopes(ctx context.Context, o provider.Owner) (all []category, err error) {
	if o.ID == "" && o.ClusterID == "" {
		all, err = m.listCategories(ctx)
	} else {
		c, failed := m.category(ctx, scope(o), "")
		all, err = []category{c}, failed
	}
	if err != nil {
		return nil, ignoreGone(err)
	}
	return slices.DeleteFunc(all, func(c category) bool {
		return !strings.HasPrefix(c.key, categoryPrefix) || !holder(c).Matches(o)
	}), nil
}

// holder is the cluster of a category, as an owner.
func holder(c category) provider.Owner {
	id := strings.TrimPrefix(c.key, categoryPrefix)
	return provider.Owner{ID: id, ClusterID: id, Cluster: tag.Nutanix().ReadText(c.description).Cluster}
}

// unused reports the categories that no VM has, each as a machine of which nothing else is
// left: a deletion that was interrupted after the last VM has not removed them. To delete such
// a machine removes its category.
func unused(categories []category, all []vm) (found []provider.Machine) {
	for _, c := range categories {
		if assigned(all, c.key) {
			continue
		}
		found = append(found, provider.Machine{
			Ref: provider.MachineRef{Name: c.key, Owner: holder(c)}, State: provider.StatePartial,
			Message: "category " + c.key + " is left, and no VM has it", Parts: []provider.Part{{Kind: partCategory, Name: c.key}},
		})
	}
	return found
}
