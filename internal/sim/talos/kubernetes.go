// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"net/netip"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/cluster"
)

const (
	apiServerPort = 6443
	retry         = time.Second
)

// runKubernetes brings the node into its cluster and keeps it there.
func (n *node) runKubernetes(ctx context.Context) error {
	if !pause(ctx, n.world.options.EtcdDelay) {
		return nil
	}
	n.set(func() { n.booted = true })
	if n.isControlPlane() && n.disk.etcd() == "" {
		if err := n.awaitEtcd(ctx); err != nil {
			return err
		}
	}
	if n.isControlPlane() && n.disk.etcd() == etcdFirst {
		return n.runFirst(ctx)
	}
	return n.runJoined(ctx)
}

// awaitEtcd waits until this node is bootstrapped, or another one has been.
func (n *node) awaitEtcd(ctx context.Context) error {
	waitCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	joined := make(chan struct{})
	go func() {
		if _, err := n.cluster.awaitPlane(waitCtx, nil); err == nil {
			close(joined)
		}
	}()
	select {
	case <-ctx.Done():
		return nil
	case <-n.bootstrap:
		return nil
	case <-joined:
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.disk.etcd() != "" { // bootstrapped in the same moment
		return nil
	}
	return n.disk.writeEtcd(etcdJoined)
}

// runFirst runs the control plane from this node's disk. What ends is started
// again, as static pods are.
func (n *node) runFirst(ctx context.Context) error {
	for ctx.Err() == nil {
		p, err := cluster.Start(ctx, n.controlPlane())
		if err != nil {
			if ctx.Err() == nil {
				n.log.Warn("control plane did not start", "error", err)
				n.set(func() { n.etcdReason = "the control plane did not start" })
			}
			pause(ctx, retry)
			continue
		}
		n.log.Info("control plane is up", "address", n.address())
		n.cluster.serve(p)
		n.runWith(ctx, p)
		n.cluster.serve(nil)
		if err := p.Err(); err != nil {
			n.log.Warn("control plane ended", "error", err)
		}
		if err := p.Stop(); err != nil {
			n.log.Warn("control plane did not stop cleanly", "error", err)
		}
	}
	return nil
}

// runJoined takes part in a cluster that another node runs.
func (n *node) runJoined(ctx context.Context) error {
	var before *plane.Plane
	for {
		p, err := n.cluster.awaitPlane(ctx, before)
		if err != nil {
			return err
		}
		n.runWith(ctx, p)
		before = p
	}
}

// runWith is the node's life while the API server p runs.
func (n *node) runWith(ctx context.Context, p *plane.Plane) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-p.Done():
		case <-ctx.Done():
		}
	}()
	var group errgroup.Group
	if n.isControlPlane() {
		n.openControlPlane(p)
		defer n.closeControlPlane()
		for _, vip := range n.sharedIPs() {
			group.Go(func() error { n.holdSharedIP(ctx, vip, p.Address()); return nil })
		}
	}
	group.Go(func() error { return n.runKubelet(ctx, p) })
	if err := group.Wait(); err != nil {
		n.log.Warn("kubelet ended", "error", err)
	}
}

func (n *node) openControlPlane(p *plane.Plane) {
	n.machine.Host.Forward(apiServerPort, p.Address())
	n.cluster.join(n.hostname(), n.address().String())
	n.set(func() { n.etcdUp, n.etcdReason, n.starting = true, "", false })
}

func (n *node) closeControlPlane() {
	n.machine.Host.Forward(apiServerPort, "")
	n.cluster.leave(n.hostname())
	n.set(func() { n.etcdUp = false })
}

// holdSharedIP answers at the virtual address whenever nobody else does.
func (n *node) holdSharedIP(ctx context.Context, vip netip.Addr, target string) {
	for {
		if host, err := n.world.options.Network.Attach(vip); err == nil {
			n.log.Info("node holds the shared IP", "address", vip)
			host.Forward(apiServerPort, target)
			<-ctx.Done()
			host.Detach()
			return
		}
		if !pause(ctx, retry) {
			return
		}
	}
}

func (n *node) runKubelet(ctx context.Context, p *plane.Plane) error {
	config, err := p.Issue(pki.Request{CommonName: "system:node:" + n.hostname(), Organizations: []string{"system:nodes"}})
	if err != nil {
		return err
	}
	n.set(func() { n.kubeletUp = true })
	defer n.set(func() { n.kubeletUp = false })
	kubelet := cluster.Kubelet{
		Node:       n.kubernetesNode(),
		Config:     config,
		Registered: func(ctx context.Context) error { return n.mark(ctx, p, config) },
		Log:        n.log,
	}
	return kubelet.Run(ctx)
}

// mark acts as Talos does: on control planes as an administrator, on workers
// with the kubelet's rights.
func (n *node) mark(ctx context.Context, p *plane.Plane, kubelet *rest.Config) error {
	mark := cluster.Mark{
		Labels:       n.config.Machine().NodeLabels(),
		ControlPlane: n.isControlPlane(),
		Unscheduled:  !n.config.Cluster().ScheduleOnControlPlanes(),
	}
	if n.isControlPlane() {
		return mark.Apply(ctx, p.Config(), n.hostname())
	}
	return mark.Apply(ctx, kubelet, n.hostname())
}
