// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/tenants"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// tenantFlags are those of all commands about tenant clusters.
type tenantFlags struct {
	workspace.Choice
	output  string
	timeout time.Duration
	noWait  bool
	yes     bool
}

func (a App) tenantCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tenant",
		Short: "Create and manage tenant clusters on a management cluster",
		Long: `Create and manage tenant clusters. A tenant cluster has its control plane as
pods on the management cluster CLUSTER, and its workers as machines on a
platform. The commands connect to the management cluster as its administrator.
TENANT is the name of a tenant cluster, or NAMESPACE/NAME.`,
		RunE: needSubcommand,
	}
	cmd.AddCommand(
		a.tenantListCommand(), a.tenantCreateCommand(), a.tenantStatusCommand(), a.tenantKubeconfigCommand(), a.tenantTalosconfigCommand(),
		a.tenantScaleCommand(), a.tenantUpgradeCommand(), a.tenantDeleteCommand(),
	)
	return cmd
}

// tenantArguments are the management cluster, and a tenant unless the command has none.
func tenantArguments(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == n:
			return nil
		case n == 1:
			return failure.Usagef("%s takes the name of a management cluster", c.CommandPath())
		}
		return failure.Usagef("%s takes the names of a management cluster and of a tenant cluster", c.CommandPath())
	}
}

// onManagement calls do with a client of the management cluster itself.
func (a App) onManagement(ctx context.Context, f tenantFlags, cluster string, do func(context.Context, workspace.Workspace, client.Client) error) error {
	if f.output != "" && f.output != "json" {
		return failure.Usagef("-o must be json or absent, not %q", f.output)
	}
	if f.timeout < 0 {
		return failure.Usagef("--timeout must be a positive duration, for example 30m, not %s", f.timeout)
	}
	w, err := f.Find(cluster)
	if err != nil {
		return err
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, errTimeout)
		defer cancel()
	}
	return interrupted(ctx, selfhosted.OnCluster(ctx, w, func(c client.Client) error { return do(ctx, w, c) }))
}

func (f *tenantFlags) register(cmd *cobra.Command, output string) {
	registerChoice(&f.Choice, cmd)
	if output != "" {
		cmd.Flags().StringVarP(&f.output, "output", "o", "", output)
	}
}

// waits adds the flags of commands that wait for a tenant cluster.
func (f *tenantFlags) waits(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.timeout, "timeout", 30*time.Minute, "how long to wait for the tenant cluster")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "do not wait for the tenant cluster")
}

func (a App) tenantListCommand() *cobra.Command {
	var f tenantFlags
	cmd := &cobra.Command{
		Use: "list CLUSTER", Short: "List the tenant clusters of a management cluster", Args: tenantArguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onManagement(cmd.Context(), f, args[0], func(ctx context.Context, _ workspace.Workspace, c client.Client) error {
				all, err := tenants.List(ctx, c)
				if err != nil {
					return err
				}
				if f.output == "json" {
					list := v1alpha1.TenantClusterList{Items: append([]v1alpha1.TenantCluster{}, all...)}
					list.SetGroupVersionKind(v1alpha1.GroupVersion().WithKind("TenantClusterList"))
					return a.printJSON(&list)
				}
				return a.printTenants(all)
			})
		},
	}
	f.register(cmd, "json: the TenantClusters")
	return cmd
}

func (a App) printTenants(all []v1alpha1.TenantCluster) error {
	out := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(out, "NAMESPACE\tNAME\tPHASE\tVERSION\tWORKERS\tENDPOINT")
	for _, tc := range all {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%d/%d\t%s\n", tc.Namespace, tc.Name, tc.Status.Phase, tc.Spec.KubernetesVersion,
			tc.Status.WorkerNodesReady, tc.Status.WorkerNodesDesired, tc.Status.ControlPlaneEndpoint)
	}
	return out.Flush()
}

