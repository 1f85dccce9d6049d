// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// starting is a single node whose etcd was asked to start and never gets there.
// It counts the connections to the node, and has a clock of its own.
func starting(t *testing.T) (s *site, asked *atomic.Int32, clock *time.Time) {
	t.Helper()
	s = newSlowSite(t, v1alpha1.ProviderHarvester, false, datacenter.Profile{EtcdHealth: time.Hour})
	asked, clock = new(atomic.Int32), new(time.Time)
	*clock = time.Now()
	s.Clock = func() time.Time { return *clock }
	s.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		asked.Add(1)
		return s.network.Dial(ctx, network, addr)
	}
	cb := clusterBootstrap()
	cb.Spec.Network.VIP = ""
	s.create(cb)
	s.eventually("EtcdStarts", func() bool { return progressing(s.reconcile("dev")).Reason == "EtcdStarts" })
	asked.Store(0)
	return s, asked, clock
}

// Each request makes Talos break off what it does: one that is repeated at each
// look would keep etcd from ever starting.
const (
	asksWhetherItRuns = 1 // connection
	asksItToStart     = 4 // whether etcd runs, whether the kubelet does, which Talos it is, and the request
)

func TestEtcdIsAskedAgainOnlyAfterTheSamePatience(t *testing.T) {
	s, asked, clock := starting(t)
	for _, step := range []struct {
		after time.Duration
		want  int32
	}{
		{time.Minute, asksWhetherItRuns},
		{5 * time.Minute, asksItToStart},
		{5 * time.Second, asksWhetherItRuns},
		{time.Minute, asksWhetherItRuns},
		{5 * time.Minute, asksItToStart},
	} {
		*clock = clock.Add(step.after)
		s.reconcile("dev")
		if got := asked.Swap(0); got != step.want {
			t.Errorf("%s later: %d connections, want %d", step.after, got, step.want)
		}
	}
}

func TestEtcdIsNotAskedAgainForAnOutdatedStatus(t *testing.T) {
	s, asked, clock := starting(t)
	*clock = clock.Add(6 * time.Minute)
	outdated := s.get("dev")
	s.reconcile("dev")
	asked.Store(0)
	result, err := s.Reconcile(t.Context(), outdated)
	if err != nil || result.RequeueAfter != lag.Again {
		t.Errorf("got %+v, %v", result, err)
	}
	if got := asked.Load(); got != asksWhetherItRuns {
		t.Errorf("%d connections, want %d", got, asksWhetherItRuns)
	}
}

func TestEtcdIsAskedAgainOnceItsMachineHasBeenOff(t *testing.T) {
	s, asked, clock := starting(t)
	dial := s.Dial
	s.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED }
	*clock = clock.Add(time.Second)
	if c := progressing(s.reconcile("dev")); c.Reason != "WaitingForEtcd" || !strings.Contains(c.Message, "connection refused") {
		t.Errorf("without power: %+v", c)
	}
	s.Dial = dial
	*clock = clock.Add(time.Second)
	if c := progressing(s.reconcile("dev")); c.Reason != "EtcdStarts" || asked.Load() != asksItToStart {
		t.Errorf("with power: %+v, %d connections", c, asked.Load())
	}
}
