// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

// destroyFlags say what is to go, and how.
type destroyFlags struct {
	workspace.Choice
	manifest    string
	credentials string
	clusterID   string
	orphans     bool
	evenIfGone  bool
	// evenIfTenants leaves behind what the cluster manages for others.
	evenIfTenants bool
	yes           bool
	dryRun        bool
	timeout       time.Duration
}

func (a App) destroyCommand() *cobra.Command {
	var f destroyFlags
	cmd := &cobra.Command{
		Use:   "destroy CLUSTER | destroy -c FILE --orphans",
		Short: "Delete a cluster and everything that was made for it",
		Long: `Delete a cluster: its machines with their disks, its load balancers, its
credentials and its requests. The command asks the platform what it holds of the
cluster, shows that, asks, deletes it, waits until the platform confirms, and
ends with a ledger: created n, deleted n, left 0. The same command after an
interruption goes on where it was. What does not carry the ids of this cluster
is neither shown nor touched. Copies that the platform's own clone or restore
made, with these ids, are shown and kept.

A cluster that manages itself gives its management back to this machine first.

The cluster itself is asked for tenants: Clusters and Machines of Cluster API,
hosted control planes, and Services of type LoadBalancer that are not of its own
addons. While it has some, the command lists them and refuses: they would go on
without what manages them. --even-if-tenants leaves them behind.

With --orphans no plane takes part: everything on the platform that carries the
name of the cluster in FILE is found by its tags and deleted directly. That is
for a plane that is lost, or a cluster that managed itself and does not answer.
Where the name stands for several cluster ids, --cluster-id says which.`,
		Example: `  butleradm destroy dev-cluster --dry-run
  butleradm destroy dev-cluster --credentials kubeconfig.yaml
  butleradm destroy -c cluster.yaml --orphans`,
		Args: f.arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), f.timeout, errTimeout)
			defer cancel()
			return interrupted(ctx, a.destroyNamed(ctx, f, args))
		},
	}
	registerChoice(&f.Choice, cmd)
	cmd.Flags().StringVarP(&f.manifest, "config", "c", "", "with --orphans: manifest `FILE` of the cluster, in place of its name")
	cmd.Flags().StringVar(&f.credentials, "credentials", "", "`PATH` of the platform's credentials: they replace those that the plane has")
	cmd.Flags().BoolVar(&f.orphans, "orphans", false, "delete what carries the cluster's tags, without a plane")
	cmd.Flags().StringVar(&f.clusterID, "cluster-id", "", "with --orphans: the `ID` that is meant where several clusters share the name")
	cmd.Flags().BoolVar(&f.evenIfGone, "even-if-gone", false, "also if the platform has nothing of a cluster that is known to run there")
	cmd.Flags().BoolVar(&f.evenIfTenants, "even-if-tenants", false, "also if the cluster has tenants: they are left behind without management")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be deleted, and change nothing")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 30*time.Minute, "how long to wait until everything is gone")
	return cmd
}

// arguments are the name of a cluster, unless a manifest has it.
func (f *destroyFlags) arguments(cmd *cobra.Command, args []string) error {
	if f.manifest != "" && len(args) > 0 {
		return failure.Usagef("name the cluster or its manifest, not both: %s -c %s --orphans", cmd.CommandPath(), workspace.Quoted(f.manifest))
	}
	if f.manifest != "" {
		return nil
	}
	return oneCluster(cmd, args)
}

// check refuses flags that do not fit together.
func (f destroyFlags) check() error {
	switch {
	case f.timeout <= 0:
		return failure.Usagef("--timeout is how long to wait, for example 30m, not %s", f.timeout)
	case f.manifest != "" && !f.orphans:
		return failure.Usagef("a cluster is destroyed by its name: butleradm destroy CLUSTER; to go by its manifest, without a plane, add --orphans")
	case f.clusterID != "" && !f.orphans:
		return failure.Usagef("--cluster-id goes with --orphans: a plane knows the id of its cluster")
	case f.clusterID != "" && !isClusterID(f.clusterID):
		return failure.Usagef("--cluster-id is a UUID, as the label %s has it, not %q", v1alpha1.AnnotationClusterID, f.clusterID)
	case f.evenIfTenants && f.orphans:
		return failure.Usagef("--even-if-tenants goes with a plane: --orphans asks the platform alone")
	case f.evenIfGone && f.orphans:
		return failure.Usagef("--even-if-gone goes with a plane: --orphans deletes what it finds")
	case f.Rehearse && f.credentials != "":
		return failure.Usagef("a rehearsal reads no credentials; leave --credentials out")
	}
	return nil
}

// isClusterID reports whether a text can be the value of a cluster's label: a UUID
// in the one form in which labels have it.
func isClusterID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

func (a App) destroyNamed(ctx context.Context, f destroyFlags, args []string) error {
	if f.manifest != "" {
		return a.destroyByManifest(ctx, f)
	}
	w, err := f.Find(args[0])
	if err != nil {
		return err
	}
	if w.Rehearsal && f.credentials != "" {
		return failure.Usagef("a rehearsal reads no credentials; leave --credentials out")
	}
	switch {
	case f.orphans:
		return a.destroyByTags(ctx, w, f)
	case f.dryRun:
		return a.dryRun(ctx, w, f)
	}
	return a.destroy(ctx, w, f)
}

