// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
)

// follow prepares a view of the pods that the scheduler puts on the node.
func (s *session) follow() cache.Controller {
	enqueue := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			s.queue.Add(key)
		}
	}
	mine := fields.OneTermEqualSelector("spec.nodeName", s.Node.Name)
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(s.client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, mine),
		ObjectType:    &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    enqueue,
			UpdateFunc: func(_, o any) { enqueue(o) },
			DeleteFunc: enqueue,
		},
	})
	s.pods = store
	return controller
}

// runPods does what the pods of the node need until ctx ends.
func (s *session) runPods(ctx context.Context, pods cache.Controller) {
	go pods.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced) {
		return
	}
	for _, object := range s.pods.List() {
		pod := object.(*corev1.Pod)
		s.addresses.keep(keyOf(pod), pod)
	}
	for _, key := range s.containers.keys() {
		s.queue.Add(key) // its pod may have gone meanwhile
	}
	go s.resume(ctx)
	if s.Faults != nil {
		go s.watchFaults(ctx)
	}
	for {
		key, shutdown := s.queue.Get()
		if shutdown {
			return
		}
		s.handle(ctx, key)
		s.queue.Done(key)
	}
}

func keyOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// resume looks again at the pods that had to wait for the node to be Ready.
func (s *session) resume(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.ready:
		for _, key := range s.pods.ListKeys() {
			s.queue.Add(key)
		}
	}
}

func (s *session) handle(ctx context.Context, key string) {
	object, exists, err := s.pods.GetByKey(key)
	var again time.Duration
	switch {
	case err == nil && exists:
		again, err = s.syncPod(ctx, key, object.(*corev1.Pod).DeepCopy())
	case err == nil && s.containers.stop(key):
		s.addresses.release(key)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		s.queue.AddRateLimited(key)
		return
	}
	s.queue.Forget(key)
	if again > 0 {
		s.queue.AddAfter(key, again)
	}
}

// syncPod brings a pod to where it is to be now, and says when that may change by
// itself; 0 means that it does not.
func (s *session) syncPod(ctx context.Context, key string, pod *corev1.Pod) (again time.Duration, err error) {
	switch {
	case pod.DeletionTimestamp != nil:
		return 0, s.remove(ctx, key, pod)
	case hasEnded(pod):
		s.addresses.release(key)
		return 0, nil
	case !pod.Spec.HostNetwork && !s.isReady():
		return 0, nil // resume comes back to it
	}
	state, again := s.judge(pod)
	if err := s.reportPod(ctx, key, pod, state); err != nil {
		return 0, err
	}
	if state.phase == corev1.PodRunning && !s.isKept(pod) {
		s.containers.start(key, pod, s.run)
	} else {
		s.containers.stop(key)
	}
	if state.ready && pod.Labels[ciliumLabel] == ciliumAgent {
		s.connect()
	}
	return again, nil
}

// The agent of Cilium on a node is known by its label.
const (
	ciliumLabel = "k8s-app"
	ciliumAgent = "cilium"
)

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// remove confirms the end of a pod once its containers have ended.
func (s *session) remove(ctx context.Context, key string, pod *corev1.Pod) error {
	if !s.containers.stop(key) {
		return nil // their end comes back to it
	}
	return s.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)),
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
}

var errNoAddress = errors.New("all pod addresses of the node are taken")

// reportPod writes the pod's status if it is not what it is to be.
func (s *session) reportPod(ctx context.Context, key string, pod *corev1.Pod, state podState) error {
	if stateOf(pod) == state && pod.Status.PodIP != "" {
		return nil
	}
	address := s.Node.Address
	if !pod.Spec.HostNetwork {
		var ok bool
		if address, ok = s.addresses.find(key); !ok {
			return errNoAddress
		}
	}
	pod.Status = s.podStatus(pod, state, address)
	_, err := s.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// isReady says whether the node is.
func (s *session) isReady() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// run is the life of a pod's containers.
func (k *Kubelet) run(ctx context.Context, pod *corev1.Pod) {
	done := k.runControllers(ctx, pod)
	if k.Containers != nil {
		k.Containers(ctx, pod)
	}
	<-done
}
