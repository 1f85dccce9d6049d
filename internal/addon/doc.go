// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package addon knows what is installed on a new management cluster: which
// addons a spec asks for, in which order, from where, with which values, and
// when they count as ready. All of it is pure: nothing here speaks to a cluster
// or to a chart repository.
package addon
