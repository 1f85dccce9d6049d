// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"slices"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// essence is what must be the same on whichever plane is in charge.
func essence(s set) map[string]any {
	out := map[string]any{}
	for key, o := range s {
		if key.Kind == butlerKind {
			continue
		}
		o = o.DeepCopy()
		for _, a := range []string{v1alpha1.AnnotationFenced, v1alpha1.AnnotationPlane, v1alpha1.AnnotationEpoch, "own"} {
			unstructured.RemoveNestedField(o.Object, "metadata", "annotations", a)
		}
		fields := content(o)
		fields["claims"] = claims(o)
		unstructured.RemoveNestedField(fields, "metadata", "annotations", v1alpha1.AnnotationClaimedBy)
		if key.Kind == providerKind {
			unstructured.RemoveNestedField(fields, "metadata", "finalizers")
		} else {
			fields["status"] = o.Object["status"]
			withoutGenerations(fields["status"])
		}
		if annotations, _, _ := unstructured.NestedMap(fields, "metadata", "annotations"); len(annotations) == 0 {
			unstructured.RemoveNestedField(fields, "metadata", "annotations")
		}
		fields["deleting"] = o.GetDeletionTimestamp() != nil
		out[key.String()] = fields
	}
	return out
}

func withoutGenerations(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "observedGeneration")
		for _, item := range v {
			withoutGenerations(item)
		}
	case []any:
		for _, item := range v {
			withoutGenerations(item)
		}
	}
}

// expectMoved sees that the cluster has all, and that the local plane holds still.
func (w *fixture) expectMoved(before map[string]any) {
	w.Helper()
	if got := w.inCharge(); got != "cluster" {
		w.Errorf("in charge: %s", got)
	}
	here, there := w.standing(local), w.standing(cluster)
	if here.Stage != Done || there.Stage != Done || here.Epoch != there.Epoch || there.Epoch == 0 || there.Kind != v1alpha1.PlaneSelf {
		w.Errorf("local %+v, cluster %+v", here, there)
	}
	if diff := cmp.Diff(before, essence(w.everything(cluster))); diff != "" {
		w.Error(diff)
	}
	for key := range w.everything(local) {
		if key.Kind == machineKind {
			w.Errorf("%s is still on the local plane", key)
		}
	}
}

// expectBack sees that nothing has come of a move.
func (w *fixture) expectBack(before map[string]any) {
	w.Helper()
	if got := w.inCharge(); got != "local" {
		w.Errorf("in charge: %s", got)
	}
	if diff := cmp.Diff(before, essence(w.everything(local))); diff != "" {
		w.Error(diff)
	}
}

// expectHandedOver sees that the cluster has no more than before any move.
func (w *fixture) expectHandedOver() {
	w.Helper()
	var got []string
	for key := range w.everything(cluster) {
		got = append(got, key.String())
	}
	slices.Sort(got)
	want := []string{"ButlerConfig butler", "ProviderConfig butler-system/harvester-prod", "Secret elsewhere/harvester"}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Error(diff)
	}
}
