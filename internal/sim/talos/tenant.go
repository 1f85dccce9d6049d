// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/cluster"
	"github.com/butlerdotdev/butler/internal/sim/hosted"
)

// tenant is the hosted control plane that the node's configuration is for, by its authority;
// nil: the node is of a cluster with control planes of its own.
func (n *node) tenant() *hosted.Tenant {
	if n.isControlPlane() {
		return nil
	}
	ca := n.config.Cluster().IssuingCA()
	if ca == nil {
		return nil
	}
	n.emulator.mu.Lock()
	defer n.emulator.mu.Unlock()
	for _, f := range n.emulator.clusters {
		if t := f.tenants.Find(ca.Crt); t != nil {
			return t
		}
	}
	return nil
}

// runTenantKubelet brings a worker into the cluster of a hosted control plane: it joins with
// the bootstrap token of its configuration, and speaks to the endpoint alone.
func (n *node) runTenantKubelet(ctx context.Context, t *hosted.Tenant) error {
	config, err := n.joinTenant(ctx)
	if err != nil {
		return err
	}
	kubelet := cluster.NewKubelet(n.kubernetesNode(), cluster.Options{
		ReadyAfter: n.emulator.options.Profile.NodeReady,
		AwaitsCNI:  true, // no control plane of Talos installs one
		AddonAfter: n.emulator.options.Profile.Chart,
		Faults:     n.emulator.options.Faults,
		Containers: func(ctx context.Context, pod *corev1.Pod) { n.runTenantPod(ctx, t, pod) },
		Broken:     n.missesAPI,
		Log:        n.log,
	})
	defer t.Services.Join(kubelet)()
	defer kubelet.Stop()
	return kubelet.Run(ctx, cluster.Access{
		Config: config,
		Registered: func(ctx context.Context) error {
			return cluster.Mark{Labels: n.config.Machine().NodeLabels()}.Apply(ctx, config, n.hostname())
		},
		Range: func(ctx context.Context) (netip.Prefix, error) {
			return t.AssignRange(ctx, n.hostname(), n.podNetwork())
		},
	})
}

// runTenantPod is what the containers of a tenant's pod do outside of its API server.
func (n *node) runTenantPod(ctx context.Context, t *hosted.Tenant, pod *corev1.Pod) {
	if !isMetalLB(pod) {
		return
	}
	t.During(ctx, func(ctx context.Context, config *rest.Config) {
		if err := cluster.RunMetalLB(ctx, config); err != nil {
			n.log.Warn("services of a tenant get no addresses", "error", err)
		}
	})
}

// joinTenant returns the access of the node's kubelet, as soon as the control plane lets it in.
func (n *node) joinTenant(ctx context.Context) (*rest.Config, error) {
	join := cluster.Join{
		Endpoint: n.config.Cluster().Endpoint().String(), CA: n.config.Cluster().IssuingCA().Crt,
		Token: n.config.Cluster().Token().ID() + "." + n.config.Cluster().Token().Secret(),
		Node:  n.hostname(), File: n.disk.kubeletPath(),
		Dial: n.dial,
	}
	if n.config.Machine().Features().KubePrism().Enabled() {
		join.Server = "127.0.0.1" // a kubelet asks KubePrism, which passes on what it says
	}
	for last := ""; ; {
		config, err := join.Run(ctx)
		if err == nil || ctx.Err() != nil {
			return config, err
		}
		if err.Error() != last {
			last = err.Error()
			n.log.Warn("the kubelet does not join", "error", err)
		}
		if !pause(ctx, retry) {
			return nil, ctx.Err()
		}
	}
}

// runProgram runs a program of the management cluster, whichever API server runs.
func (n *node) runProgram(ctx context.Context, pod *corev1.Pod, program hosted.Program) {
	for before := (*plane.Plane)(nil); ; {
		p, err := n.cluster.awaitPlane(ctx, before)
		if err != nil {
			return
		}
		inner, end := whileRuns(ctx, p)
		if err := program(inner, p.Config()); err != nil && inner.Err() == nil {
			n.log.Warn("a program of the cluster ended", "pod", pod.Namespace+"/"+pod.Name, "error", err)
		}
		<-inner.Done()
		end()
		before = p
	}
}
