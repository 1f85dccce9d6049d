// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
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

// manner is how an instance lost its pod.
type manner int

const (
	stays   manner = iota // it did not
	evicted               // by the eviction API, as in a drain
	deleted               // otherwise
)

// departure is the last pod of an instance that went.
type departure struct {
	instance types.UID
	how      manner
}

// podGone notes that the pod of an instance is gone, and has its machine looked at.
func (r *machines) podGone(_ context.Context, e event.TypedDeleteEvent[client.Object], queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	owner := metav1.GetControllerOf(e.Object)
	pod, ok := e.Object.(*corev1.Pod)
	if !ok || owner == nil || owner.Kind != kubevirtv1.VirtualMachineInstanceGroupVersionKind.Kind {
		return
	}
	how := deleted
	if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	}) {
		how = evicted
	}
	name := types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}
	r.mu.Lock()
	r.departed[name] = departure{owner.UID, how}
	r.mu.Unlock()
	queue.Add(reconcile.Request{NamespacedName: name})
}

// takeDeparture reports once how an instance lost its pod.
func (r *machines) takeDeparture(name types.NamespacedName, instance types.UID) manner {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.departed[name]
	delete(r.departed, name)
	if d.instance != instance {
		return stays
	}
	return d.how
}

func (r *machines) forgetInstance(vmi *kubevirtv1.VirtualMachineInstance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asked, vmi.UID)
	delete(r.departed, client.ObjectKeyFromObject(vmi))
}

// leave carries on with an instance that lost its pod. KubeVirt moves one that was
// evicted and may be migrated; here the move is over at once. Any other guest is shut
// down, cleanly.
func (r *machines) leave(ctx context.Context, id string, vmi *kubevirtv1.VirtualMachineInstance, how manner) error {
	before := vmi.DeepCopy()
	migrates, err := r.migrates(ctx, vmi)
	if err != nil {
		return err
	}
	if how == evicted && migrates {
		// Without a host that takes it, the guest stays where it is.
		if _, err := r.schedule(ctx, vmi, vmi.Status.NodeName); err != nil {
			return err
		}
		if err := r.ensurePod(ctx, vmi); err != nil {
			return err
		}
		return r.save(ctx, vmi, before)
	}
	r.powerOff(id)
	setEnded(vmi, true, time.Now())
	return r.save(ctx, vmi, before)
}

// migrates reports whether KubeVirt moves an instance to another host: its strategy says
// so, and two hosts can open all its disks.
func (r *machines) migrates(ctx context.Context, vmi *kubevirtv1.VirtualMachineInstance) (bool, error) {
	strategy := vmi.Spec.EvictionStrategy
	if strategy == nil || *strategy != kubevirtv1.EvictionStrategyLiveMigrate && *strategy != kubevirtv1.EvictionStrategyLiveMigrateIfPossible {
		return false, nil
	}
	for _, name := range claimsOf(vmi.Namespace, &vmi.Spec) {
		claim := &corev1.PersistentVolumeClaim{}
		if err := r.Get(ctx, parseName(name), claim); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		if !slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteMany) {
			return false, nil
		}
	}
	return true, nil
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
	after, hit := r.faults.Drained(vmi.Name)
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
	if client.IgnoreNotFound(err) != nil {
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
