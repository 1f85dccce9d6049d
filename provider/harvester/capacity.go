// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
)

// capacity compares the machines with what the nodes have.
func (p preflight) capacity(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	nodes, pods := &corev1.NodeList{}, &corev1.PodList{}
	if err := p.api.List(ctx, nodes); err != nil {
		f, err := check.Verdict("capacity", apiError("", err))
		return []provider.Finding{f}, err
	}
	pool := check.Pool{Hosts: schedulable(nodes), Grant: "grant list on pods"}
	err := p.api.List(ctx, pods)
	if err != nil && !forbidden(err) {
		return nil, err
	}
	if err == nil {
		pool.Used = new(inUse(pods))
	}
	return append([]provider.Finding{pool.Capacity(specs)}, pool.Spread(specs)...), nil
}

func amount(l corev1.ResourceList) check.Amount {
	return check.Amount{CPU: l.Cpu().MilliValue(), Memory: l.Memory().Value()}
}

// schedulable is what each node that takes machines has for them.
func schedulable(nodes *corev1.NodeList) []check.Amount {
	var all []check.Amount
	for i := range nodes.Items {
		if !nodes.Items[i].Spec.Unschedulable {
			all = append(all, amount(nodes.Items[i].Status.Allocatable))
		}
	}
	return all
}

// inUse is what the pods that are not over have reserved, virtual machines
// included: each runs in a pod.
func inUse(pods *corev1.PodList) check.Amount {
	var used check.Amount
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		for c := range p.Spec.Containers {
			used = used.Plus(amount(p.Spec.Containers[c].Resources.Requests))
		}
	}
	return used
}
