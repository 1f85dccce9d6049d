// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/deployed"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/teardown"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func (a App) statusCommand() *cobra.Command {
	var c workspace.Choice
	var output string
	var watch bool
	cmd := &cobra.Command{
		Use:   "status [CLUSTER]",
		Short: "Show the state of clusters",
		Long: `Show the state of a cluster, or of all clusters of $BUTLER_HOME: its phase and
how long each phase took, machines, addons, addresses, the plane in charge, when
credentials end, and orphans. It also works while no bootstrap runs. While one
runs, it shows how much longer earlier runs on this machine took from the same
phase on: runs on the same provider with the same topology, if any are recorded.

--watch shows it again whenever it changes, until Ctrl-C.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return failure.Usagef("%s takes the name of one cluster%s, or none", cmd.CommandPath(), known())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "" && output != "json" && output != "wide" {
				return failure.Usagef("-o must be json, wide or absent, not %q", output)
			}
			if watch && (len(args) == 0 || output == "json") {
				return failure.Usagef("--watch takes the name of a cluster, and no -o json")
			}
			if len(args) == 0 && c != (workspace.Choice{}) {
				return failure.Usagef("--state-dir, --real and --rehearse require the name of a cluster")
			}
			if len(args) == 0 {
				return interrupted(cmd.Context(), a.statusOfAll(cmd.Context(), output))
			}
			w, err := c.Find(args[0])
			if err != nil {
				return err
			}
			if watch {
				return interrupted(cmd.Context(), a.watchStatus(cmd.Context(), w, output))
			}
			return interrupted(cmd.Context(), a.status(cmd.Context(), w, output, a.Out))
		},
	}
	registerChoice(&c, cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "json: the ClusterBootstrap without its credentials, and its progress; wide: all addresses and IDs of machines")
	cmd.Flags().BoolVar(&watch, "watch", false, "show the state again whenever it changes")
	return cmd
}

// watchInterval is how often a state that is watched is read.
const watchInterval = 2 * time.Second

// watchStatus shows the state of a cluster whenever it changes, on a terminal in the place of
// the one before.
func (a App) watchStatus(ctx context.Context, w workspace.Workspace, output string) error {
	pages := ui.NewPages(a.Out)
	for {
		var page bytes.Buffer
		if err := a.status(ctx, w, output, &page); err != nil {
			return err
		}
		pages.Show(page.String())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchInterval):
		}
	}
}

func (a App) status(ctx context.Context, w workspace.Workspace, output string, out io.Writer) error {
	return selfhosted.ReadInCharge(ctx, w, func(c client.Client, cb *v1alpha1.ClusterBootstrap, silent error) error {
		if cb == nil {
			return teardown.ExplainAbsence(ctx, w, c)
		}
		a.noteSilence(silent)
		config, err := providerConfigOf(ctx, c, cb)
		progress := progressOf(w, config.Spec.Provider, cb)
		if output == "json" {
			return a.printJSON(state{withoutCredentials(cb), progress})
		}
		orphans := orphansOf(config, cb)
		plane, failed := planeOf(ctx, w, c, cb)
		page := ui.Status{
			Cluster: cb, Plane: plane, Message: messageOf(cb), Orphans: orphans.names, Copies: orphans.copies, Warnings: append(warningsOf(cb), expiryOf(config)...),
			Phases: progress.passed(), Remaining: progress.left(), Credentials: a.credentialsOf(ctx, c, cb),
		}
		if output == "wide" {
			page.Requests = requestsOf(ctx, c, cb)
		}
		return errors.Join(page.Print(out), err, failed)
	})
}

// state is a ClusterBootstrap with its progress, for programs.
type state struct {
	*v1alpha1.ClusterBootstrap
	Progress progress `json:"progress,omitzero"`
}

// noteSilence prints a note if the state of a cluster that manages itself is not the
// current one.
func (a App) noteSilence(silent error) {
	if silent != nil {
		fmt.Fprintf(a.Err, "note: %v; this is its state at the pivot\n", silent)
	}
}

func (a App) statusOfAll(ctx context.Context, output string) error {
	all, err := workspace.All()
	if err != nil {
		return err
	}
	list := v1alpha1.ClusterBootstrapList{Items: []v1alpha1.ClusterBootstrap{}}
	list.SetGroupVersionKind(v1alpha1.GroupVersion().WithKind("ClusterBootstrapList"))
	if len(all) == 0 {
		fmt.Fprintln(a.Err, "there is no cluster in $BUTLER_HOME; butleradm init PROVIDER writes a first manifest")
	}
	var problems []error
	out := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(out, "CLUSTER\tKIND\tPHASE\tENDPOINT")
	for _, w := range all {
		phase, endpoint := "none", ""
		err := selfhosted.ReadInCharge(ctx, w, func(_ client.Client, cb *v1alpha1.ClusterBootstrap, silent error) error {
			if cb != nil {
				list.Items = append(list.Items, *withoutCredentials(cb))
				phase, endpoint = string(ui.StateOf(cb).Phase), cb.Status.ControlPlaneEndpoint
			}
			a.noteSilence(silent)
			return nil
		})
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", w.Name, err))
			phase = "unknown"
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", w.Name, w.Kind(), phase, endpoint)
	}
	if output == "json" {
		return errors.Join(append(problems, a.printJSON(&list))...)
	}
	return errors.Join(append(problems, out.Flush())...)
}

func withoutCredentials(cb *v1alpha1.ClusterBootstrap) *v1alpha1.ClusterBootstrap {
	out := cb.DeepCopy()
	out.Status.Kubeconfig, out.Status.Talosconfig = "", ""
	out.ManagedFields = nil
	return out
}

func (a App) printJSON(v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Out, string(data))
	return err
}

// planeOf returns the plane that is in charge of the cluster, as text.
func planeOf(ctx context.Context, w workspace.Workspace, c client.Client, cb *v1alpha1.ClusterBootstrap) (string, error) {
	switch why := cb.Annotations[v1alpha1.AnnotationFenced]; {
	case why != "" && bootstrap.SelfHosted(cb): // the local plane is fenced as well
		return "none is in charge; that of the cluster was " + why + ", which was interrupted: run the command again", nil
	case why != "":
		return why, nil
	case cb.Annotations[v1alpha1.AnnotationPlane] == v1alpha1.PlaneLocal:
		return w.Plane().String(), nil
	case !bootstrap.SelfHosted(cb):
		return "", nil
	}
	text := "the cluster itself, epoch " + cb.Annotations[v1alpha1.AnnotationEpoch]
	stopped, err := deployed.AnyStopped(ctx, c)
	if stopped {
		text += fmt.Sprintf("; its controllers are stopped, as during %s: if that was interrupted, run it again, or run the bootstrap command to start them", w.Command("destroy"))
	}
	return text, err
}

// unowned lists objects of a cluster on the platform that no request owns, as text.
type unowned struct{ names, copies string }

// providerConfigOf returns the ProviderConfig of a cluster, or an empty one if it is gone.
func providerConfigOf(ctx context.Context, c client.Reader, cb *v1alpha1.ClusterBootstrap) (*v1alpha1.ProviderConfig, error) {
	config := &v1alpha1.ProviderConfig{}
	return config, client.IgnoreNotFound(c.Get(ctx, cb.ProviderConfig(), config))
}

// expiryOf warns of credentials that expire.
func expiryOf(config *v1alpha1.ProviderConfig) []string {
	end := "are temporary"
	switch s := config.Status; {
	case !s.CredentialsTemporary:
		return nil
	case s.CredentialsExpire != nil:
		end = "expire at " + s.CredentialsExpire.UTC().Format(time.RFC3339)
	}
	return []string{fmt.Sprintf("the credentials of ProviderConfig %s %s; replace them in its Secret before they end", config.Name, end)}
}

// orphansOf lists the objects of the cluster on the platform that no request owns.
func orphansOf(config *v1alpha1.ProviderConfig, cb *v1alpha1.ClusterBootstrap) unowned {
	var names, copied []string
	for _, o := range config.Status.Orphans {
		switch {
		case o.ClusterID != cb.Annotations[v1alpha1.AnnotationClusterID]:
		case o.Kind == v1alpha1.OrphanCopy:
			copied = append(copied, o.Name)
		default:
			names = append(names, o.Name)
		}
	}
	full := len(config.Status.Orphans) >= v1alpha1.MaxOrphans
	return unowned{
		names:  listed(names, full, "on the platform without a request"),
		copies: listed(copied, full, "on the platform with tags of this cluster, not created by Butler"),
	}
}

// listed counts names and lists them; it is empty if there are none.
func listed(names []string, atLeast bool, what string) string {
	if len(names) == 0 {
		return ""
	}
	count := fmt.Sprint(len(names))
	if atLeast {
		count = "at least " + count
	}
	return fmt.Sprintf("%s %s: %s", count, what, strings.Join(names, ", "))
}

// messageOf returns the message of the bootstrap's condition. After a pivot that was
// rolled back it is that of the pivot, which is newer than the controllers' one.
func messageOf(cb *v1alpha1.ClusterBootstrap) string {
	c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionReady)
	if c == nil {
		return ""
	}
	if c.Reason == bootstrap.ReasonReadyToPivot && meta.IsStatusConditionFalse(cb.Status.Conditions, v1alpha1.ConditionPivoted) {
		c = meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionPivoted)
	}
	return c.Message
}

// warningsOf returns the warnings of the plan of a cluster.
func warningsOf(cb *v1alpha1.ClusterBootstrap) (out []string) {
	plan, err := bootstrap.NewPlan(bootstrap.Effective(cb))
	if err != nil {
		return nil
	}
	for _, w := range plan.Warnings {
		out = append(out, w.Message)
	}
	return out
}
