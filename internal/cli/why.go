// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/diagnosis"
	"github.com/butlerdotdev/butler/internal/diagnosis/gather"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func (a App) whyCommand() *cobra.Command {
	var c workspace.Choice
	var output string
	cmd := &cobra.Command{
		Use:   "why [CLUSTER] [KIND/NAME]",
		Short: "Explain what a cluster waits for, and what fixes it",
		Long: `Explain why a cluster, or one object of it, is not Ready. The answer is a chain
from the symptom to the root cause: the cluster, its phase, the machine or the
addon, and what the platform, Talos, the kubelet or a pod says. Then it names
the change or the command that fixes it. Nothing is changed.

Without CLUSTER the only cluster of $BUTLER_HOME is used.
` + foldList("KIND is", diagnosis.Kinds()) + `.

The command also works while no bootstrap runs, and on a cluster that manages
itself. The exit code is 0 whenever it has an answer.`,
		Example: `  butleradm why
  butleradm why prod
  butleradm why prod machinerequest/prod-cp-0
  butleradm why tenantcluster/web -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 2 {
				return failure.Usagef("%s takes the name of a cluster and of an object, or one of them, or none", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := newQuestion(args, output)
			if err != nil {
				return err
			}
			w, err := q.workspace(c)
			if err != nil {
				return err
			}
			return interrupted(cmd.Context(), a.why(cmd.Context(), w, q))
		},
	}
	registerChoice(&c, cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "json: the chain; facts: what it was derived from, as JSON")
	return cmd
}

// question is what a user asks about.
type question struct {
	cluster    string // empty: the only one
	kind, name string // of an object; empty: the cluster
	output     string
}

func newQuestion(args []string, output string) (question, error) {
	q := question{output: output}
	if output != "" && output != "json" && output != "facts" {
		return q, failure.Usagef("-o must be json, facts or absent, not %q", output)
	}
	for i, arg := range args {
		kind, name, object := strings.Cut(arg, "/")
		switch {
		case !object && i == 0:
			q.cluster = arg
		case !object || q.name != "":
			return q, failure.Usagef("%q is not KIND/NAME", arg)
		case !diagnosis.KnownKind(kind):
			return q, failure.Usagef("%q is not a kind that can be explained; use one of %s", kind, strings.Join(diagnosis.Kinds(), ", "))
		default:
			q.kind, q.name = kind, name
		}
	}
	return q, nil
}

// workspace is that of the cluster that is asked about.
func (q question) workspace(c workspace.Choice) (workspace.Workspace, error) {
	if q.cluster != "" {
		return c.Find(q.cluster)
	}
	all, err := workspace.All()
	if err != nil {
		return workspace.Workspace{}, err
	}
	switch len(all) {
	case 0:
		return workspace.Workspace{}, failure.Usagef("there is no cluster in $BUTLER_HOME; name one, with --state-dir if its state is elsewhere")
	case 1:
		return all[0], nil
	}
	return workspace.Workspace{}, failure.Usagef("there are several clusters: %s; name one", strings.Join(namesOf(all), ", "))
}

func (a App) why(ctx context.Context, w workspace.Workspace, q question) error {
	facts, err := gather.Facts(ctx, w)
	if err != nil {
		return err
	}
	if q.output == "facts" {
		return a.printJSON(facts)
	}
	chain := diagnosis.Explain(facts)
	if q.name != "" {
		var found bool
		if chain, found = diagnosis.ExplainObject(facts, q.kind, q.name); !found {
			return fmt.Errorf("%s has no %s/%s; see what it has: %s", w.Name, q.kind, q.name, w.Command("status"))
		}
	}
	if q.output == "json" {
		return a.printJSON(chain)
	}
	return ui.PrintChain(a.Out, chain, time.Now())
}
