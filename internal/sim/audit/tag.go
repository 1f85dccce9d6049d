// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package audit

// Names of the tags, on a platform that takes any name, that say whose an object is.
// They are the far side's copy of what drivers write.
const (
	TagOwnerID   = "butler.butlerlabs.dev/owner-id"
	TagClusterID = "butler.butlerlabs.dev/cluster-id"
	TagCluster   = "butler.butlerlabs.dev/cluster"
)

// Tagged is the object with what its tags say.
func (o Object) Tagged(tags map[string]string) Object {
	o.OwnerID, o.ClusterID, o.Cluster = tags[TagOwnerID], tags[TagClusterID], tags[TagCluster]
	return o
}
