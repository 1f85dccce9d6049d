// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// drainTimeout limits an eviction of the fault plan.
const drainTimeout = 10 * time.Second

// podGone notes that the pod of an instance is gone, and has its machine looked at.
func (r *machines) podGone(_ context.Context, e event.TypedDeleteEvent[client.Object], queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	owner := metav1.GetControllerOf(e.Object)
	pod, ok := e.Object.(*corev1.Pod)
	if !ok || owner == nil || owner.Kind != kubevirtv1.VirtualMachineInstanceGroupVersionKind.Kind {
		return
	}
	name := types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}
	if r.noteDeparture(name, owner.UID, pod.UID) {
		queue.Add(reconcile.Request{NamespacedName: name})
	}
}

// noteDeparture notes that an instance lost its pod, unless it left that pod itself.
func (r *machines) noteDeparture(name types.NamespacedName, instance, pod types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.moved[pod] {
		delete(r.moved, pod)
		return false
	}
	r.departed[name] = instance
	return true
}

// takeDeparture reports once that an instance lost its pod.
func (r *machines) takeDeparture(name types.NamespacedName, instance types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	lost := r.departed[name]
	delete(r.departed, name)
	return lost == instance
}

func (r *machines) forgetInstance(vmi *kubevirtv1.VirtualMachineInstance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asked, vmi.UID)
	delete(r.departed, client.ObjectKeyFromObject(vmi))
}

// leave shuts down, cleanly, the guest of an instance that lost its pod.
func (r *machines) leave(ctx context.Context, id string, vmi *kubevirtv1.VirtualMachineInstance) error {
	before := vmi.DeepCopy()
	r.datacenter.PowerOff(id)
	setEnded(vmi, true, time.Now())
	return r.save(ctx, vmi, before)
}

// drainAsPlanned has the host of an instance drained if the fault plan says so. Each plan
// is asked once for each instance.
func (r *machines) drainAsPlanned(vmi *kubevirtv1.VirtualMachineInstance) {
	plan := r.faults.Replaced()
	r.mu.Lock()
	known := plan == nil || r.asked[vmi.UID] == plan
	r.asked[vmi.UID] = plan
	r.mu.Unlock()
	if known {
		return
	}
	after, hit := r.faults.DrainedAfter(vmi.Name)
	if !hit {
		return
	}
	pod := launcherPod(vmi)
	time.AfterFunc(after, func() { r.evict(pod) })
}

func (r *machines) evict(pod *corev1.Pod) {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	err := r.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}})
	if client.IgnoreNotFound(err) != nil && !apierrors.IsTooManyRequests(err) { // the answer of KubeVirt when it migrates
		r.log.Error("a planned drain has no effect", "pod", pod.Name, "err", err)
	}
}

func (r *machines) isRerun(vm *kubevirtv1.VirtualMachine) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reruns[string(vm.UID)]
}

// setRerun notes whether a machine is to start again. The status shows it too, but the
// cache may show an older one.
func (r *machines) setRerun(vm *kubevirtv1.VirtualMachine, rerun bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rerun {
		r.reruns[string(vm.UID)] = true
	} else {
		delete(r.reruns, string(vm.UID))
	}
}

func (r *machines) forgetRerun(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.reruns, id)
}
