// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// EtcdMemberList keeps the caller waiting while the node's etcd does not answer, as a
// real node does.
func (s *machined) EtcdMemberList(ctx context.Context, _ *machine.EtcdMemberListRequest) (*machine.EtcdMemberListResponse, error) {
	if err := s.awaitEtcd(ctx, "member list"); err != nil {
		return nil, err
	}
	members := s.node.cluster.list()
	return &machine.EtcdMemberListResponse{Messages: []*machine.EtcdMembers{{Members: members}}}, nil
}

// EtcdRemoveMemberByID takes a member off the list, as one does with that of a
// machine that will not come back.
func (s *machined) EtcdRemoveMemberByID(ctx context.Context, in *machine.EtcdRemoveMemberByIDRequest) (*machine.EtcdRemoveMemberByIDResponse, error) {
	if err := s.awaitEtcd(ctx, "member remove"); err != nil {
		return nil, err
	}
	ok, err := s.node.cluster.remove(in.GetMemberId())
	if err != nil {
		return nil, status.Errorf(codes.Internal, "remove member: %s", err)
	}
	if !ok {
		return nil, status.Error(codes.NotFound, "etcdserver: member not found")
	}
	return &machine.EtcdRemoveMemberByIDResponse{Messages: []*machine.EtcdRemoveMemberByID{{}}}, nil
}

func (s *machined) awaitEtcd(ctx context.Context, what string) error {
	if !s.node.isControlPlane() {
		return onlyOnControlPlanes(what)
	}
	switch etcd := s.node.etcdState(); {
	case !etcd.running:
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	case etcd.learner:
		return status.Error(codes.Unknown, learnerRefuses)
	}
	return nil
}

const learnerRefuses = "etcdserver: rpc not supported for learner"

func (n *node) etcdState() etcdState {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.etcd
}
