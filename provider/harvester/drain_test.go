// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// drainAll evicts the pods of all machines, as a drain of their hosts does, and waits
// until each is gone.
func drainAll(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", shared.API.Admin())
	if err != nil {
		return err
	}
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	pods, err := api.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: kubevirtv1.AppLabel + "=virt-launcher"})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		if err := drainOne(ctx, api, &pods.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func drainOne(ctx context.Context, api kubernetes.Interface, pod *corev1.Pod) error {
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	// KubeVirt refuses with 429 while it migrates; a drain asks again until the pod is gone.
	if err := api.CoreV1().Pods(pod.Namespace).EvictV1(ctx, eviction); err != nil && !apierrors.IsTooManyRequests(err) && !apierrors.IsNotFound(err) {
		return err
	}
	for ctx.Err() == nil {
		vmi := &kubevirtv1.VirtualMachineInstance{}
		owner := metav1.GetControllerOf(pod)
		err := shared.admin.Get(ctx, client.ObjectKey{Namespace: "default", Name: owner.Name}, vmi)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if err != nil || vmi.UID != owner.UID || vmi.Status.NodeName != pod.Spec.NodeName {
			return nil //nolint:nilerr // not found: gone; else another one, or on another host
		}
		time.Sleep(10 * time.Millisecond)
	}
	return ctx.Err()
}

func TestAMachineThatCannotBeMigratedComesBackAfterADrain(t *testing.T) {
	local := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Provisioner: provisionerLVM}
	if err := shared.admin.Create(t.Context(), local); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shared.admin.Delete(context.Background(), local) })
	m := connected(t).Machines
	s := wanted("drained-local", func(s *provider.MachineSpec) {
		s.Owner.ClusterID = ""
		s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 1, StorageClass: "local"}}
	})
	create(t, m, s)
	before := instanceOf(t, s.Name)
	if err := drainAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, m, s.MachineRef, provider.StateRunning)
	if after := instanceOf(t, s.Name); after == before {
		t.Error("the drain had no effect: the instance is the same")
	}
}

func instanceOf(t *testing.T, name string) string {
	t.Helper()
	vmi := &kubevirtv1.VirtualMachineInstance{}
	if err := shared.admin.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, vmi); err != nil {
		t.Fatal(err)
	}
	return string(vmi.UID)
}
