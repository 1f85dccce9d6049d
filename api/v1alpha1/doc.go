// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the custom resources of the group
// butler.butlerlabs.dev: those that users write, and those that the controllers of
// this project exchange.
//
// +kubebuilder:object:generate=true
// +groupName=butler.butlerlabs.dev
package v1alpha1
