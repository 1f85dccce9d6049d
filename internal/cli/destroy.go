// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

func (a App) destroyCommand() *cobra.Command {
	var c choice
	var yes bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "destroy CLUSTER",
		Short: "Delete a cluster and everything that was made for it",
		Long: `Delete a cluster: its machines with their disks, its credentials and its
requests. The command waits until the platform confirms. The same command after
an interruption goes on where it was.`,
		Args: oneCluster,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := c.find(args[0])
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, errTimeout)
			defer cancel()
			return interrupted(ctx, a.destroy(ctx, w, yes))
		},
	}
	c.register(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Minute, "how long to wait until everything is gone")
	return cmd
}

// doomed is what a plane knows of the cluster that is to go.
type doomed struct {
	cluster  *v1alpha1.ClusterBootstrap // nil: gone already
	config   *v1alpha1.ProviderConfig   // nil: gone already
	machines int
}

func (a App) destroy(ctx context.Context, w workspace, yes bool) (err error) {
	o, err := w.open(ctx, "butleradm destroy "+w.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	d := &doomed{}
	if err := d.load(ctx, o.client); err != nil {
		return err
	}
	if d.config == nil && d.cluster == nil {
		fmt.Fprintf(a.Err, "%s does not exist any more; its state is in %s\n", w.name, w.dir)
		return nil
	}
	if !yes && !a.confirm(fmt.Sprintf("Delete cluster %s with %d machine(s)?", w.name, d.machines)) {
		return usage("nothing was deleted; answer y, or pass --yes")
	}
	return a.destroyIn(ctx, o, d)
}

func (a App) destroyIn(ctx context.Context, o *operation, d *doomed) error {
	t := newTeller(a, "plain")
	p, err := a.provider(d.providerType())
	if err != nil {
		return err
	}
	if o.platform, err = o.simulate(ctx, p, d.seed()); err != nil {
		return err
	}
	if err := o.start(p); err != nil {
		return err
	}
	if d.cluster != nil {
		if err := o.remove(d.cluster, t); err != nil {
			return err
		}
	}
	left, err := o.left(p, d)
	if err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%d machine(s) of %s are left on the platform; run the same command again", left, o.name)
	}
	if err := o.removeConfig(d.config); err != nil {
		return err
	}
	t.tell(ui.Event{Type: "ready", Message: fmt.Sprintf("%s is destroyed: %d machine(s) deleted, nothing is left on the platform", o.name, d.machines)})
	return nil
}

func (d *doomed) load(ctx context.Context, c client.Client) error {
	var clusters v1alpha1.ClusterBootstrapList
	var configs v1alpha1.ProviderConfigList
	var requests v1alpha1.MachineRequestList
	if err := errors.Join(c.List(ctx, &clusters), c.List(ctx, &configs), c.List(ctx, &requests)); err != nil {
		return err
	}
	if len(clusters.Items) > 0 {
		d.cluster = &clusters.Items[0]
	}
	if len(configs.Items) > 0 {
		d.config = &configs.Items[0]
	}
	d.machines = len(requests.Items)
	return nil
}

func (d *doomed) providerType() v1alpha1.ProviderType {
	if d.config != nil {
		return d.config.Spec.Provider
	}
	return d.cluster.Spec.Provider
}

// seed is that of the rehearsal, which may have been stopped.
func (d *doomed) seed() sim.Seed {
	if d.cluster == nil || d.config == nil {
		return sim.Seed{}
	}
	return sim.SeedFor(d.cluster, d.config)
}

func (a App) provider(t v1alpha1.ProviderType) (provider.Provider, error) {
	for _, p := range a.Providers {
		if p.Type == t {
			return p, nil
		}
	}
	return provider.Provider{}, fmt.Errorf("this build has no provider %q", t)
}

// remove deletes the ClusterBootstrap and waits until its controller has let it
// go, which is when its machines are gone.
func (o *operation) remove(cb *v1alpha1.ClusterBootstrap, t *teller) error {
	if err := o.client.Delete(o.ctx, cb); err != nil {
		return client.IgnoreNotFound(err)
	}
	last := ""
	err := o.watch(client.ObjectKeyFromObject(cb), &v1alpha1.ClusterBootstrapList{}, func(object client.Object) bool {
		c := meta.FindStatusCondition(object.(*v1alpha1.ClusterBootstrap).Status.Conditions, v1alpha1.ConditionProgressing)
		if c != nil && c.Reason == "Deleting" && c.Message != last {
			last = c.Message
			t.tell(ui.Event{Type: "waiting", Message: last})
		}
		return false
	})
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// left asks the platform itself what it still holds of the cluster.
func (o *operation) left(p provider.Provider, d *doomed) (int, error) {
	if d.cluster == nil || d.config == nil {
		return 0, nil
	}
	secret := &corev1.Secret{}
	if ref := d.config.Spec.CredentialsRef; ref != nil {
		key := types.NamespacedName{Namespace: cmp.Or(ref.Namespace, d.config.Namespace), Name: ref.Name}
		if err := o.client.Get(o.ctx, key, secret); err != nil {
			return 0, err
		}
	}
	platform, err := p.Connect(o.ctx, provider.Config{
		ProviderConfig: d.config, Credentials: provider.NewCredentials(secret.Data), Transport: o.transport(),
	})
	if err != nil {
		return 0, fmt.Errorf("ask the platform what is left: %w", err)
	}
	machines, err := platform.Machines.List(o.ctx, provider.Owner{ClusterID: d.cluster.Annotations[v1alpha1.AnnotationClusterID]})
	return len(machines), err
}

// removeConfig deletes the ProviderConfig, and only then its credentials.
func (o *operation) removeConfig(config *v1alpha1.ProviderConfig) error {
	if config == nil {
		return nil
	}
	if err := client.IgnoreNotFound(o.client.Delete(o.ctx, config)); err != nil {
		return err
	}
	if err := o.awaitGone(config.DeepCopy()); err != nil {
		return err
	}
	ref := config.Spec.CredentialsRef
	if ref == nil {
		return nil
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cmp.Or(ref.Namespace, config.Namespace), Name: ref.Name}}
	return client.IgnoreNotFound(o.client.Delete(o.ctx, secret))
}

func (a App) confirm(question string) bool {
	fmt.Fprint(a.Err, question+" [y/N] ")
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	return err == nil && strings.EqualFold(strings.TrimSpace(answer), "y")
}
