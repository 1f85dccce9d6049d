// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver"
)

// alarmPeriod is how often the store is checked for space: etcd does not report it.
const alarmPeriod = 500 * time.Millisecond

// makeRoom has a store that was full take writes again: without the history of its
// objects, and in as little space as they need. Any other store is left alone.
func makeRoom(ctx context.Context, s *etcdserver.EtcdServer) error {
	if !isFull(s) {
		return nil
	}
	if now := s.KV().Rev(); now > s.KV().FirstRev() {
		if _, err := s.Compact(ctx, &pb.CompactionRequest{Revision: now, Physical: true}); err != nil {
			return fmt.Errorf("free space in a full store: compact old revisions: %w", err)
		}
	}
	if err := s.Backend().Defrag(); err != nil {
		return fmt.Errorf("free space in a full store: defragment it: %w", err)
	}
	alarm := &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, MemberID: uint64(s.MemberID()), Alarm: pb.AlarmType_NOSPACE}
	if _, err := s.Alarm(ctx, alarm); err != nil {
		return fmt.Errorf("free space in a full store: disarm the alarm: %w", err)
	}
	return nil
}

func isFull(s *etcdserver.EtcdServer) bool {
	return slices.ContainsFunc(s.Alarms(), func(a *pb.AlarmMember) bool { return a.Alarm == pb.AlarmType_NOSPACE })
}

// awaitFull returns when the store takes no more writes, with what to do, or with
// ctx. The errors of etcd itself do not say what to do.
func awaitFull(ctx context.Context, s *etcdserver.EtcdServer) error {
	tick := time.NewTicker(alarmPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if isFull(s) {
			return fmt.Errorf("the store is full (%d KiB of %d KiB are used); nothing in it is lost, but nothing new fits in: "+
				"start again to free space by compacting old revisions; if it is full again at once, delete objects", s.Backend().Size()>>10, s.Cfg.QuotaBackendBytes>>10)
		}
	}
}