func (a App) tenantCreateCommand() *cobra.Command {
	var f tenantFlags
	var file string
	cmd := &cobra.Command{
		Use: "create CLUSTER -f FILE", Short: "Create a tenant cluster, and wait until it is Ready",
		Long: `Create the TenantCluster in FILE on the management cluster, and wait until its
control plane, its workers and its addons are ready. After an interruption the
same command continues. A TenantCluster that exists is updated to FILE.`,
		Example: "  butleradm tenant create prod -f tenant.yaml",
		Args:    tenantArguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return failure.Usagef("-f FILE is required")
			}
			wanted, err := tenants.Load(file)
			if err != nil {
				return err
			}
			return a.onManagement(cmd.Context(), f, args[0], func(ctx context.Context, _ workspace.Workspace, c client.Client) error {
				tc, err := tenants.Apply(ctx, c, wanted)
				if err != nil {
					return err
				}
				return a.followTenant(ctx, f, c, tc, "is applied")
			})
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "manifest `FILE` with a TenantCluster")
	f.register(cmd, "json: events, one per line")
	f.waits(cmd)
	return cmd
}

// followTenant waits until a tenant cluster is Ready, and reports the way there.
func (a App) followTenant(ctx context.Context, f tenantFlags, c client.Client, tc *v1alpha1.TenantCluster, done string) error {
	progress := ui.NewReporter(a.Out, a.Err, f.output)
	progress.Step(fmt.Sprintf("TenantCluster %s/%s %s", tc.Namespace, tc.Name, done))
	if f.noWait {
		return nil
	}
	if err := tenants.Await(ctx, c, tc, progress.ShowTenant); err != nil {
		return progress.WithObstacle(err)
	}
	progress.Ready(fmt.Sprintf("tenant cluster %s is Ready", tc.Name))
	return nil
}

func (a App) tenantStatusCommand() *cobra.Command {
	var f tenantFlags
	cmd := &cobra.Command{
		Use: "status CLUSTER TENANT", Short: "Show the state of a tenant cluster", Args: tenantArguments(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onTenant(cmd.Context(), f, args, func(_ context.Context, _ workspace.Workspace, _ client.Client, tc *v1alpha1.TenantCluster) error {
				if f.output == "json" {
					tc.ManagedFields = nil
					return a.printJSON(tc)
				}
				return a.printTenant(tc)
			})
		},
	}
	f.register(cmd, "json: the TenantCluster")
	return cmd
}

// onTenant calls do with a tenant cluster.
func (a App) onTenant(ctx context.Context, f tenantFlags, args []string, do func(context.Context, workspace.Workspace, client.Client, *v1alpha1.TenantCluster) error) error {
	return a.onManagement(ctx, f, args[0], func(ctx context.Context, w workspace.Workspace, c client.Client) error {
		tc, err := tenants.Find(ctx, c, args[1])
		if err != nil {
			return err
		}
		return do(ctx, w, c, tc)
	})
}

