// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func (s *machined) Reset(_ context.Context, in *machine.ResetRequest) (*machine.ResetResponse, error) {
	if len(in.GetSystemPartitionsToWipe()) > 0 || len(in.GetUserDisksToWipe()) > 0 {
		return nil, errors.New("the emulated node wipes its whole disk or nothing")
	}
	next := errShutdown
	if in.GetReboot() {
		next = errRestart
	}
	if in.GetGraceful() {
		if err := s.node.leaveEtcd(); err != nil {
			return nil, status.Errorf(codes.Internal, "leave etcd: %s", err)
		}
	}
	s.node.restart(errors.Join(errReset, next))
	return &machine.ResetResponse{Messages: []*machine.Reset{{ActorId: uuid.NewString()}}}, nil
}

// leaveEtcd takes the node off the members, as long as others stay.
func (n *node) leaveEtcd() error {
	data, ok := n.disk.etcd()
	if !ok || len(n.cluster.list()) < 2 {
		return nil
	}
	_, err := n.cluster.remove(data.Member)
	return err
}

func (s *machined) Reboot(context.Context, *machine.RebootRequest) (*machine.RebootResponse, error) {
	s.node.restart(errRestart)
	return &machine.RebootResponse{Messages: []*machine.Reboot{{ActorId: uuid.NewString()}}}, nil
}

func (s *machined) Shutdown(context.Context, *machine.ShutdownRequest) (*machine.ShutdownResponse, error) {
	s.node.restart(errShutdown)
	return &machine.ShutdownResponse{Messages: []*machine.Shutdown{{ActorId: uuid.NewString()}}}, nil
}
