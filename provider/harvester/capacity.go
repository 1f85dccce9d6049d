// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// amount is processors, in thousandths, and memory, in bytes.
type amount struct{ cpu, memory int64 }

func (a amount) String() string {
	return fmt.Sprintf("%.1f cores and %.1f GiB", float64(a.cpu)/1000, float64(a.memory)/(1<<30))
}

func (a amount) plus(l corev1.ResourceList) amount {
	return amount{a.cpu + l.Cpu().MilliValue(), a.memory + l.Memory().Value()}
}

// capacity compares processors and memory of the machines with what the nodes
// have. Because Harvester overcommits, only a machine that no node can hold is
// refused.
func (p preflight) capacity(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	nodes := &corev1.NodeList{}
	if err := p.api.List(ctx, nodes); err != nil {
		f, err := finding("capacity", apiError("", err))
		return []provider.Finding{f}, err
	}
	pods := &corev1.PodList{}
	err := p.api.List(ctx, pods)
	if err != nil && !forbidden(err) {
		return nil, err
	}
	f := provider.Finding{Check: "capacity"}
	f.Verdict, f.Message, f.Hint = compare(specs, schedulable(nodes), inUse(pods), err == nil)
	return append([]provider.Finding{f}, spread(specs, schedulable(nodes))...), nil
}

// spread warns if control planes have to share a host: the loss of that host may then
// take the quorum of etcd.
func spread(specs []provider.MachineSpec, nodes []amount) []provider.Finding {
	planes := 0
	for _, s := range specs {
		if s.Role == v1alpha1.RoleControlPlane {
			planes++
		}
	}
	if planes < 2 || len(nodes) == 0 {
		return nil
	}
	f := provider.Finding{Check: "hosts for control planes", Verdict: provider.Passed}
	if len(nodes) < planes {
		f.Verdict = provider.Unknown
		f.Message = fmt.Sprintf("%d control planes are asked for, and %d hosts take machines: control planes share a host, and its loss or drain may stop the cluster", planes, len(nodes))
		f.Hint = "add hosts, or accept it"
	}
	return []provider.Finding{f}
}

func compare(specs []provider.MachineSpec, nodes []amount, used amount, usedKnown bool) (v provider.Verdict, message, hint string) {
	var asked, have amount
	var largest, node int64
	for _, s := range specs {
		asked.cpu += int64(s.CPU) * 1000
		asked.memory += int64(s.MemoryMB) << 20
		largest = max(largest, int64(s.MemoryMB)<<20)
	}
	for _, n := range nodes {
		have.cpu += n.cpu
		have.memory += n.memory
		node = max(node, n.memory)
	}
	free := amount{have.cpu - used.cpu, have.memory - used.memory}
	switch {
	case len(nodes) == 0:
		return provider.Unknown, "Harvester shows no node that takes machines", "make a node schedulable"
	case largest > node:
		return provider.Refused, fmt.Sprintf("a machine asks for %.1f GiB of memory, and no node has more than %.1f GiB", float64(largest)/(1<<30), float64(node)/(1<<30)), "make it smaller"
	case !usedKnown:
		return provider.Unknown, fmt.Sprintf("%s are asked for; the nodes have %s, but what is in use may not be read", asked, have), "grant list on pods"
	case asked.cpu > free.cpu || asked.memory > free.memory:
		return provider.Unknown, fmt.Sprintf("%s are asked for, and %s are free; whether overcommit makes room is not known", asked, free), "free some, or ask for less"
	}
	return provider.Passed, fmt.Sprintf("%s are asked for, and %s are free", asked, free), ""
}

// schedulable is what each node that takes machines has for them.
func schedulable(nodes *corev1.NodeList) []amount {
	var all []amount
	for i := range nodes.Items {
		if !nodes.Items[i].Spec.Unschedulable {
			all = append(all, amount{}.plus(nodes.Items[i].Status.Allocatable))
		}
	}
	return all
}

// inUse is what the pods that are not over have reserved, virtual machines
// included: each runs in a pod.
func inUse(pods *corev1.PodList) amount {
	var used amount
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		for c := range p.Spec.Containers {
			used = used.plus(p.Spec.Containers[c].Resources.Requests)
		}
	}
	return used
}
