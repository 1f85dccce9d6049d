// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Labels that this project sets on its objects and on those that it creates on a platform.
const (
	LabelCluster          = Group + "/cluster"
	LabelRole             = Group + "/role"
	LabelClusterBootstrap = Group + "/cluster-bootstrap"
	LabelManagedBy        = Group + "/managed-by"
	// LabelTeam is the team that a request is for; a ProviderConfig of scope team
	// serves no others.
	LabelTeam = Group + "/team"
	// LabelTenant is the tenant cluster that an object of its namespace belongs to.
	LabelTenant = Group + "/tenant"
	// LabelSourceNamespace and LabelSourceName name the TenantCluster that a tenant namespace
	// belongs to.
	LabelSourceNamespace = Group + "/source-namespace"
	LabelSourceName      = Group + "/source-name"
)

// Annotations that carry an identity. Each is a UUID minted once; it never
// changes, and it moves with the object, unlike metadata.uid.
const (
	// AnnotationOwnerID is on a request; the objects of the request on the platform
	// are tagged with it.
	AnnotationOwnerID = Group + "/owner-id"
	// AnnotationClusterID is on a ClusterBootstrap and on all its requests, and on a
	// TenantCluster, its namespace and the machines of its workers.
	AnnotationClusterID = Group + "/cluster-id"
)

// AnnotationPlatform on a request is the identity of its platform. Controllers do not
// act on the request over a connection to another platform. It moves with the object;
// removing it accepts the current platform.
const AnnotationPlatform = Group + "/platform"

// AnnotationClaimedBy is the metadata.uid of the object that the id was claimed
// for: the owner id of a request, the cluster id of a ClusterBootstrap. A copy has
// another UID, and may not act on what the platform holds. Without the annotation
// the id is not claimed yet.
const AnnotationClaimedBy = Group + "/claimed-by"

// AnnotationAdopt on a MachineRequest that another program has served names the
// machine that it had: the request adopts it.
const AnnotationAdopt = Group + "/adopt"

// Annotations that record which plane is in charge of a cluster. All are on its
// ClusterBootstrap; only a pivot changes them.
const (
	// AnnotationPlane is the kind of plane that the ClusterBootstrap is on: PlaneLocal
	// or PlaneSelf. Without it the plane is another cluster, which does not pivot.
	AnnotationPlane = Group + "/plane"
	// AnnotationEpoch counts the moves of the plane. Of two planes that hold the
	// cluster, the one with the higher epoch may be in charge, the other never.
	AnnotationEpoch = Group + "/plane-epoch"
	// AnnotationFenced says why this plane is not in charge of the cluster. No
	// controller acts on a ClusterBootstrap that has such a reason, nor on its
	// requests; an empty one is none.
	AnnotationFenced = Group + "/fenced"
)

// Fenced reports whether another plane is in charge of the ClusterBootstrap. Nothing
// of the cluster may be changed from this plane then.
func Fenced(cb metav1.Object) bool { return cb.GetAnnotations()[AnnotationFenced] != "" }

// AnnotationPlannedRange is on an IPAllocation: the addresses that it is about to claim, or has.
const AnnotationPlannedRange = Group + "/planned-range"

// AnnotationReleasingRange is on an IPAllocation: addresses that it had, or was about to claim,
// and whose release is not complete.
const AnnotationReleasingRange = Group + "/releasing-range"

// AnnotationReplace on a ClusterBootstrap names one of its machines that is lost
// and must be recreated. It may be a control plane.
const AnnotationReplace = Group + "/replace"

// Annotations of a replacement that is under way.
const (
	// AnnotationReplacing on a ClusterBootstrap is the name of the machine that is
	// being replaced, followed by a space and the mark of this replacement.
	AnnotationReplacing = Group + "/replacing"
	// AnnotationReplacement on a MachineRequest repeats it: this is the new one.
	AnnotationReplacement = Group + "/replacement"
)

// The kinds of planes.
const (
	// PlaneLocal is a plane on the operator's machine, from which a cluster with
	// several control planes takes over its own management.
	PlaneLocal = "local"
	// PlaneSelf is the cluster itself.
	PlaneSelf = "self"
)

// Finalizers of the kinds that are not bound to a provider.
const (
	FinalizerClusterBootstrap = "clusterbootstrap." + Group + "/finalizer"
	FinalizerProviderConfig   = Group + "/providerconfig"
	FinalizerNetworkPool      = Group + "/networkpool"
	FinalizerIPAllocation     = Group + "/ipallocation"
	FinalizerTenantCluster    = Group + "/tenantcluster"
	FinalizerTeam             = Group + "/team"
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
