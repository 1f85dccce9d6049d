// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Plane names one of the two planes that may be in charge of a cluster.
type Plane int

// The planes.
const (
	// localPlane is the plane on this machine.
	LocalPlane Plane = iota
	// clusterPlane is the cluster itself.
	ClusterPlane
)

// InCharge is the plane that is in charge of the cluster.
func (o *Operation) InCharge() Plane { return o.charge }

// Client is the client of the plane that is in charge.
func (o *Operation) Client() client.WithWatch {
	if o.charge == ClusterPlane {
		return o.ofCluster
	}
	return o.Local
}

// UseLocalPlane records that the plane on this machine is in charge.
func (o *Operation) UseLocalPlane() { o.charge, o.ofCluster = LocalPlane, nil }

// UseClusterPlane records that the cluster itself is in charge, with a client of it.
func (o *Operation) UseClusterPlane(c client.WithWatch) { o.charge, o.ofCluster = ClusterPlane, c }
