// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/cluster"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// kubeVIP is what a kube-vip container is configured to do for the control plane.
type kubeVIP struct {
	address   string // or a name
	port      uint16
	account   metav1.ObjectMeta
	namespace string // of the lease
	apiHost   string // how it reaches the API server; empty: by the service
	apiPort   string
}

// kubeVIPOf finds the container in a pod by its image.
func kubeVIPOf(pod *corev1.Pod) (kubeVIP, bool) {
	for _, c := range pod.Spec.Containers {
		env := map[string]string{}
		for _, e := range c.Env {
			env[e.Name] = e.Value
		}
		if !strings.HasSuffix(repository(c.Image), "/kube-vip") || env["cp_enable"] != "true" || env["vip_arp"] != "true" {
			continue
		}
		port, err := strconv.ParseUint(env["port"], 10, 16)
		if err != nil {
			port = apiServerPort
		}
		return kubeVIP{
			address: env["address"], port: uint16(port),
			account:   metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Spec.ServiceAccountName},
			namespace: env["cp_namespace"],
			apiHost:   env["KUBERNETES_SERVICE_HOST"], apiPort: env["KUBERNETES_SERVICE_PORT"],
		}, true
	}
	return kubeVIP{}, false
}

// repository is an image without tag and digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		image = image[:colon]
	}
	return image
}

// runKubeVIP answers at the address of a kube-vip that can do its work.
func (n *node) runKubeVIP(ctx context.Context, vip kubeVIP) {
	if err := n.admitKubeVIP(ctx, vip); err != nil {
		return
	}
	address, err := netip.ParseAddr(vip.address)
	if err != nil {
		defer n.emulator.options.Network.Name(vip.address, n.addresses)()
		<-ctx.Done()
		return
	}
	n.cluster.whileOpen(ctx, n, func(ctx context.Context, target string) {
		n.hold(ctx, address, n.emulator.options.Profile.KubeVIP, func(host *network.Host) {
			host.Forward(vip.port, target)
			<-ctx.Done()
		})
	})
}

// admitKubeVIP returns nil when kube-vip can reach an API server and may hold its lease.
func (n *node) admitKubeVIP(ctx context.Context, vip kubeVIP) error {
	if err := n.awaitAPI(ctx, vip); err != nil {
		return err
	}
	for last := ""; ; {
		err := n.admitLease(ctx, vip)
		if err == nil {
			return nil
		}
		if err.Error() != last && ctx.Err() == nil {
			last = err.Error()
			n.log.Warn("kube-vip holds no lease", "error", err)
		}
		if !pause(ctx, retry) {
			return ctx.Err()
		}
	}
}

// awaitAPI waits until kube-vip finds an API server where it looks for it. On its own
// node that is so from the start, or never.
func (n *node) awaitAPI(ctx context.Context, vip kubeVIP) error {
	if vip.looksElsewhere() {
		return n.emulator.options.Network.AwaitFrom(ctx, n.source(), net.JoinHostPort(vip.apiHost, vip.apiPort))
	}
	if n.reaches(vip) {
		return nil
	}
	n.log.Warn("kube-vip reaches no API server", "host", vip.apiHost, "port", vip.apiPort)
	<-ctx.Done()
	return ctx.Err()
}

func (v kubeVIP) looksElsewhere() bool {
	return v.apiHost != "" && v.apiHost != "localhost" && !net.ParseIP(v.apiHost).IsLoopback()
}

func (n *node) admitLease(ctx context.Context, vip kubeVIP) error {
	p, err := n.cluster.awaitPlane(ctx, nil)
	if err != nil {
		return err
	}
	return cluster.MayHoldLeases(ctx, p.Config(), vip.account, vip.namespace)
}

// reaches says whether a container on the host's network finds an API server from its
// own node: at the service's address only with kube-proxy, at loopback with KubePrism
// or at the node's own API server.
func (n *node) reaches(vip kubeVIP) bool {
	if vip.apiHost == "" {
		return n.config.Cluster().Proxy().Enabled()
	}
	prism := n.config.Machine().Features().KubePrism()
	return prism.Enabled() && vip.apiPort == strconv.Itoa(prism.Port()) || vip.apiPort == strconv.Itoa(apiServerPort)
}
