// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func (s *machined) ServiceList(context.Context, *emptypb.Empty) (*machine.ServiceListResponse, error) {
	return &machine.ServiceListResponse{Messages: []*machine.ServiceList{{Services: s.node.services()}}}, nil
}

// services are those of a node in the order that a real one lists them in.
func (n *node) services() []*machine.ServiceInfo {
	n.mu.Lock()
	defer n.mu.Unlock()
	services := []*machine.ServiceInfo{
		service("apid", healthy("Started task apid")),
		service("containerd", healthy(checked)),
		service("cri", healthy(checked)),
	}
	if n.isControlPlane() {
		services = append(services, service("etcd", n.etcdHistory()...))
	}
	services = append(services,
		service("kubelet", n.kubeletHistory()...),
		service("machined", healthy(checked)))
	if n.isControlPlane() {
		services = append(services, service("trustd", healthy(checked)))
	}
	return services
}

const (
	checked    = "Health check successful"
	waitForCRI = `Waiting for service "cri" to be "up"`
)

// event is a step in a service's life.
type event struct {
	state, message string
	unknown        bool // nothing is known of its health so far
	ill            bool
}

func healthy(message string) event { return event{state: "Running", message: message} }

func waiting() event { return event{state: "Waiting", message: waitForCRI, unknown: true} }

// waitingForNetwork is what etcd and the kubelet wait for once containerd runs.
func (n *node) waitingForNetwork() []event {
	switch err := n.checkNetwork(); {
	case errors.Is(err, errTime):
		return []event{waiting(), {state: "Waiting", message: "Waiting for time sync", unknown: true}}
	case err != nil:
		return []event{waiting(), {state: "Waiting", message: "Waiting for network", unknown: true}}
	}
	return []event{waiting()}
}

// kubeletHistory knows nothing of the cluster: a kubelet without an API server is well.
func (n *node) kubeletHistory() []event {
	if !n.booted {
		return n.waitingForNetwork()
	}
	return []event{waiting(), {state: "Running", message: "Started task kubelet"}, healthy(checked)}
}

func (n *node) etcdHistory() []event {
	events := n.waitingForNetwork()
	if n.booted {
		events = append(events, event{state: "Preparing", message: "Running pre state", unknown: true})
	}
	switch etcd := n.etcd; {
	case etcd.healthy:
		return append(events, healthy(checked))
	case etcd.learner:
		return append(events, event{state: "Running", message: "Health check failed: " + learnerRefuses, ill: true})
	case etcd.running:
		return append(events, event{state: "Running", message: "Started task etcd", unknown: true})
	case etcd.reason != "":
		return append(events, event{state: "Failed", message: etcd.reason, ill: true})
	}
	return events
}

// service is described by its history, the last event being the present.
func service(id string, history ...event) *machine.ServiceInfo {
	now := timestamppb.Now()
	last := history[len(history)-1]
	events := &machine.ServiceEvents{}
	for _, e := range history {
		events.Events = append(events.Events, &machine.ServiceEvent{Msg: e.message, State: e.state, Ts: now})
	}
	return &machine.ServiceInfo{
		Id:     id,
		State:  last.state,
		Events: events,
		Health: &machine.ServiceHealth{
			Unknown: last.unknown, Healthy: !last.unknown && !last.ill, LastMessage: last.message, LastChange: now,
		},
	}
}
