// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// The metadata of a call that apid reads: the nodes that the client names, and that
// another node has passed the call on.
const (
	nodeKey      = "node"
	nodesKey     = "nodes"
	proxyFromKey = "proxyfrom"
)

// route says where a call is answered.
type route struct {
	targets []string // none: by this node
	many    bool     // the answers of all targets are merged
}

// route follows the metadata of a call as apid does: a control plane passes it on to the
// nodes in it, once; a worker answers for itself only.
func (n *node) route(ctx context.Context, method string) (route, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if len(md.Get(proxyFromKey)) > 0 {
		return route{}, nil
	}
	one, many := md.Get(nodeKey), md.Get(nodesKey)
	if len(one) > 1 {
		return route{}, status.Error(codes.InvalidArgument, "node metadata must be single-valued")
	}
	if !n.isControlPlane() {
		return route{}, n.answersFor(one, many)
	}
	switch {
	case len(many) > 0 && strings.HasPrefix(method, "/cosi."):
		return route{}, status.Error(codes.InvalidArgument, "one-2-many proxying is not supported for COSI methods")
	case len(many) > 0:
		return route{targets: many, many: true}, checkTargets(many)
	}
	return route{targets: one}, checkTargets(one)
}

// answersFor returns the error of a node that does not pass calls on.
func (n *node) answersFor(one, many []string) error {
	for _, targets := range [][]string{one, many} {
		if len(targets) > 1 || len(targets) == 1 && !n.is(targets[0]) {
			return status.Error(codes.PermissionDenied, "no request forwarding")
		}
	}
	return nil
}

func (n *node) is(target string) bool {
	return target == n.address().String() || target == n.hostname() || slices.Contains(n.publicAddresses(), target)
}

func checkTargets(targets []string) error {
	for _, target := range targets {
		_, _, hasPort := strings.Cut(target, ":")
		if target == "" || hasPort && strings.Count(target, ":") == 1 {
			return status.Errorf(codes.Internal, "invalid target %q", target)
		}
	}
	return nil
}
