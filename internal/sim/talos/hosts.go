// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// resolve replaces a name in an address by what the node's own host entries say of it.
func (n *node) resolve(hostport string) string {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport
	}
	for _, e := range n.config.NetworkStaticHostConfig() {
		if slices.Contains(e.Aliases(), host) {
			return net.JoinHostPort(e.IP(), port)
		}
	}
	return hostport
}

// missesAPI returns why a pod on the node's network does not find the API server where its
// environment says; empty if it does, or if it looks for none there.
func (n *node) missesAPI(pod *corev1.Pod) string {
	host, port := environment(pod, "KUBERNETES_SERVICE_HOST"), environment(pod, "KUBERNETES_SERVICE_PORT")
	if host == "" || !pod.Spec.HostNetwork {
		return ""
	}
	if host == "localhost" || net.ParseIP(host).IsLoopback() {
		if prism := n.config.Machine().Features().KubePrism(); !prism.Enabled() || port != strconv.Itoa(prism.Port()) {
			return fmt.Sprintf("dial tcp %s:%s: connection refused", host, port)
		}
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := n.dial(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err.Error()
	}
	_ = conn.Close()
	return ""
}

// environment is the value of a variable in a pod.
func environment(pod *corev1.Pod, name string) string {
	for _, c := range pod.Spec.Containers {
		for _, e := range c.Env {
			if e.Name == name {
				return e.Value
			}
		}
	}
	return ""
}
