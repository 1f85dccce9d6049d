// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package charts carries the Helm charts of this project.
package charts

import "embed"

// FS has one directory for each chart, named like it, with all that the chart
// depends on.
//
//go:embed all:butler-*
var FS embed.FS