func (a App) printTenant(tc *v1alpha1.TenantCluster) error {
	out := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
	s := tc.Status
	for _, row := range [][2]string{
		{"Tenant cluster", tc.Namespace + "/" + tc.Name}, {"Phase", string(s.Phase)}, {"Version", tc.Spec.KubernetesVersion},
		{"Endpoint", s.ControlPlaneEndpoint}, {"Namespace", s.TenantNamespace}, {"Workers", fmt.Sprintf("%d of %d Ready", s.WorkerNodesReady, s.WorkerNodesDesired)},
		{"Waits for", tenants.Obstacle(tc)},
	} {
		if row[1] != "" {
			fmt.Fprintf(out, "%s\t%s\n", row[0], row[1])
		}
	}
	fmt.Fprintln(out, "\nCONDITION\tSTATUS\tREASON\tMESSAGE")
	for _, c := range s.Conditions {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	if len(s.Allocations) > 0 {
		fmt.Fprintln(out, "\nADDRESSES\tFOR\tPOOL")
		for _, a := range s.Allocations {
			fmt.Fprintf(out, "%s-%s\t%s\t%s\n", a.StartAddress, a.EndAddress, map[v1alpha1.IPAllocationType]string{v1alpha1.IPAllocationNodes: "workers", v1alpha1.IPAllocationLoadBalancer: "load balancers"}[a.Type], a.Pool)
		}
	}
	if s.ObservedState != nil && len(s.ObservedState.Addons) > 0 {
		fmt.Fprintln(out, "\nADDON\tVERSION\tSTATUS")
		for _, addon := range s.ObservedState.Addons {
			fmt.Fprintf(out, "%s\t%s\t%s\n", addon.Name, addon.Version, addon.Status)
		}
	}
	return out.Flush()
}

func (a App) tenantKubeconfigCommand() *cobra.Command {
	var byAddress bool
	cmd := a.tenantCredentialCommand("kubeconfig", "Print the kubeconfig of a tenant cluster",
		`Print the kubeconfig of a tenant cluster's administrator. The control plane
provider renews it; a copy is not renewed. With exposure by Ingress or Gateway
it contains a hostname, which this machine must be able to resolve. The one of a
rehearsed cluster uses the proxy of the simulated network.`,
		func(ctx context.Context, w workspace.Workspace, c client.Client, tc *v1alpha1.TenantCluster) ([]byte, error) {
			return a.tenantKubeconfig(ctx, w, c, tc, byAddress)
		})
	cmd.Flags().BoolVar(&byAddress, "by-address", false, "name the address that the hostname of the API server points to, so that no DNS is needed")
	return cmd
}

func (a App) tenantKubeconfig(ctx context.Context, w workspace.Workspace, c client.Client, tc *v1alpha1.TenantCluster, byAddress bool) ([]byte, error) {
	secret, key := tenants.Kubeconfig(tc)
	data, err := tenants.Credential(ctx, c, tc, secret, key)
	note := tenants.NameNote(tc)
	if err == nil && byAddress {
		data, err = tenants.ByAddress(ctx, c, tc, data)
	}
	if err == nil && w.Rehearsal {
		data, err = throughProxy(w, data, a)
	}
	if err == nil && note != "" && !byAddress {
		fmt.Fprintln(a.Err, "note: "+note)
	}
	return data, err
}

func (a App) tenantTalosconfigCommand() *cobra.Command {
	return a.tenantCredentialCommand("talosconfig", "Print the talosconfig of a tenant cluster's workers",
		`Print credentials for the Talos API of a tenant cluster's workers. They are
valid for a month, and renewed at half of that. Only control planes that
Steward hosts and that have an address of their own issue certificates for that
API.`,
		func(ctx context.Context, _ workspace.Workspace, c client.Client, tc *v1alpha1.TenantCluster) ([]byte, error) {
			if why := tenants.TalosRefusal(ctx, c, tc); why != "" {
				return nil, failure.New(failure.Usage, fmt.Errorf("tenant cluster %s has no talosconfig: %s", tc.Name, why))
			}
			return tenants.Credential(ctx, c, tc, tc.Name+"-talosconfig", "talosconfig")
		})
}

// readTenant returns a credential of a tenant cluster.
type readTenant func(context.Context, workspace.Workspace, client.Client, *v1alpha1.TenantCluster) ([]byte, error)

func (a App) tenantCredentialCommand(name, short, long string, read readTenant) *cobra.Command {
	var f tenantFlags
	cmd := &cobra.Command{
		Use: name + " CLUSTER TENANT", Short: short, Long: long, Args: tenantArguments(2),
		Example: fmt.Sprintf("  butleradm tenant %s prod web > web.%s", name, name),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onTenant(cmd.Context(), f, args, func(ctx context.Context, w workspace.Workspace, c client.Client, tc *v1alpha1.TenantCluster) error {
				data, err := read(ctx, w, c, tc)
				if err != nil {
					return err
				}
				_, err = a.Out.Write(data)
				return err
			})
		},
	}
	f.register(cmd, "")
	return cmd
}

