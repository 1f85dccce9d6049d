// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/controller/request"
)

const system = "butler-system"

// within is a client of the cluster itself, as its administrator.
func (a adm) within(cluster string) client.Client {
	a.Helper()
	scheme, err := program.Scheme()
	if err != nil {
		a.Fatal(err)
	}
	c, err := client.New(a.config([]byte(a.ok("kubeconfig", cluster).out)), client.Options{Scheme: scheme})
	if err != nil {
		a.Fatal(err)
	}
	return c
}

// machineNames are those of the platform.
func (a adm) machineNames(cluster string) (out []string) {
	a.Helper()
	list, err := a.platform(cluster).Resource(virtualMachines).List(a.Context(), metav1.ListOptions{})
	if err != nil {
		a.Fatal(err)
	}
	for _, item := range list.Items {
		out = append(out, item.GetName())
	}
	return out
}

// expectSelfManaged looks at both planes after a pivot.
func expectSelfManaged(t *testing.T, a adm, cluster string) {
	t.Helper()
	a = adm{t, a.path, a.home}
	key := client.ObjectKey{Namespace: system, Name: cluster}
	there, c := &v1alpha1.ClusterBootstrap{}, a.within(cluster)
	if err := c.Get(t.Context(), key, there); err != nil {
		t.Fatal(err)
	}
	if there.Annotations[v1alpha1.AnnotationPlane] != v1alpha1.PlaneSelf || there.Annotations[v1alpha1.AnnotationFenced] != "" {
		t.Errorf("the cluster has %v", there.Annotations)
	}
	if !meta.IsStatusConditionTrue(there.Status.Conditions, v1alpha1.ConditionPivoted) {
		t.Errorf("the cluster has the conditions %+v", there.Status.Conditions)
	}
	report := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: system, Name: cluster + "-pivot"}, report); err != nil || !strings.Contains(report.Data["report"], `"differences"`) {
		t.Errorf("the report is %v: %v", report.Data, err)
	}
	var requests v1alpha1.MachineRequestList
	if err := c.List(t.Context(), &requests); err != nil || len(requests.Items) != 6 {
		t.Errorf("%d requests on the cluster: %v", len(requests.Items), err)
	}
	a.withPlane(filepath.Join(a.home, "rehearsals", cluster, "plane"), func(local client.Client) {
		here := &v1alpha1.ClusterBootstrap{}
		var requests v1alpha1.MachineRequestList
		if err := local.Get(t.Context(), key, here); err != nil || here.Annotations[v1alpha1.AnnotationFenced] == "" {
			t.Errorf("this machine's plane is not fenced: %v, %v", here.Annotations, err)
		}
		if err := local.List(t.Context(), &requests); err != nil || len(requests.Items) != 0 {
			t.Errorf("%d requests are left on this machine: %v", len(requests.Items), err)
		}
	})
}

// expectRequestsServed has the cluster's own controllers create a machine and
// delete it. A copy of its request is refused.
func expectRequestsServed(t *testing.T, a adm, cluster string) {
	t.Helper()
	a = adm{t, a.path, a.home}
	c := a.within(cluster)
	var all v1alpha1.MachineRequestList
	if err := c.List(t.Context(), &all, client.InNamespace(system)); err != nil || len(all.Items) == 0 {
		t.Fatalf("%d requests: %v", len(all.Items), err)
	}
	extra := &v1alpha1.MachineRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "extra"},
		Spec: v1alpha1.MachineRequestSpec{
			ProviderRef: all.Items[0].Spec.ProviderRef, MachineName: "extra", Role: v1alpha1.RoleWorker,
			CPU: 2, MemoryMB: 2048, DiskGB: 20,
		},
	}
	if err := c.Create(t.Context(), extra); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(extra), extra)
		return err == nil && extra.Status.Phase == v1alpha1.MachineRunning
	})
	if !slices.Contains(a.machineNames(cluster), "extra") {
		t.Error("the platform has no machine extra")
	}
	copied := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "copy", Annotations: extra.Annotations}, Spec: extra.Spec}
	if err := c.Create(t.Context(), copied); err == nil || !strings.Contains(err.Error(), "belongs to another object") {
		t.Errorf("a copy was not refused: %v", err)
	}
	if err := c.Delete(t.Context(), extra); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(extra), extra))
	})
	if slices.Contains(a.machineNames(cluster), "extra") {
		t.Error("machine extra is still there")
	}
}

// expectKept deletes on a cluster that manages itself what it needs to exist.
func expectKept(t *testing.T, a adm, cluster string) {
	t.Helper()
	a = adm{t, a.path, a.home}
	c := a.within(cluster)
	kind := &metav1.PartialObjectMetadata{}
	kind.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	kind.SetName("machinerequests." + v1alpha1.Group)
	for _, o := range []client.Object{kind, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system}}} {
		if err := c.Delete(t.Context(), o); err == nil || !strings.Contains(err.Error(), "manages itself") {
			t.Errorf("%T %s may be deleted: %v", o, o.GetName(), err)
		}
	}
	before := a.machineNames(cluster)
	if err := c.DeleteAllOf(t.Context(), &v1alpha1.MachineRequest{}, client.InNamespace(system)); err != nil {
		t.Fatal(err)
	}
	var all v1alpha1.MachineRequestList
	waitFor(t, func() bool {
		err := c.List(t.Context(), &all, client.InNamespace(system))
		return err == nil && !slices.ContainsFunc(all.Items, func(r v1alpha1.MachineRequest) bool {
			return request.ReadyReason(r.Status.Conditions) != request.ReasonSelfHosted
		})
	})
	if after := a.machineNames(cluster); len(all.Items) != 6 || len(before) != 6 || !slices.Equal(before, after) {
		t.Errorf("%d requests; machines %v became %v", len(all.Items), before, after)
	}
}

// spoilLogin takes the credentials of the platform from the cluster's own
// controllers.
func spoilLogin(t *testing.T, a adm, cluster string) {
	t.Helper()
	c, secret := a.within(cluster), &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "harvester-kubeconfig"}, secret); err != nil {
		t.Fatal(err)
	}
	secret.Data["kubeconfig"] = []byte("spoilt")
	if err := c.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

// expectFound distinguishes a cluster that manages others too from them, and its
// controllers that sleep from those that work.
func expectFound(t *testing.T, a adm, cluster string) {
	t.Helper()
	a = adm{t, a.path, a.home}
	c := a.within(cluster)
	own := &v1alpha1.ClusterBootstrap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: system, Name: cluster}, own); err != nil {
		t.Fatal(err)
	}
	other := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "another"}, Spec: own.Spec}
	other.Spec.Cluster.Name, other.Spec.Paused = "another", true
	if err := c.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if r := a.ok("status", cluster); !strings.Contains(r.out, "plane:     the cluster itself, epoch 1\n") || r.err != "" {
		t.Errorf("beside another cluster, status says\n%s%s", r.out, r.err)
	}
	if err := c.Delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	controller := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "butler-bootstrap"}}
	for _, asleep := range []string{`"2"`, "null"} {
		patch := []byte(`{"metadata":{"annotations":{"butler.butlerlabs.dev/replicas":` + asleep + `}}}`)
		if err := c.Patch(t.Context(), controller, client.RawPatch(types.MergePatchType, patch)); err != nil {
			t.Fatal(err)
		}
		if r := a.ok("status", cluster); strings.Contains(r.out, "its controllers are stopped") != (asleep != "null") {
			t.Errorf("with replicas %s before, status says\n%s", asleep, r.out)
		}
	}
	waitFor(t, func() bool { return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(other), other)) })
}
