// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// counting counts what a reconciler makes and deletes.
type counting struct {
	client.Client
	changes []string
}

func (c *counting) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	c.changes = append(c.changes, "create "+o.GetName())
	return c.Client.Create(ctx, o, opts...)
}

func (c *counting) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	c.changes = append(c.changes, "delete "+o.GetName())
	return c.Client.Delete(ctx, o, opts...)
}

// claimOn records that an id is that of the copy, as a pivot does.
func (w *fixture) claimOn(to client.Client, o client.Object) {
	w.Helper()
	if o.GetAnnotations()[v1alpha1.AnnotationClaimedBy] == "" {
		return
	}
	before := o.DeepCopyObject().(client.Object)
	o.GetAnnotations()[v1alpha1.AnnotationClaimedBy] = string(o.GetUID())
	w.must(to.Patch(w.Context(), o, client.MergeFrom(before)))
}

// copyTo writes what a plane has of a cluster to another one, status and all.
func (w *fixture) copyTo(to client.Client) {
	w.Helper()
	w.must(to.Create(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}))
	for _, list := range []client.ObjectList{
		&corev1.SecretList{}, &v1alpha1.ProviderConfigList{}, &v1alpha1.ClusterBootstrapList{}, &v1alpha1.MachineRequestList{},
	} {
		w.must(w.List(w.Context(), list, client.InNamespace(w.namespace)))
		objects, err := meta.ExtractList(list)
		w.must(err)
		for _, object := range objects {
			o := object.(client.Object)
			o.SetResourceVersion("")
			o.SetUID("")
			status := o.DeepCopyObject().(client.Object)
			w.must(to.Create(w.Context(), o))
			w.claimOn(to, o)
			if _, is := o.(*corev1.Secret); is {
				continue
			}
			status.SetResourceVersion(o.GetResourceVersion())
			status.SetUID(o.GetUID())
			w.must(to.Status().Update(w.Context(), status))
		}
	}
}

func (w *fixture) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// TestClusterThatHasMovedContinuesAsItWas takes a cluster to another API server, as a
// pivot does, and walks there.
func TestClusterThatHasMovedContinuesAsItWas(t *testing.T) {
	s := newSite(t, v1alpha1.ProviderHarvester, false)
	s.create(haBootstrap(v1alpha1.ProviderHarvester, 0))
	s.walkUntil("Ready", isReady)
	s.annotate("dev", v1alpha1.AnnotationFenced, "the plane moves")
	there, err := client.New(planetest.Start(t, plane.Options{}).Config(), client.Options{Scheme: s.Scheme()})
	s.must(err)
	s.copyTo(there)
	calls := s.platform.Machines()

	counted := &counting{Client: there}
	moved := *s.fixture
	moved.Client, moved.Reconciler = there, withoutMemory(s.Reconciler)
	moved.Reconciler.Client, moved.Live = counted, there
	before := moved.get("dev")
	if after := moved.reconcile("dev"); after.ResourceVersion != before.ResourceVersion {
		t.Error("the new plane acts behind its fence")
	}
	moved.annotate("dev", v1alpha1.AnnotationPlane, v1alpha1.PlaneSelf)
	moved.annotate("dev", v1alpha1.AnnotationEpoch, "1")
	moved.annotate("dev", v1alpha1.AnnotationFenced, "")
	made := moved.made()
	cb := moved.reconcile("dev")
	if cb.Status.Phase != v1alpha1.BootstrapReady || !isReady(cb) {
		t.Errorf("after the first walk: phase %s, %+v", cb.Status.Phase, progressing(cb))
	}
	if c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionPivoted); c == nil || c.Status != metav1.ConditionTrue || c.Reason != "Pivoted" {
		t.Errorf("%+v", c)
	}
	if diff := cmp.Diff(before.Status.Machines, cb.Status.Machines); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(made, moved.made()); diff != "" || len(counted.changes) != 0 {
		t.Errorf("%s, %v", diff, counted.changes)
	}
	if diff := cmp.Diff(len(calls), len(s.platform.Machines())); diff != "" {
		t.Error(diff)
	}
	if again := moved.reconcile("dev"); again.ResourceVersion != cb.ResourceVersion {
		t.Errorf("the status was written again: %s", cmp.Diff(cb.Status, again.Status))
	}
	t.Run("moved back it is not what it was on the cluster", func(t *testing.T) {
		moved.annotate("dev", v1alpha1.AnnotationPlane, v1alpha1.PlaneLocal)
		if c := meta.FindStatusCondition(moved.reconcile("dev").Status.Conditions, v1alpha1.ConditionPivoted); c != nil {
			t.Errorf("%+v", c)
		}
	})
}

func TestPhaseDoesNotGoBackOnceThePivotIsDue(t *testing.T) {
	for reason, tc := range map[string]struct {
		was, walked, want v1alpha1.ClusterBootstrapPhase
		err               error
	}{
		"another plane looks at the addons": {v1alpha1.BootstrapPivoting, v1alpha1.BootstrapInstallingAddons, v1alpha1.BootstrapPivoting, nil},
		"it is done":                        {v1alpha1.BootstrapPivoting, v1alpha1.BootstrapReady, v1alpha1.BootstrapReady, nil},
		"it fails":                          {v1alpha1.BootstrapPivoting, v1alpha1.BootstrapPending, v1alpha1.BootstrapFailed, &bootstrap.Failure{Reason: "AmbientCredentials"}},
		"before that it may":                {v1alpha1.BootstrapInstallingAddons, v1alpha1.BootstrapBootstrappingCluster, v1alpha1.BootstrapBootstrappingCluster, nil},
	} {
		cb := &v1alpha1.ClusterBootstrap{Status: v1alpha1.ClusterBootstrapStatus{Phase: tc.was}}
		var o *bootstrap.Obstacle
		if tc.walked != v1alpha1.BootstrapReady {
			o = &bootstrap.Obstacle{Reason: "Waiting"}
		}
		settle(cb, bootstrap.Progress{Phase: tc.walked, Obstacle: o}, tc.err)
		if cb.Status.Phase != tc.want {
			t.Errorf("%s: %s", reason, cb.Status.Phase)
		}
	}
}
