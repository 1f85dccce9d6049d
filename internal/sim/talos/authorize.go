// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// authorization admits calls by the role that the client's certificate names
// as its organization.
func (n *node) authorization() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			if err := n.authorize(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return handle(ctx, request)
		}),
		grpc.StreamInterceptor(func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
			if err := n.authorize(stream.Context(), info.FullMethod); err != nil {
				return err
			}
			return handle(service, stream)
		}),
	}
}

func (n *node) authorize(ctx context.Context, method string) error {
	roles := clientRoles(ctx)
	allowed := roles.Includes(role.Admin) || readable(method) && roles.IncludesAny(role.MakeSet(role.Reader, role.Operator))
	if !allowed {
		return status.Error(codes.PermissionDenied, "not authorized")
	}
	return n.forwards(ctx)
}

// forwards refuses what the emulation cannot do: a real control plane hands a call on
// to the nodes that the client names; a worker does not.
func (n *node) forwards(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	for _, target := range slices.Concat(md.Get("node"), md.Get("nodes")) {
		switch {
		case target == n.address().String(), target == n.hostname():
		case !n.isControlPlane():
			return status.Error(codes.PermissionDenied, "no request forwarding")
		default:
			return status.Errorf(codes.Unimplemented, "the emulated node %s does not forward to %s", n.hostname(), target)
		}
	}
	return nil
}

func readable(method string) bool {
	return slices.Contains([]string{
		"/machine.MachineService/EtcdMemberList",
		"/machine.MachineService/Hostname",
		"/machine.MachineService/ServiceList",
		"/machine.MachineService/Version",
		"/storage.StorageService/Disks",
		"/cosi.resource.State/Get",
		"/cosi.resource.State/List",
		"/cosi.resource.State/Watch",
	}, method)
}

func clientRoles(ctx context.Context) role.Set {
	caller, ok := peer.FromContext(ctx)
	if !ok {
		return role.Zero
	}
	info, ok := caller.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.PeerCertificates) == 0 {
		return role.Zero
	}
	roles, _ := role.Parse(info.State.PeerCertificates[0].Subject.Organization)
	return roles
}
