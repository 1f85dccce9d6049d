// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"strings"
	"testing"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

// forTargets is a call for nodes: key is node or nodes.
func forTargets(t *testing.T, key string, targets ...string) context.Context {
	t.Helper()
	ctx := t.Context()
	for _, target := range targets {
		ctx = metadata.AppendToOutgoingContext(ctx, key, target)
	}
	return ctx
}

func TestControlPlanePassesCallsOn(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	var at []string
	for _, name := range []string{"cp-0", "cp-1"} {
		m := s.powerOn(t, name)
		s.configure(t, m, talos.ControlPlane)
		at = append(at, m.Address.Addr().String())
		s.awaitState(t, m.Address.Addr().String(), talos.StateConfigured)
	}
	api := machine.NewMachineServiceClient(s.connect(t, at[0], role.Admin))
	t.Run("to one", func(t *testing.T) {
		got, err := api.Hostname(forTargets(t, "node", at[1]), &emptypb.Empty{})
		check(t, err)
		if m := got.GetMessages(); len(m) != 1 || m[0].GetHostname() != "cp-1" || m[0].GetMetadata() != nil {
			t.Errorf("%v", m)
		}
		own, err := api.Hostname(forTargets(t, "node", "cp-0"), &emptypb.Empty{})
		if err != nil || own.GetMessages()[0].GetHostname() != "cp-0" {
			t.Errorf("to itself: %v, %v", own, err)
		}
	})
	t.Run("to many", func(t *testing.T) {
		got, err := api.Hostname(forTargets(t, "nodes", at[0], at[1], "10.40.0.99"), &emptypb.Empty{})
		check(t, err)
		names := []string{}
		for i, m := range got.GetMessages() {
			names = append(names, m.GetHostname())
			if failed := m.GetMetadata().GetError() != ""; failed != (i == 2) || m.GetMetadata().GetHostname() == "" {
				t.Errorf("metadata of message %d: %v", i, m.GetMetadata())
			}
		}
		if strings.Join(names, ",") != "cp-0,cp-1," || codes.Code(got.GetMessages()[2].GetMetadata().GetStatus().GetCode()) != codes.Unavailable {
			t.Errorf("%v", got)
		}
	})
	t.Run("a stream", func(t *testing.T) { passStreams(t, s, api, at) })
	t.Run("under the client's role", func(t *testing.T) { passRoles(t, s, at) })
	t.Run("refused", func(t *testing.T) { refuseTargets(t, s, at) })
}

func passStreams(t *testing.T, s *site, api machine.MachineServiceClient, at []string) {
	for key, target := range map[string]string{"node": at[1], "nodes": at[1]} {
		stream, err := api.Kubeconfig(forTargets(t, key, target), &emptypb.Empty{})
		check(t, err)
		data, err := stream.Recv()
		if err != nil || len(data.GetBytes()) == 0 || (data.GetMetadata().GetHostname() == target) != (key == "nodes") {
			t.Errorf("%s: %v, metadata %v", key, err, data.GetMetadata())
		}
	}
	list, err := cosi.NewStateClient(s.connect(t, at[0], role.Admin)).List(forTargets(t, "node", at[1]), &cosi.ListRequest{
		Namespace: "runtime", Type: "MachineStatuses.runtime.talos.dev",
	})
	check(t, err)
	if _, err := list.Recv(); err != nil {
		t.Errorf("resources: %v", err)
	}
}

func passRoles(t *testing.T, s *site, at []string) {
	reader := machine.NewMachineServiceClient(s.connect(t, at[0], role.Reader))
	ctx := forTargets(t, "node", at[1])
	if _, err := reader.Version(ctx, &emptypb.Empty{}); err != nil {
		t.Errorf("a reader's version: %v", err)
	}
	asAdmin := metadata.AppendToOutgoingContext(ctx, "talos-role", string(role.Admin))
	for what, ctx := range map[string]context.Context{"as a reader": ctx, "naming another role": asAdmin} {
		if _, err := reader.Bootstrap(ctx, &machine.BootstrapRequest{}); status.Code(err) != codes.PermissionDenied {
			t.Errorf("a bootstrap %s: %v", what, err)
		}
	}
}

func refuseTargets(t *testing.T, s *site, at []string) {
	conn := s.connect(t, at[0], role.Admin)
	for name, tt := range map[string]struct {
		ctx  context.Context
		want codes.Code
	}{
		"not there":  {forTargets(t, "node", "10.40.0.99"), codes.Unavailable},
		"two in one": {forTargets(t, "node", at[0], at[1]), codes.InvalidArgument},
		"with port":  {forTargets(t, "node", at[1]+":50000"), codes.Internal},
		"empty":      {forTargets(t, "nodes", ""), codes.Internal},
	} {
		if _, err := machine.NewMachineServiceClient(conn).Version(tt.ctx, &emptypb.Empty{}); status.Code(err) != tt.want {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	_, err := cosi.NewStateClient(conn).Get(forTargets(t, "nodes", at[1]), &cosi.GetRequest{Namespace: "runtime", Type: "MachineStatuses.runtime.talos.dev", Id: "machine"})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("resources of many nodes: %v", err)
	}
}
