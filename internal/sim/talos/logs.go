// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// logChunk is how much of a log one message has.
const logChunk = 1024

// Logs streams the log of a service. A service has none before it was started, and services
// that a node does not have never do. Emulated services have a line for each step of their
// life, without its time.
func (s *machined) Logs(in *machine.LogsRequest, out grpc.ServerStreamingServer[common.Data]) error {
	switch {
	case in.GetNamespace() != constants.SystemContainerdNamespace && in.GetId() != "kubelet":
		return status.Error(codes.Unimplemented, "the emulated node has no logs of containers")
	case in.GetFollow():
		return status.Error(codes.Unimplemented, "the emulated node does not follow logs")
	}
	lines := logLines(s.node.services(), in.GetId())
	if len(lines) == 0 {
		return fmt.Errorf("log %q was not registered", in.GetId())
	}
	if most := int(in.GetTailLines()); most >= 0 {
		lines = lines[max(0, len(lines)-most):]
	}
	for chunk := range slices.Chunk([]byte(strings.Join(lines, "")), logChunk) {
		if err := out.Send(&common.Data{Bytes: chunk}); err != nil {
			return err
		}
	}
	return nil
}

// logLines is the log of a service. That of machined has the steps of all services.
func logLines(services []*machine.ServiceInfo, id string) (lines []string) {
	for _, info := range services {
		for _, e := range info.GetEvents().GetEvents() {
			switch {
			case id == "machined":
				lines = append(lines, fmt.Sprintf("[talos] service[%s](%s): %s\n", info.GetId(), e.GetState(), e.GetMsg()))
			case id == info.GetId() && e.GetState() != "Waiting" && e.GetState() != "Preparing":
				lines = append(lines, e.GetMsg()+"\n")
			}
		}
	}
	return lines
}
