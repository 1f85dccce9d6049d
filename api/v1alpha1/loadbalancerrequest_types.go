// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LoadBalancerPhase is a phase of a LoadBalancerRequest.
// +kubebuilder:validation:Enum=Pending;Creating;Ready;Failed;Deleting
type LoadBalancerPhase string

// The phases of a LoadBalancerRequest.
const (
	LoadBalancerPending  LoadBalancerPhase = "Pending"
	LoadBalancerCreating LoadBalancerPhase = "Creating"
	LoadBalancerReady    LoadBalancerPhase = "Ready"
	LoadBalancerFailed   LoadBalancerPhase = "Failed"
	LoadBalancerDeleting LoadBalancerPhase = "Deleting"
)

// LoadBalancerScheme selects from where a load balancer can be reached.
// +kubebuilder:validation:Enum=internet-facing;internal
type LoadBalancerScheme string

// The schemes of load balancers.
const (
	// SchemeInternetFacing has a public endpoint.
	SchemeInternetFacing LoadBalancerScheme = "internet-facing"
	// SchemeInternal has an endpoint in the network of the machines.
	SchemeInternal LoadBalancerScheme = "internal"
)

// LoadBalancerTarget is a machine behind a load balancer.
// +kubebuilder:validation:XValidation:rule="has(self.ip) || has(self.instanceID) || has(self.instanceName)",message="a target needs ip, instanceID or instanceName"
type LoadBalancerTarget struct {
	// IP is the address of the machine.
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="ip must be an IP address"
	// +optional
	IP string `json:"ip,omitempty"`
	// InstanceID is the platform's identifier of the machine.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	InstanceID string `json:"instanceID,omitempty"`
	// InstanceName is the name of the machine on the platform.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	InstanceName string `json:"instanceName,omitempty"`
}

// LoadBalancerRequestSpec is the desired load balancer.
// +kubebuilder:validation:XValidation:rule="self.clusterName == oldSelf.clusterName",message="clusterName is immutable"
// +kubebuilder:validation:XValidation:rule="self.providerConfigRef == oldSelf.providerConfigRef",message="providerConfigRef is immutable"
// +kubebuilder:validation:XValidation:rule="self.scheme == oldSelf.scheme",message="scheme is immutable: another one has another endpoint"
// +kubebuilder:validation:XValidation:rule="!has(self.additionalPorts) || !(self.port in self.additionalPorts)",message="additionalPorts must not repeat port"
type LoadBalancerRequestSpec struct {
	// ClusterName is the cluster that the load balancer serves. It is only shown, as a column:
	// the owner id determines which cluster the load balancer belongs to.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	ClusterName string `json:"clusterName"`
	// ProviderConfigRef names the ProviderConfig with the platform's credentials.
	ProviderConfigRef ProviderReference `json:"providerConfigRef"`
	// Port that the load balancer listens on and forwards to.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:default=6443
	// +optional
	Port int32 `json:"port,omitempty"`
	// HealthCheckPort is probed on each target; default is the port.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	HealthCheckPort int32 `json:"healthCheckPort,omitempty"`
	// AdditionalPorts are further ports that the load balancer listens on. Each
	// forwards to the same port of every target, and is probed on it.
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	// +listType=set
	// +optional
	AdditionalPorts []int32 `json:"additionalPorts,omitempty"`
	// Scheme selects from where the load balancer can be reached.
	// +kubebuilder:default=internet-facing
	// +optional
	Scheme LoadBalancerScheme `json:"scheme,omitempty"`
	// AllowedCIDRs are the clients that may connect; empty means all.
	// +kubebuilder:validation:MaxItems=25
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:items:XValidation:rule="isCIDR(self)",message="allowedCIDRs must be CIDRs such as 203.0.113.0/24"
	// +listType=set
	// +optional
	AllowedCIDRs []string `json:"allowedCIDRs,omitempty"`
	// Targets are the machines behind the load balancer.
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Targets []LoadBalancerTarget `json:"targets,omitempty"`
}

// LoadBalancerRequestStatus is the observed state of a LoadBalancerRequest.
type LoadBalancerRequestStatus struct {
	// Phase of the request.
	// +optional
	Phase LoadBalancerPhase `json:"phase,omitempty"`
	// Endpoint is the address or name of the load balancer.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// ResourceID is the platform's identifier of the load balancer.
	// +optional
	ResourceID string `json:"resourceID,omitempty"`
	// RegisteredTargets counts the targets that the platform has accepted.
	// +optional
	RegisteredTargets int32 `json:"registeredTargets,omitempty"`
	// FailureReason is the machine-readable cause of a failure.
	// +optional
	FailureReason string `json:"failureReason,omitempty"`
	// FailureMessage is the human-readable cause of a failure.
	// +optional
	FailureMessage string `json:"failureMessage,omitempty"`
	// Conditions of the request.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// LastUpdated is the time of the last change of this status.
	// +optional
	LastUpdated *metav1.Time `json:"lastUpdated,omitempty"`
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// LoadBalancerRequest requests a load balancer from a cloud provider, in front of a
// control plane.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=lbr
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterName`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Targets",type=integer,JSONPath=`.status.registeredTargets`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type LoadBalancerRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   LoadBalancerRequestSpec   `json:"spec"`
	Status LoadBalancerRequestStatus `json:"status,omitempty"`
}

// LoadBalancerRequestList is a list of LoadBalancerRequests.
// +kubebuilder:object:root=true
type LoadBalancerRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []LoadBalancerRequest `json:"items"`
}
