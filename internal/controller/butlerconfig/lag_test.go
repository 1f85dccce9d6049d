// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package butlerconfig

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
)

// TestAPassWaitsForTheLastWrite has a team go right after it was counted: to a cache without the
// count nothing has changed.
func TestAPassWaitsForTheLastWrite(t *testing.T) {
	scheme := runtime.NewScheme()
	config := &v1alpha1.ButlerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ButlerConfigName}}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	api := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(config).WithObjects(config).Build()
	r := &Reconciler{Live: api, Recorder: events.NewFakeRecorder(10)}
	r.Client = r.writes.Client(api)
	pass := func(config *v1alpha1.ButlerConfig) (after *v1alpha1.ButlerConfig, again bool) {
		result, err := r.Reconcile(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		after = &v1alpha1.ButlerConfig{}
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(config), after); err != nil {
			t.Fatal(err)
		}
		return after, result.RequeueAfter == lag.Again
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil {
		t.Fatal(err)
	}
	past, _ := pass(config)
	team := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: "blue"}}
	if err := api.Create(t.Context(), team); err != nil {
		t.Fatal(err)
	}
	now, _ := pass(past.DeepCopy())
	if now.Status.TeamCount != 1 {
		t.Fatalf("%+v", now.Status)
	}
	if err := api.Delete(t.Context(), team); err != nil {
		t.Fatal(err)
	}
	if _, again := pass(past.DeepCopy()); !again {
		t.Error("a pass over the object before the last write is the last one")
	}
	if now, _ = pass(now); now.Status.TeamCount != 0 {
		t.Errorf("%+v", now.Status)
	}
}
