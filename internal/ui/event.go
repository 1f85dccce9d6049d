// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// EventType says what an event is about.
type EventType string

// The types of events.
const (
	// EventStep: the command itself has done something.
	EventStep EventType = "step"
	// EventCheck: the preflight has looked at something.
	EventCheck EventType = "check"
	// EventPlan: what the command is going to do.
	EventPlan EventType = "plan"
	// EventProblem: something is wrong with the manifest.
	EventProblem EventType = "problem"
	// EventPhase: the ClusterBootstrap has entered a phase.
	EventPhase EventType = "phase"
	// EventMachine: a machine has changed.
	EventMachine EventType = "machine"
	// EventAddon: an addon is being installed, is ready, or is not taken.
	EventAddon EventType = "addon"
	// EventWaiting: the bootstrap waits for something else than before.
	EventWaiting EventType = "waiting"
	// EventWarning: something should be known, but stops nothing.
	EventWarning EventType = "warning"
	// EventReady: what was asked for is done. It is the last event.
	EventReady EventType = "ready"
	// EventFailed: the command ends without it. It is the last event.
	EventFailed EventType = "failed"
)

// EventTypes are all of them.
func EventTypes() []EventType {
	return []EventType{EventStep, EventCheck, EventPlan, EventProblem, EventPhase, EventMachine, EventAddon, EventWaiting, EventWarning, EventReady, EventFailed}
}

// Event is one reported change. It is a line of `--output json`.
type Event struct {
	Time time.Time `json:"time"`
	// Elapsed is in seconds since the command was started.
	Elapsed float64   `json:"elapsed"`
	Type    EventType `json:"type"`
	// Phase of the ClusterBootstrap, once there is one.
	Phase v1alpha1.ClusterBootstrapPhase `json:"phase,omitempty"`
	// Machine that the event is about.
	Machine *v1alpha1.BootstrapMachineStatus `json:"machine,omitempty"`
	// Addon that the event is about.
	Addon *v1alpha1.BootstrapAddonStatus `json:"addon,omitempty"`
	// Check of the preflight.
	Check *Check `json:"check,omitempty"`
	// Plan is that of the command.
	Plan json.RawMessage `json:"plan,omitempty"`
	// Problem of the manifest.
	Problem *Problem `json:"problem,omitempty"`
	// Code is the exit code of a command that failed.
	Code int `json:"code,omitempty"`
	// Message is all of it for people.
	Message string `json:"message"`
}

// Check is something that the preflight has looked at.
type Check struct {
	Name string `json:"name"`
	// Verdict is Passed, Refused or Unknown.
	Verdict string `json:"verdict"`
	// Hint is what to do about it.
	Hint string `json:"hint,omitempty"`
}

// Problem is something that is wrong with the manifest.
type Problem struct {
	File string `json:"file"`
	// Line of the file; 0 means the file as a whole.
	Line int `json:"line,omitempty"`
	// Field is its path within the object.
	Field string `json:"field,omitempty"`
}

// Changes returns the events between two states.
func Changes(before, after State) (out []Event) {
	if before.Phase != after.Phase {
		out = append(out, Event{Type: EventPhase, Message: string(after.Phase)})
	}
	for i, m := range after.Machines {
		if !slices.Contains(before.Machines, m) {
			out = append(out, Event{Type: EventMachine, Machine: &after.Machines[i], Message: describe(m)})
		}
	}
	ready := readyAddons(before.Addons)
	for i, a := range after.Addons {
		if !worthReporting(before.Addons, a) {
			continue
		}
		text := describeAddon(a)
		if a.Phase == v1alpha1.AddonReady {
			ready = min(ready+1, len(after.Addons))
			text += " (" + Part(ready, len(after.Addons)) + ")"
		}
		out = append(out, Event{Type: EventAddon, Addon: &after.Addons[i], Message: text})
	}
	if after.Obstacle != "" && after.Obstacle != before.Obstacle {
		out = append(out, Event{Type: EventWaiting, Message: after.Obstacle})
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

// worthReporting is an addon in a phase that people wait for, one that was ready,
// and one that fails for another reason than before. What an addon waits for
// meanwhile is the obstacle of the bootstrap, and Pending is also one that was
// not looked at yet.
func worthReporting(known []v1alpha1.BootstrapAddonStatus, a v1alpha1.BootstrapAddonStatus) bool {
	was := v1alpha1.BootstrapAddonStatus{Phase: v1alpha1.AddonPending}
	if i := slices.IndexFunc(known, func(k v1alpha1.BootstrapAddonStatus) bool { return k.Name == a.Name }); i >= 0 {
		was = known[i]
	}
	if was.Phase == a.Phase {
		return a.Phase == v1alpha1.AddonFailing && was.Message != a.Message
	}
	return a.Phase != v1alpha1.AddonPending && (a.Phase != v1alpha1.AddonWaiting || was.Phase == v1alpha1.AddonReady)
}

func describeAddon(a v1alpha1.BootstrapAddonStatus) string {
	text := a.Name
	if a.Version != "" {
		text += " " + a.Version
	}
	text += " " + string(a.Phase)
	if a.Message != "" && atWork(a) && a.Phase != v1alpha1.AddonInstalling {
		text += ": " + a.Message
	}
	return text
}

// JSON is an event as a line of JSON.
func JSON(e Event) string {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Sprintf(`{"type":%q,"message":%q}`, e.Type, err)
	}
	return string(data)
}

// Columns is the width that text for no terminal is wrapped to.
const Columns = 80

// indent is how wide the time and the mark of a plain line are.
const indent = 12

// refused is the verdict of a check that stops the command.
const refused = "Refused"

// Plain is an event as text of one or more lines.
func Plain(e Event) string {
	if e.Type == EventPlan {
		return "\n" + e.Message
	}
	mark := map[EventType]string{
		EventPhase: "•", EventWaiting: "  …", EventReady: "✓", EventStep: "✓", EventWarning: "!", EventFailed: "✗", EventCheck: "  ?", EventProblem: "✗",
	}[e.Type]
	if e.Check != nil && e.Check.Verdict == refused || e.Addon != nil && e.Addon.Phase == v1alpha1.AddonFailing {
		mark = "  ✗"
	}
	head := fmt.Sprintf("%6.1fs %-4s", e.Elapsed, mark)
	return head + hang(e.Message, Columns-indent, indent)
}
