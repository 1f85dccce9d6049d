// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package ui turns states of a bootstrap into what people and programs read.
// Everything here is a pure function.
package ui

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// State is what a bootstrap looks like at one moment.
type State struct {
	Phase v1alpha1.ClusterBootstrapPhase
	// Obstacle is what the bootstrap waits for, or why it failed.
	Obstacle string
	Paused   bool
	// Moves says that the cluster takes over its own management in the end.
	Moves    bool
	Machines []v1alpha1.BootstrapMachineStatus
	Addons   []v1alpha1.BootstrapAddonStatus
}

// moves reports whether a cluster pivots: not on a single node, not without this
// project's controllers, and only from a plane that was begun by butleradm.
func moves(cb *v1alpha1.ClusterBootstrap) bool {
	enabled := cb.Spec.Addons.ButlerController.Enabled
	return cb.Annotations[v1alpha1.AnnotationPlane] != "" && cb.Spec.Cluster.Topology != v1alpha1.TopologySingleNode &&
		(enabled == nil || *enabled)
}

// StateOf is the state that a ClusterBootstrap reports.
func StateOf(cb *v1alpha1.ClusterBootstrap) State {
	s := State{Phase: cb.Status.Phase, Machines: cb.Status.Machines, Addons: cb.Status.Addons, Paused: cb.Spec.Paused, Moves: moves(cb)}
	if s.Phase == "" {
		s.Phase = v1alpha1.BootstrapPending
	}
	c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionReady)
	if c != nil && c.Status != metav1.ConditionTrue {
		s.Obstacle = c.Message
	}
	return s
}

// Part is a part of a whole, such as 3 of 6, 50%.
func Part(part, whole int) string {
	return fmt.Sprintf("%d of %d, %s", part, whole, percent(part, whole))
}

// percent is a part of a whole; of nothing it is all.
func percent(part, whole int) string {
	if whole == 0 {
		return "100%"
	}
	return fmt.Sprintf("%d%%", 100*part/whole)
}

// count returns how many machines or addons the present phase is done with, of how many.
func count(s State) (done, all int) {
	switch s.Phase {
	case v1alpha1.BootstrapProvisioningMachines:
		return number(s.Machines, func(m v1alpha1.BootstrapMachineStatus) bool {
			return m.Phase == v1alpha1.MachineRunning && m.IPAddress != ""
		})
	case v1alpha1.BootstrapConfiguringTalos:
		return number(s.Machines, func(m v1alpha1.BootstrapMachineStatus) bool { return m.TalosConfigured })
	case v1alpha1.BootstrapBootstrappingCluster:
		return number(s.Machines, func(m v1alpha1.BootstrapMachineStatus) bool { return m.Ready })
	case v1alpha1.BootstrapInstallingAddons:
		return readyAddons(s.Addons), len(s.Addons)
	default:
		return 0, 0
	}
}

func readyAddons(all []v1alpha1.BootstrapAddonStatus) int {
	n, _ := number(all, func(a v1alpha1.BootstrapAddonStatus) bool { return a.Phase == v1alpha1.AddonReady })
	return n
}

func number[T any](of []T, done func(T) bool) (n, all int) {
	for _, each := range of {
		if done(each) {
			n++
		}
	}
	return n, len(of)
}
