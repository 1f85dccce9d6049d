// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package diagnosis finds the root cause of what a cluster waits for. It is a pure function
// of facts; package gather collects those.
package diagnosis

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Facts are all that a diagnosis is made from. They have no credentials and no user data.
type Facts struct {
	Cluster   string    `json:"cluster"`
	Rehearsal bool      `json:"rehearsal,omitempty"`
	Time      time.Time `json:"time"`
	Commands  Commands  `json:"commands"`
	Plane     Plane     `json:"plane"`
	// Bootstrap is the ClusterBootstrap; nil if there is none.
	Bootstrap *Object                           `json:"bootstrap,omitempty"`
	Machines  []v1alpha1.BootstrapMachineStatus `json:"machines,omitempty"`
	Addons    []v1alpha1.BootstrapAddonStatus   `json:"addons,omitempty"`
	Platform  *Platform                         `json:"platform,omitempty"`
	// Requests are MachineRequests, LoadBalancerRequests, IPAllocations and NetworkPools.
	Requests []Object `json:"requests,omitempty"`
	// Events are warnings about objects of the plane and pods of the cluster.
	Events []Event `json:"events,omitempty"`
	Nodes  []Node  `json:"nodes,omitempty"`
	// API is the Kubernetes API of the cluster.
	API API `json:"api,omitzero"`
	// Contested is the common address of the control planes if another host has it, too.
	Contested string `json:"contested,omitempty"`
	// Pods are those of the cluster that are not ready.
	Pods    []Pod    `json:"pods,omitempty"`
	Tenants []Tenant `json:"tenants,omitempty"`
}

// Commands are command lines for this cluster.
type Commands struct {
	Bootstrap string `json:"bootstrap"`
	Status    string `json:"status"`
	Destroy   string `json:"destroy"`
}

// Plane is the plane that is in charge of a cluster.
type Plane struct {
	// SelfHosted says that the cluster manages itself.
	SelfHosted bool `json:"selfHosted,omitempty"`
	// Holder is the command that runs controllers on this machine; empty if none does.
	Holder string `json:"holder,omitempty"`
	// Silent is why the plane in charge does not answer.
	Silent string `json:"silent,omitempty"`
	// Fenced is why this plane is not in charge, although no other is known.
	Fenced string `json:"fenced,omitempty"`
	// Stopped says that an interrupted move has stopped the controllers of the cluster.
	Stopped bool `json:"stopped,omitempty"`
	// SimulatorStopped says that the simulated platform of a rehearsal does not run.
	SimulatorStopped bool `json:"simulatorStopped,omitempty"`
}

// Object is an object of the plane.
type Object struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Namespace is set where the name alone does not identify the object.
	Namespace  string             `json:"namespace,omitempty"`
	Phase      string             `json:"phase,omitempty"`
	Address    string             `json:"address,omitempty"`
	Paused     bool               `json:"paused,omitempty"`
	Deleting   bool               `json:"deleting,omitempty"`
	Changed    *metav1.Time       `json:"changed,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Platform is the ProviderConfig of a cluster.
type Platform struct {
	Object   `json:",inline"`
	Provider v1alpha1.ProviderType `json:"provider"`
	Endpoint string                `json:"endpoint,omitempty"`
	// Secret is the namespace and name of that with the credentials.
	Secret string `json:"secret,omitempty"`
	// Orphans and Copies are names on the platform that no request owns.
	Orphans []string     `json:"orphans,omitempty"`
	Copies  []string     `json:"copies,omitempty"`
	Expires *metav1.Time `json:"expires,omitempty"`
}

// Event is a warning about an object, such as MachineRequest/dev-cp-0.
type Event struct {
	Object string      `json:"object"`
	Reason string      `json:"reason"`
	Note   string      `json:"note"`
	Time   metav1.Time `json:"time"`
}

// Node is what a machine answers itself, and what Kubernetes knows of it.
type Node struct {
	Name    string `json:"name"`
	Address string `json:"address,omitempty"`
	// Talos is the state of the Talos API; empty if it was not asked.
	Talos string `json:"talos,omitempty"`
	// Silent says that it does not answer, Foreign that it is one of another cluster.
	Silent  bool `json:"silent,omitempty"`
	Foreign bool `json:"foreign,omitempty"`
	// Error is why the Talos API does not answer as expected.
	Error string `json:"error,omitempty"`
	// Services are those that are not up.
	Services []Service `json:"services,omitempty"`
	// NotReady is why the Kubernetes node is not Ready; empty if it is, or is not known.
	NotReady string `json:"notReady,omitempty"`
}

// Service is one of Talos that is not up.
type Service struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
}

// API is the Kubernetes API of a cluster.
type API struct {
	// Asked says that there are credentials for it.
	Asked bool `json:"asked,omitempty"`
	// Error is why it does not answer.
	Error string `json:"error,omitempty"`
}

// Pod is a pod that is not ready.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Node      string `json:"node,omitempty"`
	// Reason is one word, such as ErrImagePull or CrashLoopBackOff.
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// Tenant is a TenantCluster and the objects of Cluster API that are not ready.
type Tenant struct {
	Object  `json:",inline"`
	Objects []Object `json:"objects,omitempty"`
}

// Ready returns the condition Ready; it is empty if there is none.
func (o Object) Ready() metav1.Condition { return o.condition(v1alpha1.ConditionReady) }

func (o Object) condition(kind string) metav1.Condition {
	for _, c := range o.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

// ID is the kind and the name, as users write them.
func (o Object) ID() string {
	if o.Namespace != "" {
		return o.Kind + "/" + o.Namespace + "/" + o.Name
	}
	return o.Kind + "/" + o.Name
}

// isReady reports whether an object says that it is.
func (o Object) isReady() bool { return o.Ready().Status == metav1.ConditionTrue }
