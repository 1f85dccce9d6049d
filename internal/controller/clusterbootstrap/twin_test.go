// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestACopyWithTheIdOfAnotherClusterDoesNothing(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	first := w.reconcile("dev")
	made := w.made()
	twin := clusterBootstrap()
	twin.Name, twin.Spec.Cluster.Name = "dev-copy", "dev-copy"
	twin.Annotations = map[string]string{v1alpha1.AnnotationClusterID: first.Annotations[v1alpha1.AnnotationClusterID]}
	w.create(twin)
	w.recorded()
	got := w.reconcile("dev-copy")
	if s := got.Status; s.FailureReason != "ClusterIDTaken" || !strings.Contains(s.FailureMessage, w.namespace+"/dev, which is older") || len(s.Machines) != 0 {
		t.Errorf("status %+v", s)
	}
	if !meta.IsStatusConditionTrue(got.Status.Conditions, v1alpha1.ConditionFailed) {
		t.Errorf("conditions %+v", got.Status.Conditions)
	}
	if recorded := w.recorded(); len(recorded) != 1 || recorded[0] != "Warning Failed" {
		t.Errorf("recorded %v", recorded)
	}
	if now := w.made(); len(now) != len(made) {
		t.Errorf("there was %v, and is %v", made, now)
	}
	if cb := w.reconcile("dev"); cb.Status.FailureReason != "" {
		t.Errorf("the older one says %s", cb.Status.FailureMessage)
	}
	if err := w.Delete(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Reconcile(t.Context(), w.get("dev-copy")); err != nil {
		t.Fatal(err)
	}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(got), got); !apierrors.IsNotFound(err) {
		t.Errorf("the copy is still there: %v", err)
	}
	for _, r := range w.requests() {
		if !r.DeletionTimestamp.IsZero() {
			t.Errorf("%s is being deleted", r.Name)
		}
	}
}

// A namespace that is restored on another cluster has everything but the UIDs.
func TestARestoredCopyOfAClusterThatManagesItselfDoesNothing(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	cb := clusterBootstrap()
	cb.Annotations = map[string]string{
		v1alpha1.AnnotationClusterID: "7c1f5a52-0000-4000-8000-000000000001", v1alpha1.AnnotationClaimedBy: "another",
		v1alpha1.AnnotationPlane: v1alpha1.PlaneSelf,
	}
	w.create(cb)
	got := w.reconcile("dev")
	if s := got.Status; s.FailureReason != "ClusterIDTaken" || len(w.requests()) != 0 {
		t.Errorf("%d requests, status %+v", len(w.requests()), s)
	}
	if err := w.Delete(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Reconcile(t.Context(), w.get("dev")); err != nil {
		t.Fatal(err)
	}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(got), got); !apierrors.IsNotFound(err) {
		t.Errorf("the copy is still there: %v", err)
	}
}