func (a App) tenantScaleCommand() *cobra.Command {
	var f tenantFlags
	var replicas int32
	cmd := &cobra.Command{
		Use: "scale CLUSTER TENANT --replicas N", Short: "Change the number of workers of a tenant cluster", Args: tenantArguments(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if replicas < 1 {
				return failure.Usagef("--replicas must be at least 1")
			}
			return a.changeTenant(cmd.Context(), f, args, fmt.Sprintf("gets %d workers", replicas), func(tc *v1alpha1.TenantCluster) error {
				if tc.Spec.Workers.Autoscaled() {
					return failure.Usagef("%s has minReplicas and maxReplicas, between which the autoscaler decides; change those", tc.Name)
				}
				tc.Spec.Workers.Replicas = replicas
				return nil
			})
		},
	}
	cmd.Flags().Int32Var(&replicas, "replicas", 0, "`NUMBER` of workers")
	f.register(cmd, "json: events, one per line")
	f.waits(cmd)
	return cmd
}

// kubernetesVersion is how the API has versions.
var kubernetesVersion = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

func (a App) tenantUpgradeCommand() *cobra.Command {
	var f tenantFlags
	var version string
	cmd := &cobra.Command{
		Use: "upgrade CLUSTER TENANT --kubernetes-version VERSION", Short: "Upgrade the Kubernetes of a tenant cluster",
		Long: `Upgrade the Kubernetes of a tenant cluster: its control plane first, then its
workers, which are replaced one after another. A minor version cannot be
skipped, and a downgrade is not possible.`,
		Args: tenantArguments(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if version == "" {
				return failure.Usagef("--kubernetes-version is required")
			}
			if version = "v" + strings.TrimPrefix(version, "v"); !kubernetesVersion.MatchString(version) {
				return failure.Usagef("--kubernetes-version must be a version such as v1.33.0")
			}
			return a.changeTenant(cmd.Context(), f, args, "is upgraded to "+version, func(tc *v1alpha1.TenantCluster) error {
				tc.Spec.KubernetesVersion = version
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&version, "kubernetes-version", "", "`VERSION` of Kubernetes, such as v1.33.0")
	f.register(cmd, "json: events, one per line")
	f.waits(cmd)
	return cmd
}

// changeTenant changes the spec of a tenant cluster and waits for it.
func (a App) changeTenant(ctx context.Context, f tenantFlags, args []string, done string, how func(*v1alpha1.TenantCluster) error) error {
	return a.onTenant(ctx, f, args, func(ctx context.Context, _ workspace.Workspace, c client.Client, tc *v1alpha1.TenantCluster) error {
		before := tc.DeepCopy()
		if err := how(tc); err != nil {
			return err
		}
		if err := tenants.Change(ctx, c, before, tc); err != nil {
			return err
		}
		return a.followTenant(ctx, f, c, tc, done)
	})
}

func (a App) tenantDeleteCommand() *cobra.Command {
	var f tenantFlags
	cmd := &cobra.Command{
		Use: "delete CLUSTER TENANT", Short: "Delete a tenant cluster and everything that was created for it",
		Long: `Delete a tenant cluster: load balancers that it created on the platform, its
workers, its control plane, and what these needed. The command waits until all
of it is gone. Volumes of the tenant on the platform are kept, and listed.`,
		Args: tenantArguments(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onTenant(cmd.Context(), f, args, func(ctx context.Context, _ workspace.Workspace, c client.Client, tc *v1alpha1.TenantCluster) error {
				question := fmt.Sprintf("Delete tenant cluster %s/%s with %d workers?", tc.Namespace, tc.Name, tc.Status.WorkerNodesReady)
				if !f.yes && !a.confirm(ctx, question) {
					return failure.Usagef("nothing was deleted")
				}
				progress := ui.NewReporter(a.Out, a.Err, f.output)
				left := ""
				err := tenants.Delete(ctx, c, tc, func(now *v1alpha1.TenantCluster) {
					left = tenants.Left(now)
					progress.ShowTenant(now)
				})
				if err != nil {
					return progress.WithObstacle(err)
				}
				if left != "" {
					progress.Step("LEFT ON THE PLATFORM: " + left)
				}
				progress.Ready(fmt.Sprintf("tenant cluster %s is deleted", tc.Name))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&f.yes, "yes", false, "delete without confirmation")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 30*time.Minute, "how long to wait until everything is gone")
	f.register(cmd, "json: events, one per line")
	return cmd
}
