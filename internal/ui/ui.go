// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package ui turns states of a bootstrap into what people and programs read.
// Everything here is a pure function.
package ui

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// State is what a bootstrap looks like at one moment.
type State struct {
	Phase    v1alpha1.ClusterBootstrapPhase
	Obstacle string
	Machines []v1alpha1.BootstrapMachineStatus
}

// StateOf is the state that a ClusterBootstrap reports.
func StateOf(cb *v1alpha1.ClusterBootstrap) State {
	s := State{Phase: cb.Status.Phase, Machines: cb.Status.Machines}
	if s.Phase == "" {
		s.Phase = v1alpha1.BootstrapPending
	}
	c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionReady)
	if c != nil && c.Status != metav1.ConditionTrue {
		s.Obstacle = c.Message
	}
	return s
}

// Event is one change worth telling. It is a line of `--output json`.
type Event struct {
	Time time.Time `json:"time"`
	// Seconds since the command was started.
	Elapsed float64 `json:"elapsed"`
	// Type is step, phase, machine, waiting or ready.
	Type string `json:"type"`
	// Phase of the ClusterBootstrap.
	Phase v1alpha1.ClusterBootstrapPhase `json:"phase,omitempty"`
	// Machine that the event is about.
	Machine *v1alpha1.BootstrapMachineStatus `json:"machine,omitempty"`
	// Message for people.
	Message string `json:"message"`
}

// Changes tells how one state became the next.
func Changes(before, after State) (out []Event) {
	if before.Phase != after.Phase {
		out = append(out, Event{Type: "phase", Message: string(after.Phase)})
	}
	for i, m := range after.Machines {
		if !slices.Contains(before.Machines, m) {
			out = append(out, Event{Type: "machine", Machine: &after.Machines[i], Message: describe(m)})
		}
	}
	if after.Obstacle != "" && after.Obstacle != before.Obstacle {
		out = append(out, Event{Type: "waiting", Message: after.Obstacle})
	}
	for i := range out {
		out[i].Phase = after.Phase
	}
	return out
}

func describe(m v1alpha1.BootstrapMachineStatus) string {
	text := fmt.Sprintf("%s %s", m.Name, m.Phase)
	if m.IPAddress != "" {
		text += " at " + m.IPAddress
	}
	switch {
	case m.Ready:
		text += ", node Ready"
	case m.TalosConfigured:
		text += ", Talos configured"
	}
	return text
}

// Plain is an event as a line of text.
func Plain(e Event) string {
	mark := map[string]string{"phase": "•", "machine": "  ", "waiting": "  …", "ready": "✓", "step": "✓"}[e.Type]
	return fmt.Sprintf("%6.1fs %s %s", e.Elapsed, mark, e.Message)
}

// JSON is an event as a line of JSON.
func JSON(e Event) string {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Sprintf(`{"type":%q,"message":%q}`, e.Type, err)
	}
	return string(data)
}
