// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/constants"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/cluster"
	"github.com/butlerdotdev/butler/internal/sim/hosted"
	"github.com/butlerdotdev/butler/internal/sim/passthrough"
	"github.com/butlerdotdev/butler/internal/sim/upstream"
)

// runKubelet brings the node into Kubernetes and keeps it there. A node joins by the
// cluster's endpoint, a control plane also with its own etcd. Once it has joined, the
// node speaks to the API server directly, as if KubePrism knew all control planes: a
// simplification that keeps a worker Ready while the endpoint is silent.
func (n *node) runKubelet(ctx context.Context) error {
	if err := n.awaitCluster(ctx); err != nil {
		return err
	}
	if t := n.tenant(); t != nil {
		return n.runTenantKubelet(ctx, t)
	}
	controllers, closeProxy, err := n.controllers()
	if err != nil {
		return err
	}
	defer closeProxy()
	kubelet := cluster.NewKubelet(n.kubernetesNode(), cluster.Options{
		ReadyAfter:  n.emulator.options.Profile.NodeReady,
		AwaitsCNI:   n.cluster.awaitsCNI(),
		AddonAfter:  n.emulator.options.Profile.Chart,
		Faults:      n.emulator.options.Faults,
		Controllers: cluster.Controllers{Command: controllers, Dir: n.disk.podsPath()},
		Containers:  n.runPod,
		Log:         n.log,
	})
	defer n.cluster.services.Join(kubelet)()
	defer kubelet.Stop()
	var before *plane.Plane
	for {
		p, err := n.cluster.awaitPlane(ctx, before)
		if err != nil {
			return err
		}
		if err := n.runKubeletWith(ctx, kubelet, p); err != nil {
			return err
		}
		before = p
	}
}

// controllers returns the command of this project's controllers on the node, and serves
// them the network as their node sees it.
func (n *node) controllers() (command []string, end func(), err error) {
	if n.emulator.options.Controllers == nil {
		return nil, func() {}, nil
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("network of the pods of %s: %w", n.hostname(), err)
	}
	go func() {
		if err := n.emulator.options.Network.ServeSOCKS(l, n.source()); err != nil {
			n.log.Error("the network of pods ended", "error", err)
		}
	}()
	return n.emulator.options.Controllers(l.Addr().String()), func() { _ = l.Close() }, nil
}

func (n *node) awaitCluster(ctx context.Context) error {
	if err := n.awaitBooted(ctx); err != nil {
		return err
	}
	if !n.isControlPlane() {
		return n.awaitEndpoint(ctx)
	}
	return first(ctx, n.awaitEndpoint, func(ctx context.Context) error { return n.cluster.awaitMember(ctx, n) })
}

// runKubeletWith is the kubelet's life while the API server p runs.
func (n *node) runKubeletWith(ctx context.Context, kubelet *cluster.Kubelet, p *plane.Plane) error {
	ctx, cancel := whileRuns(ctx, p)
	defer cancel()
	config, err := p.Issue(pki.Request{CommonName: "system:node:" + n.hostname(), Organizations: []string{"system:nodes"}})
	if err != nil {
		return err
	}
	return kubelet.Run(ctx, cluster.Access{
		Config:     config,
		Registered: func(ctx context.Context) error { return n.mark(ctx, p, config) },
		Range: func(ctx context.Context) (netip.Prefix, error) {
			return n.cluster.assignRange(ctx, p, n.hostname(), n.podNetwork())
		},
	})
}

// assignRange is what the controller manager does, one node at a time.
func (f *formation) assignRange(ctx context.Context, p *plane.Plane, node string, pods netip.Prefix) (netip.Prefix, error) {
	f.ranges.Lock()
	defer f.ranges.Unlock()
	return cluster.AssignRange(ctx, p.Config(), node, pods)
}

// awaitsCNI says whether the nodes have no network before one is installed: Talos
// does not, and kube-proxy is off, so that what is installed replaces that too. Only
// the configuration of a control plane says so.
func (f *formation) awaitsCNI() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := range f.nodes {
		cfg := n.config.Cluster()
		return cfg.Network().CNI().Name() == constants.NoneCNI && !cfg.Proxy().Enabled()
	}
	return false
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

// runPod is what the containers of a pod do that have an effect outside of the API
// server.
func (n *node) runPod(ctx context.Context, pod *corev1.Pod) {
	if vip, ok := kubeVIPOf(pod); ok && n.isControlPlane() {
		n.runKubeVIP(ctx, vip)
	}
	if isMetalLB(pod) {
		n.runMetalLB(ctx)
	}
	if platform, ok := cloudManagerOf(pod); ok {
		n.runCloudManager(ctx, pod, platform)
	}
	programs := []hosted.Program{n.cluster.tenants.ProgramOf(pod)}
	if passthrough.Plays(pod) {
		programs = append(programs, n.passthrough(pod))
	}
	if upstream.Plays(pod) {
		programs = append(programs, n.upstream(pod))
	}
	n.runPrograms(ctx, pod, programs)
	n.cluster.tenants.RunPod(ctx, pod)
}

// runPrograms runs programs of a pod side by side; a nil one is none.
func (n *node) runPrograms(ctx context.Context, pod *corev1.Pod, programs []hosted.Program) {
	var group sync.WaitGroup
	for _, p := range programs {
		if p != nil {
			group.Go(func() { n.runProgram(ctx, pod, p) })
		}
	}
	group.Wait()
}

// upstream is the program of a pod that creates objects in its cluster.
func (n *node) upstream(pod *corev1.Pod) hosted.Program {
	return func(ctx context.Context, config *rest.Config) error { return upstream.Run(ctx, pod, config, n.log) }
}

// passthrough is the program of a pod that passes TLS on.
func (n *node) passthrough(pod *corev1.Pod) hosted.Program {
	return func(ctx context.Context, config *rest.Config) error {
		_, err := passthrough.Options{Network: n.emulator.options.Network, Log: n.log}.Run(ctx, pod, config)
		return err
	}
}

// isMetalLB knows the pod of MetalLB's controller by its image.
func isMetalLB(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return strings.HasSuffix(repository(c.Image), "/metallb/controller")
	})
}

// runMetalLB has Services get their addresses, whichever API server runs.
func (n *node) runMetalLB(ctx context.Context) {
	for before := (*plane.Plane)(nil); ; {
		p, err := n.cluster.awaitPlane(ctx, before)
		if err != nil {
			return
		}
		inner, end := whileRuns(ctx, p)
		if err := cluster.RunMetalLB(inner, p.Config()); err != nil {
			n.log.Warn("services get no addresses", "error", err)
		}
		end()
		before = p
	}
}
