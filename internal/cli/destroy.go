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

// destroyFlags select what is deleted, and how.
type destroyFlags struct {
	workspace.Choice
	manifest    string
	credentials string
	clusterID   string
	orphans     bool
	evenIfGone  bool
	// evenIfTenants abandons the tenants of the cluster.
	evenIfTenants bool
	// withTenants deletes the tenant clusters first.
	withTenants bool
	yes         bool
	dryRun      bool
	timeout     time.Duration
}

func (a App) destroyCommand() *cobra.Command {
	var f destroyFlags
	cmd := &cobra.Command{
		Use:   "destroy CLUSTER | destroy -c FILE --orphans",
		Short: "Delete a cluster and everything that was created for it",
		Long: `Delete a cluster: its machines with their disks, its load balancers, its
credentials and its requests. The command lists what the platform holds of the
cluster, asks for confirmation, deletes it, and waits until the platform
confirms. It ends with a ledger: created n, deleted n, left 0. After an
interruption the same command continues. Objects without the ids of this cluster
are neither listed nor deleted. Copies with these ids that the platform's own
clone or restore created are listed and kept.

A cluster that manages itself first returns its management to this machine.

The command also looks for tenants on the cluster: tenant clusters, Clusters and
Machines of Cluster API, hosted control planes, and Services of type
LoadBalancer that do not belong to its addons. If there are any, it lists them
and refuses, because they would keep running without management. --with-tenants
deletes tenant clusters first; --even-if-tenants abandons what is there.

With --orphans no plane is used: everything on the platform that is tagged with
the name of the cluster in FILE is found by its tags and deleted directly. Use
it if the plane is lost, or if a cluster that managed itself does not answer. If
several cluster ids have the name, --cluster-id selects one.`,
		Example: `  butleradm destroy dev-cluster --dry-run
  butleradm destroy dev-cluster --credentials FILE
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
	cmd.Flags().StringVarP(&f.manifest, "config", "c", "", "with --orphans: manifest `FILE` of the cluster, instead of its name")
	cmd.Flags().StringVar(&f.credentials, "credentials", "", "`PATH` of new credentials for the platform; they replace those of the plane")
	cmd.Flags().BoolVar(&f.orphans, "orphans", false, "delete everything with the cluster's tags, without a plane")
	cmd.Flags().StringVar(&f.clusterID, "cluster-id", "", "with --orphans: the `ID` of the cluster if several have the name")
	cmd.Flags().BoolVar(&f.evenIfGone, "even-if-gone", false, "continue if the platform holds nothing of a cluster that the plane knows there")
	cmd.Flags().BoolVar(&f.evenIfTenants, "even-if-tenants", false, "continue if the cluster has tenants; they lose their management")
	cmd.Flags().BoolVar(&f.withTenants, "with-tenants", false, "delete the tenant clusters of the cluster first")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "delete without confirmation")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be deleted, and change nothing")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 30*time.Minute, "how long to wait until everything is gone")
	return cmd
}

// arguments requires the name of a cluster, unless there is a manifest.
func (f *destroyFlags) arguments(cmd *cobra.Command, args []string) error {
	if f.manifest != "" && len(args) > 0 {
		return failure.Usagef("a cluster and a manifest are mutually exclusive: %s -c %s --orphans", cmd.CommandPath(), workspace.Quoted(f.manifest))
	}
	switch {
	case f.manifest != "":
		return nil
	case f.orphans:
		return failure.Usagef("--orphans needs the manifest of the cluster: %s -c FILE --orphans", cmd.CommandPath())
	}
	return oneCluster(cmd, args)
}

// check refuses flags that do not fit together.
func (f destroyFlags) check() error {
	switch {
	case f.timeout <= 0:
		return failure.Usagef("--timeout must be a positive duration, for example 30m, not %s", f.timeout)
	case f.manifest != "" && !f.orphans:
		return failure.Usagef("-c FILE requires --orphans; to destroy a cluster with its plane: butleradm destroy CLUSTER")
	case f.clusterID != "" && !f.orphans:
		return failure.Usagef("--cluster-id requires --orphans; a plane knows the id of its cluster")
	case f.clusterID != "" && !isClusterID(f.clusterID):
		return failure.Usagef("--cluster-id must be a UUID, the value of the label %s, not %q", v1alpha1.AnnotationClusterID, f.clusterID)
	case f.evenIfTenants && f.orphans:
		return failure.Usagef("--even-if-tenants and --orphans are mutually exclusive; --orphans does not look for tenants")
	case f.withTenants && f.orphans:
		return failure.Usagef("--with-tenants and --orphans are mutually exclusive; tenant clusters are deleted by their management cluster")
	case f.evenIfGone && f.orphans:
		return failure.Usagef("--even-if-gone and --orphans are mutually exclusive; --orphans deletes what it finds")
	case f.Rehearse && f.credentials != "":
		return failure.Usagef("a rehearsal reads no credentials; remove --credentials")
	}
	return nil
}

// isClusterID reports whether a text is a UUID in the form of the cluster label.
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
		return failure.Usagef("a rehearsal reads no credentials; remove --credentials")
	}
	switch {
	case f.orphans:
		return a.newTeardown(f).DestroyByTags(ctx, w)
	case f.dryRun:
		return a.newTeardown(f).Show(ctx, w)
	}
	return a.newTeardown(f).Destroy(ctx, w)
}

// newTeardown returns a teardown with the settings of the command line.
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
			values, source, err := operation.AmbientCredentials(p.Login, config)
			return operation.NewSecret(config, values), source, err
		},
		ClusterID: f.clusterID, NewCredentials: f.credentials != "",
		EvenIfGone: f.evenIfGone, EvenIfTenants: f.evenIfTenants, WithTenants: f.withTenants, Yes: f.yes, DryRun: f.dryRun,
	}
}

// destroyByManifest deletes what is tagged with the cluster of a manifest.
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

// replacement returns the credentials in a file as the Secret of a ProviderConfig;
// nil without a file.
func replacement(a App, config *v1alpha1.ProviderConfig, path string) (*corev1.Secret, error) {
	if path == "" {
		return nil, nil
	}
	if config.CredentialsSecret().Name == "" {
		return nil, failure.Usagef("ProviderConfig %s has no spec.credentialsRef to store --credentials in; remove --credentials", config.Name)
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

// confirm asks the user. Ctrl-C means no.
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
			fmt.Fprintln(a.Err) // the input ended without a newline
		}
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes"
	case <-ctx.Done():
		fmt.Fprintln(a.Err)
		return false
	}
}
