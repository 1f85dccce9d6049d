// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
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
	PodCIDR        netip.Prefix // pods get addresses of it
}

func (n Node) object() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.Name,
			Labels: map[string]string{
				corev1.LabelHostname:   n.Name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: runtime.GOARCH,
			},
		},
	}
}

func (n Node) status(ready bool) corev1.NodeStatus {
	resources := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(n.CPU), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(int64(n.MemoryMB)<<20, resource.BinarySI),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}
	return corev1.NodeStatus{
		Capacity:    resources,
		Allocatable: resources,
		Conditions:  conditions(ready),
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

func conditions(ready bool) []corev1.NodeCondition {
	now := metav1.Now()
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: kind, Status: status, Reason: reason, Message: message,
			LastHeartbeatTime: now, LastTransitionTime: now,
		}
	}
	verdict := condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status")
	if !ready {
		verdict = condition(corev1.NodeReady, corev1.ConditionFalse, "KubeletNotReady", "the container network is not ready yet")
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		verdict,
	}
}

// readiness is what the API server knows of it; nothing, if nobody reported, or not
// for too long.
func readiness(n *corev1.Node) (ready, known bool) {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, c.Status != corev1.ConditionUnknown
		}
	}
	return false, false
}

// podAddress spreads pods over the range by their UID; the stand-in routes no
// packets, so that a rare clash hurts nobody.
func (n Node) podAddress(pod *corev1.Pod) string {
	if pod.Spec.HostNetwork || !n.PodCIDR.Addr().Is4() {
		return n.Address.String()
	}
	var sum uint32
	for _, b := range []byte(pod.UID) {
		sum = sum*31 + uint32(b)
	}
	free := uint32(1)<<(32-n.PodCIDR.Bits()) - 2
	base := n.PodCIDR.Masked().Addr().As4()
	offset := uint32(base[0])<<24 | uint32(base[1])<<16 | uint32(base[2])<<8 | uint32(base[3])
	offset += 1 + sum%max(free, 1)
	return fmt.Sprintf("%d.%d.%d.%d", byte(offset>>24), byte(offset>>16), byte(offset>>8), byte(offset))
}
