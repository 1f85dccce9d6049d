// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/timeline"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func (a App) timelineCommand() *cobra.Command {
	var c workspace.Choice
	var output string
	cmd := &cobra.Command{
		Use:   "timeline CLUSTER",
		Short: "Show what happened in a bootstrap over time",
		Long: `Show phases, machines and addons of a bootstrap over time, and mark the critical
path: what the run waited for from its beginning to its end. The bootstrap
records this in the directory of the cluster as it runs.`,
		Example: `  butleradm timeline prod
  butleradm timeline prod -o svg > prod.svg`,
		Args: oneCluster,
		RunE: func(_ *cobra.Command, args []string) error {
			if output != "text" && output != "json" && output != "svg" {
				return failure.Usagef("-o must be text, json or svg, not %q", output)
			}
			w, err := c.Locate(args[0])
			if err != nil {
				return err
			}
			return a.timeline(w, output)
		},
	}
	registerChoice(&c, cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text, json or svg")
	return cmd
}

func (a App) timeline(w workspace.Workspace, output string) error {
	entries, err := timeline.Read(w.TimelineFile())
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fmt.Errorf("nothing is recorded of %s in %s; a bootstrap of this version records its run", w.Name, w.Dir)
	}
	t := timeline.New(w.Name, entries, time.Now())
	switch output {
	case "json":
		return a.printJSON(t)
	case "svg":
		return t.SVG(a.Out)
	}
	return t.Text(a.Out)
}
