// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// AddressRange is a range of addresses, both ends included. The schema compares
// IPv4 addresses; CEL has no order of IPv6 addresses, so those are compared by
// NetworkSpec.Validate.
// +kubebuilder:validation:XValidation:rule="!isIP(self.start) || !isIP(self.end) || ip(self.start).family() == ip(self.end).family()",message="start and end must both be IPv4 or both be IPv6"
// +kubebuilder:validation:XValidation:rule="![self.start, self.end].all(a, isIP(a) && ip(a).family() == 4) || [self.start, self.end].map(a, a.split('.')).map(o, int(o[0]) * 16777216 + int(o[1]) * 65536 + int(o[2]) * 256 + int(o[3])).isSorted()",message="start must not lie after end"
type AddressRange struct {
	// Start is the first address.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="start must be an IP address"
	Start string `json:"start"`
	// End is the last address.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="end must be an IP address"
	End string `json:"end"`
}

// NodeAccess is how the controllers of a management cluster reach its nodes.
// +kubebuilder:validation:Enum=LoadBalancer;Direct
type NodeAccess string

// The ways to nodes in a cloud.
const (
	// NodeAccessLoadBalancer goes through the load balancer of the control planes.
	NodeAccessLoadBalancer NodeAccess = "LoadBalancer"
	// NodeAccessDirect goes to the private addresses, to which there must be a route.
	NodeAccessDirect NodeAccess = "Direct"
)

// ControlPlaneLoadBalancerSpec is the load balancer that a cloud has in front of the
// control planes.
type ControlPlaneLoadBalancerSpec struct {
	// Scheme selects from where the load balancer can be reached.
	// +kubebuilder:default=internet-facing
	// +optional
	Scheme LoadBalancerScheme `json:"scheme,omitempty"`
	// AllowedCIDRs are the clients that may connect, the nodes included; empty means all.
	// +kubebuilder:validation:MaxItems=25
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:items:XValidation:rule="isCIDR(self)",message="allowedCIDRs must be CIDRs such as 203.0.113.0/24"
	// +listType=set
	// +optional
	AllowedCIDRs []string `json:"allowedCIDRs,omitempty"`
}

// NetworkSpec is the network of a management cluster.
// +kubebuilder:validation:XValidation:rule="!has(self.vip) || !has(self.loadBalancerPool) || ![self.loadBalancerPool.start, self.vip, self.loadBalancerPool.end].all(a, isIP(a) && ip(a).family() == 4) || ![self.loadBalancerPool.start, self.vip, self.loadBalancerPool.end].map(a, a.split('.')).map(o, int(o[0]) * 16777216 + int(o[1]) * 65536 + int(o[2]) * 256 + int(o[3])).isSorted()",message="vip must lie outside loadBalancerPool"
// +kubebuilder:validation:XValidation:rule="!has(self.vip) || !isIP(self.vip) || ![self.podCIDR, self.serviceCIDR].exists(c, isCIDR(c) && cidr(c).containsIP(self.vip))",message="vip must lie outside podCIDR and serviceCIDR"
// +kubebuilder:validation:XValidation:rule="!isCIDR(self.podCIDR) || !isCIDR(self.serviceCIDR) || !(cidr(self.podCIDR).containsCIDR(self.serviceCIDR) || cidr(self.serviceCIDR).containsCIDR(self.podCIDR))",message="podCIDR and serviceCIDR must not overlap"
// +kubebuilder:validation:XValidation:rule="(has(self.loadBalancer) && self.loadBalancer.scheme == 'internal') == (has(oldSelf.loadBalancer) && oldSelf.loadBalancer.scheme == 'internal')",message="network.loadBalancer.scheme is immutable"
type NetworkSpec struct {
	// PodCIDR is the range of pod addresses.
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="podCIDR must be a CIDR such as 10.244.0.0/16"
	PodCIDR string `json:"podCIDR"`
	// ServiceCIDR is the range of service addresses.
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="serviceCIDR must be a CIDR such as 10.96.0.0/12"
	ServiceCIDR string `json:"serviceCIDR"`
	// VIP is the control plane's endpoint, an address or a name. On-prem it
	// floats between the control planes, and comes from a NetworkPool if it is left out and
	// the network of the ProviderConfig is of mode ipam; in a cloud it comes from the load
	// balancer.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="size(self) == 0 || isIP(self) || (self.matches('^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?([.][a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)*$') && !self.matches('(^|[.])[0-9]+$'))",message="vip must be an IP address or a DNS name"
	// +kubebuilder:validation:XValidation:rule="!isIP(self) || ip(self).isGlobalUnicast()",message="vip must not be a loopback, link-local, multicast or unspecified address"
	// +optional
	VIP string `json:"vip,omitempty"`
	// VIPInterface is the network interface of the VIP.
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:Pattern=`^[^\s/]*$`
	// +optional
	VIPInterface string `json:"vipInterface,omitempty"`
	// LoadBalancerPool is the range that Services of type LoadBalancer get. It comes from a
	// NetworkPool if it is left out and the network of the ProviderConfig is of mode ipam.
	// +optional
	LoadBalancerPool *AddressRange `json:"loadBalancerPool,omitempty"`
	// LoadBalancer is the one in front of the control planes, in a cloud.
	// +optional
	LoadBalancer *ControlPlaneLoadBalancerSpec `json:"loadBalancer,omitempty"`
	// NodeAccess is how nodes are reached, in a cloud, by a controller that does not run
	// on the cluster; default is LoadBalancer. Direct requires a route to the network of the nodes.
	// +optional
	NodeAccess NodeAccess `json:"nodeAccess,omitempty"`
}
