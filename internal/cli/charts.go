// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/failure"
)

// registerCharts adds the flag with the source of addons.
func registerCharts(c *cobra.Command, to *string, otherwise string) {
	c.Flags().StringVar(to, "charts", "", "`SOURCE` of addons: a directory, oci://REGISTRY/PATH, or upstream (default: "+otherwise+")")
}

// checkCharts refuses an invalid source of addons.
func checkCharts(where string) error {
	if _, err := source.New(source.Options{Charts: where}); err != nil {
		return failure.Usagef("--charts: %w", err)
	}
	return nil
}
