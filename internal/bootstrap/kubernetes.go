// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/internal/talos"
)

// awaitNodes follows the nodes of the new cluster until all are Ready.
func awaitNodes(ctx context.Context, s *Session) (*Obstacle, error) {
	var nodes []corev1.Node
	err := s.fromAny(ctx, func(ctx context.Context, address string) error {
		c, closeIdle, err := s.newCluster(address)
		if err != nil {
			return err
		}
		defer closeIdle()
		list, err := c.Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		nodes = list.Items
		return s.labelNodes(ctx, c.Nodes(), nodes)
	})
	if err != nil {
		s.forgetNodes()
		return &Obstacle{Reason: "WaitingForKubernetes", Message: "the new API server does not answer: " + stable(err), Poll: true}, nil
	}
	return s.judgeNodes(nodes), nil
}

// newCluster is a client of the new API server by way of one control plane:
// the endpoint's own address may answer only later.
func (s *Session) newCluster(address string) (c *corev1client.CoreV1Client, closeIdle func(), err error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(s.kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, nil, err
	}
	transport := &http.Transport{TLSClientConfig: tls, DialContext: s.dialHost(address)}
	c, err = corev1client.NewForConfigAndClient(config, &http.Client{Transport: transport, Timeout: exchangeTimeout})
	return c, transport.CloseIdleConnections, err
}

// dialHost connects to the wanted port of address, whatever host is asked for.
func (s *Session) dialHost(address string) talos.Dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		return s.Dial(ctx, network, net.JoinHostPort(address, port))
	}
}

// labelNodes sets the labels that kubelets may not set on themselves.
func (s *Session) labelNodes(ctx context.Context, api corev1client.NodeInterface, nodes []corev1.Node) error {
	for _, m := range s.Plan.Machines {
		_, restricted := talos.SplitLabels(m.Pool.Labels)
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": restricted}})
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if n.Name != m.Name || containsAll(n.Labels, restricted) {
				continue
			}
			if _, err := api.Patch(ctx, n.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				return fmt.Errorf("label node %s: %w", n.Name, err)
			}
		}
	}
	return nil
}

func containsAll(have, want map[string]string) bool {
	for k, v := range want {
		if have[k] != v {
			return false
		}
	}
	return true
}

func (s *Session) forgetNodes() {
	for i := range s.Status.Machines {
		s.Status.Machines[i].Ready = false
	}
}

// judgeNodes takes over which nodes are Ready, and names those that are not.
func (s *Session) judgeNodes(nodes []corev1.Node) *Obstacle {
	causes := map[string]string{}
	for _, n := range nodes {
		causes[n.Name] = notReady(n)
	}
	var waiting []string
	for i, m := range s.Status.Machines {
		cause, known := causes[m.Name]
		if !known {
			cause = "has not joined"
		}
		s.Status.Machines[i].Ready = cause == ""
		if cause != "" {
			waiting = append(waiting, m.Name+" "+cause)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return &Obstacle{Reason: "WaitingForNodes", Message: "node " + strings.Join(waiting, "; node "), Poll: true}
}

// notReady tells why a node is not Ready, or nothing.
func notReady(n corev1.Node) string {
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		if c.Status == corev1.ConditionTrue {
			return ""
		}
		return strings.TrimSpace("is not Ready: " + c.Reason + " " + c.Message)
	}
	return "has not reported whether it is Ready"
}
