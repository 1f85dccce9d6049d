// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// interceptors answer calls that are for this node, if the client's role allows it, and
// pass the others on.
func (n *node) interceptors() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			r, err := n.admit(ctx, info.FullMethod)
			switch {
			case err != nil:
				return nil, err
			case len(r.targets) > 0:
				return n.forward(ctx, r, info.FullMethod, request)
			}
			return handle(ctx, request)
		}),
		grpc.StreamInterceptor(func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
			r, err := n.admit(stream.Context(), info.FullMethod)
			switch {
			case err != nil:
				return err
			case len(r.targets) > 0:
				return n.forwardStream(stream, r, info.FullMethod)
			}
			return handle(service, stream)
		}),
	}
}

// admit returns where a call is answered. The node that answers decides whether the
// client's role allows it.
func (n *node) admit(ctx context.Context, method string) (route, error) {
	r, err := n.route(ctx, method)
	if err != nil || len(r.targets) > 0 {
		return r, err
	}
	roles := clientRoles(ctx)
	if roles.Includes(role.Admin) || readable(method) && roles.IncludesAny(role.MakeSet(role.Reader, role.Operator)) {
		return r, nil
	}
	return r, status.Error(codes.PermissionDenied, "not authorized")
}

func readable(method string) bool {
	return slices.Contains([]string{
		"/machine.MachineService/EtcdMemberList",
		"/machine.MachineService/Hostname",
		"/machine.MachineService/Logs",
		"/machine.MachineService/ServiceList",
		"/machine.MachineService/Version",
		"/storage.StorageService/Disks",
		"/cosi.resource.State/Get",
		"/cosi.resource.State/List",
		"/cosi.resource.State/Watch",
	}, method)
}

// clientRoles are those that the client's certificate names as its organizations. One with
// the role of an impersonator, as control planes have it, may name others in the metadata.
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
	md, _ := metadata.FromIncomingContext(ctx)
	if named := md.Get(constants.APIAuthzRoleMetadataKey); roles.Includes(role.Impersonator) && len(named) > 0 {
		roles, _ = role.Parse(named)
	}
	return roles
}
