// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/diagnosis"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/step"
)

// kubernetes asks the Kubernetes API of the cluster, as soon as there are credentials for it.
func (g *gatherer) kubernetes(ctx context.Context) {
	if g.facts.Plane.SimulatorStopped || g.facts.Plane.Silent != "" {
		return
	}
	c, err := g.administrator(ctx)
	if apierrors.IsNotFound(err) {
		return
	}
	g.facts.API.Asked = true
	if err == nil {
		err = g.objects(ctx, c)
	}
	if err != nil {
		g.facts.API.Error = step.Stable(err)
	}
}

func (g *gatherer) administrator(ctx context.Context) (client.Client, error) {
	if g.facts.Plane.SelfHosted {
		return g.plane, nil
	}
	return selfhosted.ConnectAsAdministrator(ctx, g.Workspace, g.plane, g.cluster)
}

// objects reads nodes, pods, and tenants.
func (g *gatherer) objects(ctx context.Context, c client.Client) error {
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return err
	}
	for _, n := range nodes.Items {
		g.node(n.Name).NotReady = notReady(n)
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods); err != nil {
		return err
	}
	known := map[string]bool{}
	for i := range pods.Items {
		if p, bad := podOf(&pods.Items[i]); bad {
			g.facts.Pods = append(g.facts.Pods, p)
			known["Pod/"+p.Namespace+"/"+p.Name] = true
		}
	}
	err := g.warnings(ctx, c, func(e eventsv1.Event) (string, bool) {
		id := e.Regarding.Kind + "/" + e.Regarding.Namespace + "/" + e.Regarding.Name
		return id, known[id]
	})
	if err != nil {
		return err
	}
	return g.tenants(ctx, c)
}

func (g *gatherer) node(name string) *diagnosis.Node {
	for i := range g.facts.Nodes {
		if g.facts.Nodes[i].Name == name {
			return &g.facts.Nodes[i]
		}
	}
	g.facts.Nodes = append(g.facts.Nodes, diagnosis.Node{Name: name})
	return &g.facts.Nodes[len(g.facts.Nodes)-1]
}

// notReady is why a node is not Ready; empty if it is.
func notReady(n corev1.Node) string {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return strings.TrimSpace("is not Ready: " + c.Reason + " " + c.Message)
		}
	}
	return ""
}

// podOf returns why a pod is not ready.
func podOf(p *corev1.Pod) (diagnosis.Pod, bool) {
	reason, message := install.PodProblem(p)
	return diagnosis.Pod{Namespace: p.Namespace, Name: p.Name, Node: p.Spec.NodeName, Reason: reason, Message: message}, reason != ""
}
