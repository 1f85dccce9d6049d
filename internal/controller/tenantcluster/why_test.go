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
