// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/internal/plane"
)

// apiServerPort is where the API servers of control planes are.
const apiServerPort = 6443

var (
	errSplit   = errors.New("etcd was bootstrapped a second time; the emulated node does not play two etcds of one cluster: reset it")
	errRemoved = errors.New("the member was removed from the etcd cluster: reset the node")
)

// runEtcd brings a control plane into etcd and runs its API server.
func (n *node) runEtcd(ctx context.Context) error {
	if err := n.awaitBooted(ctx); err != nil {
		return err
	}
	data, err := n.enterEtcd(ctx)
	if err == nil {
		err = n.runMember(ctx, data)
	}
	if errors.Is(err, errSplit) || errors.Is(err, errRemoved) {
		n.log.Error("etcd does not run", "error", err)
		n.set(func() { n.etcd = etcdState{reason: err.Error()} })
		<-ctx.Done()
	}
	return err
}

// runMember takes part in etcd, whenever that answers, until ctx ends or the member is
// removed.
func (n *node) runMember(ctx context.Context, data etcdData) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	id := data.Member
	go func() {
		if n.cluster.await(ctx, func() bool { return !n.cluster.has(id) }) == nil {
			cancel(errRemoved)
		}
	}()
	started := time.Now()
	defer n.cluster.stopMember(id)
	if err := n.cluster.startMember(n.member(id), n); err != nil {
		return err
	}
	for p := (*plane.Plane)(nil); ; {
		var err error
		if p, err = n.cluster.awaitEtcd(ctx, p); err != nil {
			return context.Cause(ctx)
		}
		if err := n.keepEtcd(data); err != nil {
			return err
		}
		n.runMemberWith(ctx, id, p, started)
	}
}

// keepEtcd has the data on disk once etcd runs, and the bootstrap noted.
func (n *node) keepEtcd(data etcdData) error {
	if !data.First {
		return nil
	}
	member := n.member(data.Member)
	n.emulator.options.Auditor.Bootstrapped(filepath.Base(n.cluster.dir), fmt.Sprintf("%x", member.ID), n.machine.Name)
	return errors.Join(n.disk.writeEtcd(data), n.cluster.noteBootstrap(member, n.machine.Name))
}

// enterEtcd returns the node's part in etcd: that on its disk, or a new one as soon as
// the node is bootstrapped or can join.
func (n *node) enterEtcd(ctx context.Context) (data etcdData, err error) {
	data, ok := n.disk.etcd()
	if !ok {
		if data, err = n.awaitEtcd(ctx); err != nil {
			return data, err
		}
	}
	if data.First {
		return data, n.foundEtcd(data)
	}
	n.cluster.mu.Lock()
	defer n.cluster.mu.Unlock()
	if !n.cluster.has(data.Member) {
		return data, errRemoved
	}
	return data, nil
}

func (n *node) foundEtcd(data etcdData) error {
	ok, err := n.cluster.found(n.member(data.Member), n)
	if err != nil || ok {
		return err
	}
	return errors.Join(errSplit, n.keepEtcd(data))
}

// awaitEtcd waits until this node is bootstrapped, or has joined others.
func (n *node) awaitEtcd(ctx context.Context) (etcdData, error) {
	waitCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	joinable := make(chan error, 1)
	go func() { joinable <- n.awaitPeers(waitCtx) }()
	first := etcdData{Member: newMemberID(), First: true}
	select {
	case <-n.bootstrap:
		return first, nil
	case err := <-joinable:
		if err != nil {
			return etcdData{}, err
		}
	}
	if !n.startJoin() {
		return first, nil
	}
	m, err := n.cluster.join(ctx, n.member(newMemberID()))
	if err != nil {
		return etcdData{}, err
	}
	data := etcdData{Member: m.ID}
	return data, n.disk.writeEtcd(data)
}

// startJoin reports false if the node was bootstrapped in the same moment.
func (n *node) startJoin() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.joining = !n.starting
	return n.joining
}

func (n *node) member(id uint64) member {
	return member{ID: id, Hostname: n.hostname(), Address: n.address().String(), Disk: n.disk.dir}
}

// runMemberWith is the node's part in etcd, and its API server, while p runs.
func (n *node) runMemberWith(ctx context.Context, id uint64, p *plane.Plane, started time.Time) {
	ctx, cancel := whileRuns(ctx, p)
	defer cancel()
	n.set(func() { n.etcd, n.starting = etcdState{running: true, learner: n.cluster.isLearner(id)}, false })
	defer n.set(n.endEtcd)
	var parts sync.WaitGroup
	defer parts.Wait()
	profile := n.emulator.options.Profile
	parts.Go(func() {
		if pause(ctx, time.Until(started.Add(profile.EtcdHealth))) {
			n.runHealthy(ctx, id)
		}
	})
	parts.Go(func() {
		if pause(ctx, time.Until(started.Add(profile.APIServer))) {
			n.runAPIServer(ctx, p)
		}
	})
}

// endEtcd records that etcd does not run any more. One process represents it and the API
// servers, and the death of these is not its own.
func (n *node) endEtcd() {
	if !n.silenced() {
		n.etcd = etcdState{}
	}
}

// runAPIServer has the node's API server answer, except while it has died.
func (n *node) runAPIServer(ctx context.Context, p *plane.Plane) {
	faults := n.emulator.options.Faults
	for faults.Await(ctx, func() bool { return !n.silenced() }) {
		n.openAPIServer(p.Address())
		if faults.Await(ctx, n.silenced) {
			n.log.Warn("the API server dies, as the fault plan has it")
		}
		n.openAPIServer("")
	}
}

// silenced says whether the node's API server has died.
func (n *node) silenced() bool {
	_, on := n.emulator.options.Faults.APIServerDown(n.machine.Name)
	return on
}

// runHealthy votes in etcd.
func (n *node) runHealthy(ctx context.Context, id uint64) {
	if err := n.cluster.promote(id); err != nil {
		n.log.Error("etcd stays a learner", "error", err)
		return
	}
	n.set(func() { n.etcd.learner, n.etcd.healthy = false, true })
	n.cluster.change(func() { n.cluster.healthy[n] = true })
	defer n.cluster.change(func() { delete(n.cluster.healthy, n) })
	<-ctx.Done()
}

func (n *node) openAPIServer(target string) {
	n.machine.Host.Forward(apiServerPort, target)
	if target == "" {
		n.machine.Host.Cut(apiServerPort)
	}
	n.cluster.setOpen(n, target)
}

// whileRuns is ctx, ended with p.
func whileRuns(ctx context.Context, p *plane.Plane) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		select {
		case <-p.Done():
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
