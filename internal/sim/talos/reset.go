// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
)

func (s *machined) Reset(_ context.Context, in *machine.ResetRequest) (*machine.ResetResponse, error) {
	if len(in.GetSystemPartitionsToWipe()) > 0 || len(in.GetUserDisksToWipe()) > 0 {
		return nil, errors.New("the emulated node wipes its whole disk or nothing")
	}
	next := errShutdown
	if in.GetReboot() {
		next = errRestart
	}
	s.node.restart(errors.Join(errReset, next))
	return &machine.ResetResponse{Messages: []*machine.Reset{{ActorId: uuid.NewString()}}}, nil
}

func (s *machined) Reboot(context.Context, *machine.RebootRequest) (*machine.RebootResponse, error) {
	s.node.restart(errRestart)
	return &machine.RebootResponse{Messages: []*machine.Reboot{{ActorId: uuid.NewString()}}}, nil
}

func (s *machined) Shutdown(context.Context, *machine.ShutdownRequest) (*machine.ShutdownResponse, error) {
	s.node.restart(errShutdown)
	return &machine.ShutdownResponse{Messages: []*machine.Shutdown{{ActorId: uuid.NewString()}}}, nil
}
