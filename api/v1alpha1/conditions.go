// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ConditionReady is the condition that every kind of this package has.
const ConditionReady = "Ready"

// Reasons of the Ready condition that more than one program acts on.
const (
	// ReasonNoController: no provider's controller has written the condition.
	ReasonNoController = "NoController"
	// ReasonVMLost: the platform no longer holds a machine that it held, or holds it
	// switched off. Such a machine of a cluster may be replaced.
	ReasonVMLost = "VMLost"
)
