// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// States of machines as nodes, after those of their requests.
const (
	stateConfigured = "Configured"
	stateReady      = "Ready"
)

// entriesOf is the present state of a bootstrap: its phase, its obstacle, its machines and
// its addons.
func entriesOf(cb *v1alpha1.ClusterBootstrap) []Entry {
	out := []Entry{{Kind: KindPhase, State: string(cmp.Or(cb.Status.Phase, v1alpha1.BootstrapPending))}, {Kind: KindWait, State: obstacle(cb)}}
	for _, m := range cb.Status.Machines {
		out = append(out, Entry{Kind: KindMachine, Name: m.Name, State: machineState(m)})
	}
	for _, a := range cb.Status.Addons {
		out = append(out, Entry{Kind: KindAddon, Name: a.Name, State: string(a.Phase)})
	}
	return out
}

// obstacle is the reason of what the bootstrap waits for; empty if it waits for nothing.
func obstacle(cb *v1alpha1.ClusterBootstrap) string {
	c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionReady)
	if c == nil || c.Status == metav1.ConditionTrue {
		return ""
	}
	return c.Reason
}

func machineState(m v1alpha1.BootstrapMachineStatus) string {
	switch {
	case m.Ready:
		return stateReady
	case m.TalosConfigured && m.Phase == v1alpha1.MachineRunning:
		return stateConfigured
	}
	return string(m.Phase)
}
