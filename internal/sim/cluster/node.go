// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"net/netip"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Node is what the stand-in kubelet reports of its machine.
type Node struct {
	Name           string
	Address        netip.Addr
	UUID           string
	CPU            int
	MemoryMB       int
	KubeletVersion string // with leading v
	OSImage        string
	ProviderID     string
	// ExternalCloud says that a cloud controller manager has to initialise the node.
	ExternalCloud bool
}

func (n Node) object() *corev1.Node {
	node := n.bare()
	if n.ExternalCloud {
		node.Annotations = map[string]string{providedNodeIP: n.Address.String()}
		node.Spec.Taints = []corev1.Taint{{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule}}
	}
	return node
}

func (n Node) bare() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.Name,
			Labels: map[string]string{
				corev1.LabelHostname:   n.Name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: runtime.GOARCH,
			},
		},
		Spec: corev1.NodeSpec{ProviderID: n.ProviderID},
	}
}

// status says that the node is Ready, unless there is an obstacle.
func (n Node) status(obstacle string) corev1.NodeStatus {
	resources := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(n.CPU), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(int64(n.MemoryMB)<<20, resource.BinarySI),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}
	return corev1.NodeStatus{
		Capacity:    resources,
		Allocatable: resources,
		Conditions:  conditions(obstacle),
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: n.Address.String()},
			{Type: corev1.NodeHostName, Address: n.Name},
		},
		NodeInfo: corev1.NodeSystemInfo{
			MachineID:               n.UUID,
			SystemUUID:              n.UUID,
			OSImage:                 n.OSImage,
			OperatingSystem:         "linux",
			Architecture:            runtime.GOARCH,
			KubeletVersion:          n.KubeletVersion,
			KernelVersion:           "emulated",
			ContainerRuntimeVersion: "emulated://0",
		},
	}
}

func conditions(obstacle string) []corev1.NodeCondition {
	now := metav1.Now()
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: kind, Status: status, Reason: reason, Message: message,
			LastHeartbeatTime: now, LastTransitionTime: now,
		}
	}
	verdict := condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status")
	if obstacle != "" {
		verdict = condition(corev1.NodeReady, corev1.ConditionFalse, "KubeletNotReady", obstacle)
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		verdict,
	}
}

// readiness is what the API server knows of it; nothing, if it was not reported, or not
// for too long.
func readiness(n *corev1.Node) (ready, known bool) {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, c.Status != corev1.ConditionUnknown
		}
	}
	return false, false
}
