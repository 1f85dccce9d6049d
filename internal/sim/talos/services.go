// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func (s *machined) ServiceList(context.Context, *emptypb.Empty) (*machine.ServiceListResponse, error) {
	return &machine.ServiceListResponse{Messages: []*machine.ServiceList{{Services: s.node.services()}}}, nil
}

func (n *node) services() []*machine.ServiceInfo {
	n.mu.Lock()
	defer n.mu.Unlock()
	services := []*machine.ServiceInfo{
		service("apid", true, "Started task apid"),
		service("containerd", true, "Health check successful"),
		service("cri", true, "Health check successful"),
	}
	if n.isControlPlane() {
		services = append(services, service("etcd", n.etcdUp, n.etcdEvent()))
	}
	services = append(services,
		service("kubelet", n.kubeletUp, kubeletEvent(n.kubeletUp)),
		service("machined", true, "Health check successful"))
	if n.isControlPlane() {
		services = append(services, service("trustd", true, "Health check successful"))
	}
	return services
}

func (n *node) etcdEvent() string {
	switch {
	case n.etcdUp:
		return "Health check successful"
	case n.etcdReason != "":
		return n.etcdReason
	}
	return "Running pre state"
}

func kubeletEvent(up bool) string {
	if up {
		return "Health check successful"
	}
	return "Waiting for the API server"
}

func service(id string, up bool, event string) *machine.ServiceInfo {
	state := "Preparing"
	if up {
		state = "Running"
	}
	now := timestamppb.Now()
	return &machine.ServiceInfo{
		Id:     id,
		State:  state,
		Events: &machine.ServiceEvents{Events: []*machine.ServiceEvent{{Msg: event, State: state, Ts: now}}},
		Health: &machine.ServiceHealth{Unknown: !up, Healthy: up, LastMessage: event, LastChange: now},
	}
}
