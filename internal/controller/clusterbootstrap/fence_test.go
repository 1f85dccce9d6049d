// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
)

// annotate sets an annotation of a ClusterBootstrap, or takes it off.
func (w *fixture) annotate(name, key, value string) {
	w.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		cb := w.get(name)
		metav1.SetMetaDataAnnotation(&cb.ObjectMeta, key, value)
		if value == "" {
			delete(cb.Annotations, key)
		}
		return w.Update(w.Context(), cb)
	})
	if err != nil {
		w.Fatal(err)
	}
}

func TestFencedClusterIsLeftAlone(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	w.annotate("dev", v1alpha1.AnnotationFenced, "it has moved")
	before := w.get("dev")
	if after := w.reconcile("dev"); after.ResourceVersion != before.ResourceVersion || len(w.made()) != 0 {
		t.Errorf("it was written: %+v, and made %v", after.ObjectMeta, w.made())
	}
	w.annotate("dev", v1alpha1.AnnotationFenced, "")
	if cb := w.reconcile("dev"); cb.Status.Phase != v1alpha1.BootstrapProvisioningMachines {
		t.Fatalf("without the fence: phase %q", cb.Status.Phase)
	}
	t.Run("also when it is deleted", func(t *testing.T) {
		w.annotate("dev", v1alpha1.AnnotationFenced, "it has moved")
		made := w.made()
		if err := w.Delete(t.Context(), w.get("dev")); err != nil {
			t.Fatal(err)
		}
		before := w.get("dev")
		if after := w.reconcile("dev"); after.ResourceVersion != before.ResourceVersion {
			t.Errorf("it was written: %+v", after)
		}
		if now := w.made(); len(now) != len(made) {
			t.Errorf("of %v only %v is left", made, now)
		}
	})
}

func TestFenceInTheMiddleOfAWalkEndsIt(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	w.Reconciler.Client = meddling{w.Client, func() { w.annotate("dev", v1alpha1.AnnotationFenced, "it moves") }}
	result, err := w.Reconcile(t.Context(), w.get("dev"))
	if err != nil || result.RequeueAfter != lag.Again {
		t.Errorf("got %+v, %v", result, err)
	}
	if made, cb := w.made(), w.get("dev"); len(made) != 0 || cb.Status.Phase != "" {
		t.Errorf("it made %v, phase %q", made, cb.Status.Phase)
	}
}

func TestClusterThatManagesItselfDeletesNothing(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	w.reconcile("dev")
	w.annotate("dev", v1alpha1.AnnotationPlane, v1alpha1.PlaneSelf)
	made := w.made()
	w.recorded()
	if err := w.Delete(t.Context(), w.get("dev")); err != nil {
		t.Fatal(err)
	}
	cb := w.reconcile("dev")
	c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionReady)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason != "SelfHosted" || !strings.Contains(c.Message, "butleradm destroy dev") {
		t.Errorf("%+v", c)
	}
	w.reconcile("dev")
	if recorded := w.recorded(); len(recorded) != 1 || recorded[0] != "Warning SelfHosted" {
		t.Errorf("recorded %v", recorded)
	}
	if now := w.made(); len(now) != len(made) {
		t.Errorf("of %v only %v is left", made, now)
	}
	for _, r := range w.requests() {
		if !r.DeletionTimestamp.IsZero() {
			t.Errorf("%s is being deleted", r.Name)
		}
	}
	w.annotate("dev", v1alpha1.AnnotationPlane, v1alpha1.PlaneLocal) // butleradm destroy has moved it back
	if _, err := w.Reconcile(t.Context(), w.get("dev")); err != nil {
		t.Fatal(err)
	}
	if now := w.made(); len(now) != 0 {
		t.Errorf("left: %v", now)
	}
}

func (w *fixture) requests() []v1alpha1.MachineRequest {
	w.Helper()
	var all v1alpha1.MachineRequestList
	if err := w.List(w.Context(), &all, client.InNamespace(w.namespace)); err != nil {
		w.Fatal(err)
	}
	return all.Items
}

func TestAmbientCredentialsAreRefusedBeforeThereAreMachines(t *testing.T) {
	for _, tc := range []struct {
		plane, want string
	}{{v1alpha1.PlaneLocal, "AmbientCredentials"}, {v1alpha1.PlaneSelf, ""}, {"", ""}} {
		w := newFixture(t)
		config := providerConfig()
		config.Spec.CredentialsRef = nil
		config.Spec.Provider, config.Spec.Harvester = v1alpha1.ProviderGCP, nil
		config.Spec.GCP = &v1alpha1.GCPSpec{ProjectID: "project", Region: "region"}
		w.create(config)
		cb := cloudBootstrap()
		cb.Spec.Addons = v1alpha1.AddonsSpec{}
		w.create(cb)
		if tc.plane != "" {
			w.annotate("dev", v1alpha1.AnnotationPlane, tc.plane)
		}
		got := w.reconcile("dev")
		if got.Status.FailureReason != tc.want || tc.want != "" && len(w.made()) != 0 {
			t.Errorf("plane %q: %q %s; made %v", tc.plane, got.Status.FailureReason, got.Status.FailureMessage, w.made())
		}
	}
}
