// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Labels that this project sets on its objects and on what it makes on a platform.
const (
	LabelCluster          = Group + "/cluster"
	LabelRole             = Group + "/role"
	LabelClusterBootstrap = Group + "/cluster-bootstrap"
	LabelProviderConfig   = Group + "/provider-config"
	LabelManagedBy        = Group + "/managed-by"
)

// Annotations that carry an identity. Each is a UUID minted once; it never
// changes, and it moves with the object, unlike metadata.uid.
const (
	// AnnotationOwnerID stands on a request; what the platform holds for the
	// request is tagged with it.
	AnnotationOwnerID = Group + "/owner-id"
	// AnnotationClusterID stands on a ClusterBootstrap and on all its requests.
	AnnotationClusterID = Group + "/cluster-id"
)

// Finalizers of the kinds that are not bound to a provider.
const (
	FinalizerClusterBootstrap = "clusterbootstrap." + Group + "/finalizer"
	FinalizerProviderConfig   = Group + "/providerconfig"
)

// FinalizerMachineRequest is the finalizer that the provider's controller keeps
// on a MachineRequest while a machine may exist.
func FinalizerMachineRequest(p ProviderType) string {
	return "machinerequest." + Group + "/" + string(p) + "-finalizer"
}

// FinalizerLoadBalancerRequest is the finalizer that the provider's controller
// keeps on a LoadBalancerRequest while a load balancer may exist.
func FinalizerLoadBalancerRequest(p ProviderType) string {
	return "loadbalancerrequest." + Group + "/" + string(p) + "-finalizer"
}

// ConditionReady is the condition that every kind of this package has.
const ConditionReady = "Ready"
