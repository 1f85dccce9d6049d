// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestAFenceWithoutAReasonIsNone(t *testing.T) {
	with := func(annotations map[string]string) *v1alpha1.ClusterBootstrap {
		cb := &v1alpha1.ClusterBootstrap{}
		cb.Annotations = annotations
		return cb
	}
	none, empty := with(nil), with(map[string]string{v1alpha1.AnnotationFenced: ""})
	fenced := with(map[string]string{v1alpha1.AnnotationFenced: "it has moved"})
	if v1alpha1.Fenced(none) || v1alpha1.Fenced(empty) || !v1alpha1.Fenced(fenced) {
		t.Errorf("fenced: none %v, empty %v, with a reason %v", v1alpha1.Fenced(none), v1alpha1.Fenced(empty), v1alpha1.Fenced(fenced))
	}
	smaller := with(nil)
	smaller.Status.Machines = []v1alpha1.BootstrapMachineStatus{{Name: "a"}}
	moved := FenceMoved()
	for reason, tc := range map[string]struct {
		from, to *v1alpha1.ClusterBootstrap
		want     bool
	}{
		"it comes":            {none, fenced, true},
		"it goes":             {fenced, none, true},
		"its reason is taken": {fenced, empty, true},
		"it never was one":    {empty, none, false},
		"the plane changes":   {none, with(map[string]string{v1alpha1.AnnotationPlane: v1alpha1.PlaneSelf}), true},
		"a machine is to go":  {none, with(map[string]string{v1alpha1.AnnotationReplacing: "a 1"}), true},
		"a machine is gone":   {smaller, none, true},
		"a note is added":     {none, with(map[string]string{"example.com/note": "a"}), false},
	} {
		if got := moved.Update(event.UpdateEvent{ObjectOld: tc.from, ObjectNew: tc.to}); got != tc.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}