// dryRun shows what destroy would delete. It also answers while another command
// works on the cluster.
func (a App) dryRun(ctx context.Context, w workspace.Workspace, f destroyFlags) error {
	quiet()
	var x *destruction
	var problem error
	err := w.ReadPlane(ctx, func(c client.Client) error {
		d, err := readTarget(ctx, w, c)
		if err == nil && !d.gone() {
			if x, problem = a.destruction(operation.New(ctx, w, a.Hooks), c, d, f); problem == nil {
				problem = x.askTenants(c)
			}
		}
		return err
	})
	switch {
	case err != nil || problem != nil:
		return errors.Join(err, problem)
	case x == nil:
		fmt.Fprintln(a.Err, w.AbsentError())
		return nil
	case x.silence != nil:
		fmt.Fprintf(a.Err, "note: %v\n", x.silence)
	}
	found, err := x.survey()
	if err != nil {
		return err
	}
	fmt.Fprint(a.Out, x.whole(found))
	if err := x.refuseTenants(); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "Nothing was changed. To delete all of it: %s\n", x.how())
	return nil
}

func (a App) destroy(ctx context.Context, w workspace.Workspace, f destroyFlags) (err error) {
	o, err := operation.Open(ctx, w, a.Hooks, "butleradm destroy "+w.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	d, err := readTarget(ctx, w, o.Local)
	if err != nil {
		return err
	}
	if d.gone() {
		return a.destroyed(ctx, o)
	}
	x, err := a.destruction(o, o.Local, d, f)
	if err != nil {
		return err
	}
	if selfhosted.Answered(x.silence) {
		return fmt.Errorf("%w; nothing was deleted", x.silence)
	}
	if x.silence != nil {
		return fmt.Errorf("%w; nothing was deleted; if it is gone for good, delete what it has on the platform: %s", x.silence, x.how())
	}
	found, err := x.survey()
	if err != nil {
		return err
	}
	if err := x.askTenants(o.Local); err != nil {
		return fmt.Errorf("%w; nothing was deleted", err)
	}
	fmt.Fprint(a.Err, x.whole(found))
	if err := x.refuseTenants(); err != nil {
		return err
	}
	o.Hooks.Reached("destroy/listed")
	if !f.yes && !a.confirm(ctx, fmt.Sprintf("Delete cluster %s?", w.Name)) {
		return failure.Usagef("nothing was deleted; answer y, or pass --yes")
	}
	if err = x.run(found); err != nil {
		x.account()
		fmt.Fprintf(a.Err, "\nWhat is not gone yet is left in place.\n\n  go on:      %s\n  look at it: %s\n\n", w.Command("destroy"), w.Command("status"))
		return err
	}
	a.sayGone(w, x.ledger, x.copies)
	return nil
}

// how is the command that deletes the cluster: through its plane, or without one
// that does not answer any more.
func (x *destruction) how() string {
	if x.silence != nil {
		return x.Command("destroy") + " --orphans"
	}
	return x.Command("destroy")
}

// destroyed is what there is to say of a cluster that its plane does not have: how
// it was destroyed, if it was.
func (a App) destroyed(ctx context.Context, o *operation.Operation) error {
	l, err := readConcludedLedger(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.Err, o.AbsentError())
	if l != nil {
		fmt.Fprintln(a.Out, l.line("created"))
	}
	return nil
}

// readConcludedLedger refuses a cluster that is gone from its plane without the platform having
// been asked at the end. Else it returns the ledger; nil means that there never was
// anything to enter.
func readConcludedLedger(ctx context.Context, o *operation.Operation) (*ledger, error) {
	l, err := readLedger(ctx, o.Local, o.Name, "")
	if err == nil && l != nil && !l.complete {
		err = fmt.Errorf("%s is gone from its plane, but the platform was not asked at the end what is left of it; find that by its tags: butleradm destroy -c FILE --orphans --cluster-id %s", o.Name, l.clusterID)
	}
	return l, err
}

// sayGone ends with what the platform keeps and the ledger.
func (a App) sayGone(w workspace.Workspace, l *ledger, kept inventory.Copies) {
	fmt.Fprint(a.Err, kept.Line())
	if w.Rehearsal {
		fmt.Fprintf(a.Err, "\nThe simulated platform still runs; end it with: %s", w.Command("sim stop"))
	}
	fmt.Fprintf(a.Err, "\nIts state on this machine stays; remove that with: %s\n\n", w.Command("forget"))
	fmt.Fprintln(a.Out, l.line("created"))
}

func (a App) provider(t v1alpha1.ProviderType) (provider.Provider, error) {
	for _, p := range a.Providers {
		if p.Type == t {
			return p, nil
		}
	}
	return provider.Provider{}, a.noProvider(t)
}

// confirm asks; Ctrl-C is an answer too.
func (a App) confirm(ctx context.Context, question string) bool {
	fmt.Fprint(a.Err, question+" [y/N] ")
	answers := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		answers <- answer
	}()
	select {
	case answer := <-answers:
		if !strings.HasSuffix(answer, "\n") {
			fmt.Fprintln(a.Err) // nobody has typed Enter
		}
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes"
	case <-ctx.Done():
		fmt.Fprintln(a.Err)
		return false
	}
}
