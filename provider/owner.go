// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import "github.com/butlerdotdev/butler/provider/tag"

// Owner identifies whom a platform object belongs to. Both ids are UUIDs that
// were minted once and move with the request.
type Owner struct {
	// ID is the request's.
	ID string
	// ClusterID is the cluster's; empty for a machine outside any cluster.
	ClusterID string
	// Cluster is the cluster's name, for people and for a search without the id: several
	// clusters may share it. It is on what the platform holds, and List selects by it;
	// what belongs to whom is decided by the ids alone.
	Cluster string
}

// Matches reports whether the owner has every field that is set in wanted.
func (o Owner) Matches(wanted Owner) bool {
	return (wanted.ID == "" || wanted.ID == o.ID) && (wanted.ClusterID == "" || wanted.ClusterID == o.ClusterID) &&
		(wanted.Cluster == "" || wanted.Cluster == o.Cluster)
}

// Tags are those of all objects that are created for the owner's machine, or load
// balancer, of this name.
func (o Owner) Tags(name string) tag.Set {
	return tag.Set{OwnerID: o.ID, ClusterID: o.ClusterID, Cluster: o.Cluster, Machine: name}
}

// OwnerOf returns the owner that tags record.
func OwnerOf(s tag.Set) Owner {
	return Owner{ID: s.OwnerID, ClusterID: s.ClusterID, Cluster: s.Cluster}
}
