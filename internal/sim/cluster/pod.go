// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// runPods follows the pods that the scheduler puts on the node until ctx ends.
func (s *session) runPods(ctx context.Context) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer context.AfterFunc(ctx, queue.ShutDown)()
	store, informer := s.follow(queue)
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return
	}
	for _, key := range s.containers.keys() {
		queue.Add(key) // its pod may have gone meanwhile
	}
	go s.resume(ctx, queue, store)
	for {
		key, shutdown := queue.Get()
		if shutdown {
			return
		}
		s.handle(ctx, queue, store, key)
		queue.Done(key)
	}
}

func (s *session) follow(queue workqueue.TypedInterface[string]) (cache.Store, cache.Controller) {
	enqueue := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			queue.Add(key)
		}
	}
	mine := fields.OneTermEqualSelector("spec.nodeName", s.Node.Name)
	return cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(s.client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, mine),
		ObjectType:    &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    enqueue,
			UpdateFunc: func(_, o any) { enqueue(o) },
			DeleteFunc: enqueue,
		},
	})
}

// resume looks again at the pods that had to wait for the node to be Ready.
func (s *session) resume(ctx context.Context, queue workqueue.TypedInterface[string], store cache.Store) {
	select {
	case <-ctx.Done():
	case <-s.ready:
		for _, key := range store.ListKeys() {
			queue.Add(key)
		}
	}
}

func (s *session) handle(ctx context.Context, queue workqueue.TypedRateLimitingInterface[string], store cache.Store, key string) {
	object, exists, err := store.GetByKey(key)
	switch {
	case err == nil && exists:
		err = s.syncPod(ctx, key, object.(*corev1.Pod).DeepCopy())
	case err == nil:
		s.containers.stop(key)
	}
	if err == nil || apierrors.IsNotFound(err) {
		queue.Forget(key)
		return
	}
	queue.AddRateLimited(key)
}

func (s *session) syncPod(ctx context.Context, key string, pod *corev1.Pod) error {
	pods := s.client.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.DeletionTimestamp != nil:
		s.containers.stop(key)
		return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(0)),
			Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
		})
	case pod.Status.Phase == corev1.PodRunning:
		if s.Containers != nil {
			s.containers.start(key, pod, s.Containers)
		}
		return nil
	case pod.Status.Phase != corev1.PodPending && pod.Status.Phase != "":
		return nil
	case !pod.Spec.HostNetwork && !s.isReady():
		return nil // resume comes back to it
	}
	pod.Status = s.podStatus(pod)
	_, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

func (s *session) isReady() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// podStatus is that of a pod whose containers all started, or, for one that is
// to end, all ended well.
func (k *Kubelet) podStatus(pod *corev1.Pod) corev1.PodStatus {
	now := metav1.Now()
	ends := pod.Spec.RestartPolicy != corev1.RestartPolicyAlways
	status := corev1.PodStatus{
		Phase:     corev1.PodRunning,
		HostIP:    k.Node.Address.String(),
		HostIPs:   []corev1.HostIP{{IP: k.Node.Address.String()}},
		PodIP:     k.Node.podAddress(pod),
		PodIPs:    []corev1.PodIP{{IP: k.Node.podAddress(pod)}},
		StartTime: &now,
		QOSClass:  pod.Status.QOSClass,
	}
	if ends {
		status.Phase = corev1.PodSucceeded
	}
	status.Conditions = podConditions(now, ends)
	for _, c := range pod.Spec.InitContainers {
		always := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		started := containerStatus(c, now, !always || ends)
		started.Ready = true // of an init container: it ended well
		status.InitContainerStatuses = append(status.InitContainerStatuses, started)
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, containerStatus(c, now, ends))
	}
	return status
}

func podConditions(now metav1.Time, ended bool) []corev1.PodCondition {
	ready, reason := corev1.ConditionTrue, ""
	if ended {
		ready, reason = corev1.ConditionFalse, "PodCompleted"
	}
	return []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: now},
		{Type: corev1.ContainersReady, Status: ready, Reason: reason, LastTransitionTime: now},
		{Type: corev1.PodReady, Status: ready, Reason: reason, LastTransitionTime: now},
	}
}

func containerStatus(c corev1.Container, now metav1.Time, ended bool) corev1.ContainerStatus {
	status := corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: c.Image, ContainerID: "emulated://" + c.Name}
	if ended {
		status.Started = new(false)
		status.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}
		return status
	}
	status.Started, status.Ready = new(true), true
	status.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
	return status
}
