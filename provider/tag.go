// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import "github.com/butlerdotdev/butler/api/v1alpha1"

// Names of the tags that record whom an object on a platform belongs to. The first three
// are those of the request's annotations and labels.
const (
	// TagOwnerID is the id of the request.
	TagOwnerID = v1alpha1.AnnotationOwnerID
	// TagClusterID is the id of the cluster.
	TagClusterID = v1alpha1.AnnotationClusterID
	// TagCluster is the name of the cluster: it helps to find objects and decides nothing.
	TagCluster = v1alpha1.LabelCluster
	// TagMachine is the name of the machine that an object was created for.
	TagMachine = v1alpha1.Group + "/machine"
)
