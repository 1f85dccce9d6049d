// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestTroubleIsWhatAnObjectSaysOfItself(t *testing.T) {
	is := func(kind, status, reason, message string) any {
		return map[string]any{"type": kind, "status": status, "reason": reason, "message": message}
	}
	for reason, c := range map[string]struct {
		failure    string
		conditions []any
		want       string
	}{
		"a terminal failure":        {failure: "no such image", conditions: []any{is("Ready", "False", "Failed", "x")}, want: ": no such image"},
		"a condition of its own":    {conditions: []any{is("Ready", "False", "Failed", "summary"), is("VMRunning", "False", "Failed", "quota\n used up")}, want: ": VMRunning is False (quota used up)"},
		"the summary alone":         {conditions: []any{is("Ready", "False", "Failed", "summary")}, want: ": summary"},
		"a wait without a message":  {conditions: []any{is("InstanceReady", "False", "WaitingForBootstrapData", ""), is("Ready", "False", "WaitingForBootstrapData", "")}, want: ": InstanceReady is False (WaitingForBootstrapData)"},
		"a message comes first":     {conditions: []any{is("InstanceReady", "False", "Waiting", ""), is("Ready", "False", "Failed", "summary")}, want: ": summary"},
		"false when all is well":    {conditions: []any{is("Paused", "False", "NotPaused", ""), is("Updating", "False", "NotUpdating", ""), is("Ready", "Unknown", "NotObserved", "")}, want: ""},
		"nothing was looked at yet": {want: ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": c.conditions}}}
		if c.failure != "" {
			_ = unstructured.SetNestedField(o.Object, c.failure, "status", "failureMessage")
		}
		if got := trouble(o); got != c.want {
			t.Errorf("%s: %q, want %q", reason, got, c.want)
		}
	}
}

// TestAMachineThatIsNotCreatedIsExplained has MachineSets as the versions of Cluster API show them.
func TestAMachineThatIsNotCreatedIsExplained(t *testing.T) {
	refused := []any{map[string]any{"type": "MachinesCreated", "status": "False", "message": "no webhook\n answers"}}
	created := []any{map[string]any{"type": "MachinesCreated", "status": "True", "message": "no webhook answers"}}
	member := func(name, node string) unstructured.Unstructured {
		m := unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"nodeRef": map[string]any{"name": node}}}}
		m.SetName(name)
		return m
	}
	for reason, c := range map[string]struct {
		status   map[string]any
		machines []unstructured.Unstructured
		want     string
	}{
		"v1beta1":                  {status: map[string]any{"conditions": refused}, want: "; no machine is created: no webhook answers"},
		"v1beta2":                  {status: map[string]any{"conditions": created[:0], "deprecated": map[string]any{"v1beta1": map[string]any{"conditions": refused}}}, want: "; no machine is created: no webhook answers"},
		"beside one that runs":     {status: map[string]any{"conditions": refused}, machines: []unstructured.Unstructured{member("a", "a")}, want: "; no machine is created: no webhook answers"},
		"one that waits is nearer": {status: map[string]any{"conditions": refused}, machines: []unstructured.Unstructured{member("a", "")}, want: "; machine a is new"},
		"all are created":          {status: map[string]any{"conditions": created}},
	} {
		s := &session{sets: []unstructured.Unstructured{{Object: map[string]any{"status": c.status}}}, machines: c.machines}
		if got := s.machineTrouble(); got != c.want {
			t.Errorf("%s: %q, want %q", reason, got, c.want)
		}
	}
}
