// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package audit

import "github.com/butlerdotdev/butler/provider/tag"

// Names of the tags on a platform that accepts any name.
const (
	TagOwnerID   = tag.OwnerID
	TagClusterID = tag.ClusterID
	TagCluster   = tag.Cluster
)

// Tagged is the object with what its tags say, in the style of the platform.
func (o Object) Tagged(s tag.Style, tags map[string]string) Object {
	is := s.Read(tags)
	o.OwnerID, o.ClusterID, o.Cluster = is.OwnerID, is.ClusterID, is.Cluster
	return o
}
