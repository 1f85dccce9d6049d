// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package ui turns states of a bootstrap into what people and programs read.
// Everything here is a pure function.
package ui

import (
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
