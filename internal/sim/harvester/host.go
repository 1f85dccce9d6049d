// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kubevirtv1 "kubevirt.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// hosts are the names of the platform's hosts.
func hosts() []string { return []string{"harvester-0", "harvester-1", "harvester-2"} }

func host(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, "network.harvesterhci.io/mgmt": "true",
	}}}
}

// schedule puts an instance on a host, other than the one that it leaves. It is true if
// no host takes it; the instance then waits, unless it runs.
func (r *machines) schedule(ctx context.Context, vmi *kubevirtv1.VirtualMachineInstance, leaves string) (full bool, err error) {
	if vmi.Status.NodeName != "" && leaves == "" {
		return false, nil
	}
	name, err := r.place(ctx, vmi, leaves)
	if err != nil {
		return false, err
	}
	if name != "" {
		vmi.Status.NodeName = name
		return false, nil
	}
	if leaves == "" {
		setWaiting(vmi, *unschedulable("0/3 nodes are available: 3 node(s) were unschedulable."), time.Now())
	}
	return true, nil
}

// place is the schedulable host with the fewest pods that the instance avoids, then
// with the fewest pods at all.
func (r *machines) place(ctx context.Context, vmi *kubevirtv1.VirtualMachineInstance, leaves string) (string, error) {
	nodes, pods := &corev1.NodeList{}, &corev1.PodList{}
	if err := r.List(ctx, nodes); err != nil {
		return "", err
	}
	if err := r.List(ctx, pods, client.MatchingLabels{kubevirtv1.AppLabel: "virt-launcher"}, client.UnsafeDisableDeepCopy); err != nil {
		return "", err
	}
	best, least := "", 0
	for _, n := range nodes.Items {
		if n.Spec.Unschedulable || n.Name == leaves {
			continue
		}
		if load := load(vmi, n.Name, pods.Items); best == "" || load < least {
			best, least = n.Name, load
		}
	}
	return best, nil
}

func load(vmi *kubevirtv1.VirtualMachineInstance, host string, pods []corev1.Pod) int {
	total := 0
	for i := range pods {
		if pods[i].Spec.NodeName != host {
			continue
		}
		total++
		for _, s := range avoided(vmi) {
			if s.Matches(labels.Set(pods[i].Labels)) {
				total += len(pods)
			}
		}
	}
	return total
}

// avoided are the pods that an instance prefers to have on other hosts.
func avoided(vmi *kubevirtv1.VirtualMachineInstance) (all []labels.Selector) {
	if vmi.Spec.Affinity == nil || vmi.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	for _, t := range vmi.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		if s, err := metav1.LabelSelectorAsSelector(t.PodAffinityTerm.LabelSelector); err == nil && t.PodAffinityTerm.TopologyKey == corev1.LabelHostname {
			all = append(all, s)
		}
	}
	return all
}

// waiting lists the machines that a change of a host may help.
func (r *machines) waiting(ctx context.Context, _ client.Object) []reconcile.Request {
	list := &kubevirtv1.VirtualMachineInstanceList{}
	if err := r.List(ctx, list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list instances")
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if vmi := &list.Items[i]; vmi.Status.NodeName == "" || vmi.IsMarkedForEviction() {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
