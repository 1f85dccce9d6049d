// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis

import (
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Cause is a root cause as one word. Those of a platform are the reasons of conditions, see
// package provider; the others are below.
type Cause string

// The causes that no condition has a reason for.
const (
	// NotRunning: no process works on the cluster.
	NotRunning Cause = "NotRunning"
	// InProgress: nothing is wrong so far.
	InProgress Cause = "InProgress"
	// Absent: the cluster does not exist.
	Absent Cause = "Absent"
	// Paused: spec.paused is set.
	Paused Cause = "Paused"
	// Fenced: no plane is in charge, because a move was interrupted.
	Fenced Cause = "Fenced"
	// SimulatorStopped: the simulated platform of a rehearsal does not run.
	SimulatorStopped Cause = "SimulatorStopped"
	// PlatformSilent: the platform does not answer.
	PlatformSilent Cause = "PlatformSilent"
	// PlatformLags: the platform does not show what was created.
	PlatformLags Cause = "PlatformLags"
	// MachineLost: a machine is gone or off.
	MachineLost Cause = "MachineLost"
	// MachineFailed: the platform cannot run a machine.
	MachineFailed Cause = "MachineFailed"
	// MachineGone: the platform accepted a machine and does not have it any more, before it ran.
	MachineGone Cause = "MachineGone"
	// DeletionPending: the platform has not deleted what it was asked to.
	DeletionPending Cause = "DeletionPending"
	// OtherPlatform: another installation answers at the endpoint.
	OtherPlatform Cause = "OtherPlatform"
	// CopyOnPlatform: the platform has a copy of a machine.
	CopyOnPlatform Cause = "CopyOnPlatform"
	// Orphans: the platform has objects of the cluster that no request owns.
	Orphans Cause = "Orphans"
	// NoRoute: machines run and cannot be reached, or reach no time server.
	NoRoute Cause = "NoRoute"
	// NodeUnreachable: one machine runs and does not answer.
	NodeUnreachable Cause = "NodeUnreachable"
	// ForeignNode: a machine belongs to another cluster.
	ForeignNode Cause = "ForeignNode"
	// ServiceDown: a service of Talos does not run.
	ServiceDown Cause = "ServiceDown"
	// APIServerDown: the Kubernetes API does not answer.
	APIServerDown Cause = "APIServerDown"
	// NodeNotReady: the kubelet of a node reports a problem.
	NodeNotReady Cause = "NodeNotReady"
	// AddressInUse: another host has an address of the cluster.
	AddressInUse Cause = "AddressInUse"
	// ChartUnavailable: a chart or manifest cannot be fetched.
	ChartUnavailable Cause = "ChartUnavailable"
	// WebhookRefuses: an admission webhook refuses objects.
	WebhookRefuses Cause = "WebhookRefuses"
	// HookFails: a hook of a chart fails.
	HookFails Cause = "HookFails"
	// ImagePull: an image cannot be pulled.
	ImagePull Cause = "ImagePull"
	// PodCrashes: a container ends again and again.
	PodCrashes Cause = "PodCrashes"
	// PodUnschedulable: no node takes a pod.
	PodUnschedulable Cause = "PodUnschedulable"
	// AddonNotReady: an addon is not ready for another reason.
	AddonNotReady Cause = "AddonNotReady"
)

// renamed are the reasons of requests that mean one of the causes above.
func renamed() map[string]Cause {
	return map[string]Cause{
		"PlatformUnavailable": PlatformSilent, "PlatformUnreachable": PlatformSilent, "PlatformConnecting": PlatformSilent,
		"VMNotVisible": PlatformLags, "NotVisible": PlatformLags, v1alpha1.ReasonVMLost: MachineLost, "VMNotRunning": MachineLost,
		"VMBroken": MachineFailed, "VMIncomplete": MachineFailed, "AttemptSpent": MachineFailed, "StartFailed": MachineFailed, "LoadBalancerNotVisible": PlatformLags,
		"PlatformChanged": OtherPlatform, "PlatformUnknown": OtherPlatform,
		"AddressInUse": AddressInUse,
		"VMCreating":   InProgress, "LoadBalancerCreating": InProgress,
	}
}

func causeOf(reason string) Cause {
	if c, known := renamed()[reason]; known {
		return c
	}
	return Cause(reason)
}

// remedies are what removes a cause, on every platform. The message of a platform's error
// ends with what to do there.
func remedies() map[Cause]string {
	return map[Cause]string{
		PlatformSilent:       "check that the platform is up and that this machine, or the cluster if it manages itself, can reach its endpoint; it is retried",
		PlatformLags:         "wait: the platform shows the machine late, and Butler does not create a second one meanwhile",
		"PlatformThrottled":  "wait: calls are repeated more slowly; if it lasts, raise the limit of calls, or stop what else calls the platform with this account",
		"PlatformConflict":   "wait until the platform has finished the other operation; it is retried",
		"CredentialsRefused": "renew the credentials of the ProviderConfig; they are tried as soon as the Secret changes",
		"PermissionDenied":   "grant the permission that the message names to the account of the ProviderConfig; it is retried within five minutes",
		"QuotaExceeded":      "raise the quota, or remove what uses it up; it is retried",
		"CapacityExhausted":  "free resources on the platform, add a host, or request less; it is retried",
		"NoAddress":          "check DHCP in the network of the machines, and that the image has the guest agent that the platform needs",
		"NameTaken":          "remove or rename the object that the message names, or choose another name; it is retried within five minutes",
		MachineFailed:        "look at the machine on the platform: its task log or console says more; start it, or delete it there and its MachineRequest here",
		MachineGone:          "look on the platform: its log says why the machine could not be created; if it is there after all, what the platform reports lags behind. Then delete the MachineRequest: see docs/concepts/machine-phases.md",
		DeletionPending:      "look at the task log of the platform, and delete the object there if it is stuck; the deletion is confirmed as soon as it is gone",
		OtherPlatform:        "correct the endpoint or the name service: what answers there is another installation of the platform; nothing is created or deleted until the right one answers",
		CopyOnPlatform:       "delete the copy on the platform if it is not wanted: it has the tags of a machine, and Butler never touches it",
		NodeUnreachable:      "look at the console of the machine: check that it boots, has this address, and that TCP 50000 is allowed from here",
		NoRoute:              "check the gateway of the machines, the routes between here and their network, and that TCP 50000 and 6443 are allowed",
		ForeignNode:          "the machine has the configuration of another cluster: delete it and its disk, or remove the other host with its address",
		ServiceDown:          "read the log of the service on the node with talosctl",
		APIServerDown:        "look at etcd and the API server of the control planes with talosctl; the kubelet starts them again",
		NodeNotReady:         "look at the kubelet of the node with talosctl",
		AddressInUse:         "remove the host that has the address, or choose another address",
		ChartUnavailable:     "check that the source can be reached from where the controllers run, or name another one with --charts; it is retried",
		WebhookRefuses:       "look at the pods behind the webhook; the objects are applied again",
		HookFails:            "look at the pods of the hook; it is retried",
		ImagePull:            "check the name of the image, that the registry can be reached from the nodes, and its login in spec.registries",
		PodCrashes:           "read the log of the pod",
		PodUnschedulable:     "add nodes or resources, or remove what keeps the pod off them",
	}
}

// remedy is what to do about a cause. For a reason that is not known here it is the end of
// the message, where errors say what to do.
func remedy(c Cause, message string) Remedy {
	if text, known := remedies()[c]; known {
		return Remedy{Do: text}
	}
	if i := strings.LastIndex(message, "; "); i >= 0 {
		return Remedy{Do: message[i+2:]}
	}
	return Remedy{Do: "correct what the message names"}
}
