// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package deployed

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/controller/program"
)

// serverWith is an API server with these objects.
func serverWith(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme, err := program.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func deployment(name string, replicas, ready int32) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: addon.PlatformNamespace, Name: name}}
	d.Spec.Replicas, d.Status.ReadyReplicas = new(replicas), ready
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	return d
}

func podOf(name, node string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: addon.PlatformNamespace, Name: name + "-" + node, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase},
	}
}

func nodeThatIs(name string, ready corev1.ConditionStatus) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	return n
}

// A pod that was evicted, or that ended with its node, stays listed for ever.
func TestControllersSleepOnceTheirPodsHaveEnded(t *testing.T) {
	const name = addon.ButlerBootstrap
	for phase, want := range map[corev1.PodPhase]string{
		corev1.PodPending: "waiting for pod butler-bootstrap-b to end", corev1.PodRunning: "waiting for pod butler-bootstrap-b to end",
		corev1.PodFailed: "", corev1.PodSucceeded: "",
	} {
		c := serverWith(t, nodeThatIs("lost", corev1.ConditionUnknown), nodeThatIs("b", corev1.ConditionTrue),
			podOf(name, "lost", corev1.PodRunning), podOf(name, "b", phase))
		got, err := activeController(t.Context(), c, []appsv1.Deployment{*deployment(name, 0, 0)}, leaseWatch{})
		if err != nil || got != want {
			t.Errorf("beside a pod that is %s: %q, %v", phase, got, err)
		}
	}
}

// A cluster without its controllers has no process that could take over.
func TestEveryControllerHasToBeAtWork(t *testing.T) {
	both := []client.Object{deployment("butler-bootstrap", 2, 1), deployment("butler-provider-harvester", 2, 2)}
	for want, objects := range map[string][]client.Object{
		"": both,
		"the cluster has no Deployment butler-bootstrap in butler-system":          nil,
		"the cluster has no Deployment butler-provider-harvester in butler-system": {both[0], deployment("butler-provider-aws", 1, 1)},
		"no pod of Deployment butler-system/butler-provider-harvester is ready":    {both[0], deployment("butler-provider-harvester", 1, 0)},
	} {
		said := ""
		if err := CheckRunning(t.Context(), serverWith(t, objects...), v1alpha1.ProviderHarvester); err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("said %q, not %q", said, want)
		}
	}
	for want, d := range map[string]*appsv1.Deployment{"": deployment("butler-bootstrap", 0, 1), "butler-bootstrap": deployment("butler-bootstrap", 1, 0)} {
		if got, err := FindRunning(t.Context(), serverWith(t, d)); got != want || err != nil {
			t.Errorf("%q is awake, not %q: %v", got, want, err)
		}
	}
}
