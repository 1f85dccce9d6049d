// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/teardown"
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
		return a.newTeardown(f).DestroyByTags(ctx, w)
	case f.dryRun:
		return a.newTeardown(f).Show(ctx, w)
	}
	return a.newTeardown(f).Destroy(ctx, w)
}

// newTeardown returns what a teardown needs from the command line.
func (a App) newTeardown(f destroyFlags) *teardown.Teardown {
	return &teardown.Teardown{
		Out: a.Out, Err: a.Err, Hooks: a.Hooks, Provider: a.provider, Confirm: a.confirm,
		Credentials: func(config *v1alpha1.ProviderConfig) (*corev1.Secret, error) {
			return replacement(a, config, f.credentials)
		},
		Ambient: func(config *v1alpha1.ProviderConfig) (*corev1.Secret, string, error) {
			p, err := a.provider(config.Spec.Provider)
			if err != nil {
				return nil, "", err
			}
			values, source, err := ambient(p.Login, config)
			return operation.NewSecret(config, values), source, err
		},
		ClusterID: f.clusterID, NewCredentials: f.credentials != "",
		EvenIfGone: f.evenIfGone, EvenIfTenants: f.evenIfTenants, Yes: f.yes, DryRun: f.dryRun,
	}
}

// destroyByManifest deletes what carries the name of the cluster in a manifest.
func (a App) destroyByManifest(ctx context.Context, f destroyFlags) (err error) {
	m, err := manifest.Load(f.manifest)
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	p, err := a.provider(m.Provider.Spec.Provider)
	if err != nil {
		return err
	}
	given, err := bootstrapFlags{config: f.manifest, credentials: f.credentials, rehearse: f.Rehearse}.given(p.Login, m, a.Err)
	if err != nil {
		return err
	}
	w, err := f.Place(m.Cluster.Spec.Cluster.Name)
	if err != nil {
		return err
	}
	return a.newTeardown(f).DestroyByManifest(ctx, w, m, given)
}

// replacement are the credentials of a file, as the Secret of a ProviderConfig;
// nil means that no file was named.
func replacement(a App, config *v1alpha1.ProviderConfig, path string) (*corev1.Secret, error) {
	if path == "" {
		return nil, nil
	}
	if config.CredentialsSecret().Name == "" {
		return nil, failure.Usagef("ProviderConfig %s has no spec.credentialsRef to store --credentials in; leave --credentials out", config.Name)
	}
	p, err := a.provider(config.Spec.Provider)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.Usagef("read the credentials: %w", err)
	}
	noteReadable(a.Err, path)
	return secretOf(p.Login, config, path, data)
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
