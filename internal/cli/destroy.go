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

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/session"
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
			if timeout <= 0 {
				return usage("--timeout is how long to wait, for example 30m, not %s", timeout)
			}
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
	id       string                     // empty: nothing was ever made
	machines int
}

func (a App) destroy(ctx context.Context, w workspace, yes bool) (err error) {
	o, err := w.open(ctx, "butleradm destroy "+w.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	d, err := o.doomed(ctx)
	if err != nil {
		return err
	}
	if d.config == nil && d.cluster == nil {
		fmt.Fprintln(a.Err, w.absent())
		return nil
	}
	if !yes && !a.confirm(ctx, fmt.Sprintf("Delete cluster %s with %d machine(s)?", w.name, d.machines)) {
		return usage("nothing was deleted; answer y, or pass --yes")
	}
	if err = a.destroyIn(ctx, o, d); err != nil {
		fmt.Fprintf(a.Err, "\nWhat is not gone yet is left in place.\n\n  go on:      %s\n  look at it: %s\n\n", w.command("destroy"), w.command("status"))
	}
	return err
}

func (a App) destroyIn(ctx context.Context, o *operation, d *doomed) error {
	t := newTeller(a, "plain")
	p, err := a.provider(d.providerType())
	if err != nil {
		return err
	}
	if o.platform, err = o.simulate(ctx, p, nil); err != nil {
		return err
	}
	if err := o.remove(d, p, t); err != nil {
		return err
	}
	left, err := o.left(p, d)
	if err != nil {
		return fmt.Errorf("ask the platform what is left of %s: %w; run the same command again", o.name, err)
	}
	if len(left) > 0 {
		return fmt.Errorf("%s of %s is left on the platform; run the same command again", strings.Join(left, ", "), o.name)
	}
	if err := o.removeConfig(d.config, t); err != nil {
		return err
	}
	t.tell(ui.Event{Type: ui.EventReady, Message: fmt.Sprintf("%s is destroyed: %d machine(s) deleted, nothing is left on the platform", o.name, d.machines)})
	if o.rehearsal {
		fmt.Fprintf(a.Err, "\nThe simulated platform still runs; end it with: %s\n", o.command("sim stop"))
	}
	return nil
}

// doomed collects what there is to destroy. The cluster's id is also kept on the
// ProviderConfig, which outlives the ClusterBootstrap: with it an interrupted
// destroy can still ask the platform what is left.
func (o *operation) doomed(ctx context.Context) (*doomed, error) {
	cb, err := o.clusterOf(ctx, o.client)
	if err != nil {
		return nil, err
	}
	var configs v1alpha1.ProviderConfigList
	var requests v1alpha1.MachineRequestList
	if err := errors.Join(o.client.List(ctx, &configs), o.client.List(ctx, &requests)); err != nil {
		return nil, err
	}
	d := &doomed{cluster: cb, machines: len(requests.Items)}
	for i := range configs.Items {
		if config := &configs.Items[i]; cb == nil || config.Name == cb.Spec.ProviderRef.Name {
			d.config = config
			d.id = config.Annotations[v1alpha1.AnnotationClusterID]
		}
	}
	if cb != nil {
		d.id = cb.Annotations[v1alpha1.AnnotationClusterID]
	}
	return d, nil
}

func (d *doomed) providerType() v1alpha1.ProviderType {
	if d.config != nil {
		return d.config.Spec.Provider
	}
	return d.cluster.Spec.Provider
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
// go, which is when its machines are gone. It is deleted before the controllers
// start, so that they make nothing new.
func (o *operation) remove(d *doomed, p provider.Provider, t *teller) error {
	if d.cluster != nil {
		if err := errors.Join(o.keepID(d), client.IgnoreNotFound(o.client.Delete(o.ctx, d.cluster))); err != nil {
			return err
		}
	}
	if err := o.start(p); err != nil {
		return err
	}
	if d.cluster == nil {
		return nil
	}
	err := o.watch(client.ObjectKeyFromObject(d.cluster), &v1alpha1.ClusterBootstrapList{}, func(object client.Object) bool {
		t.showDeletion(object.(*v1alpha1.ClusterBootstrap))
		return false
	})
	if errors.Is(err, errGone) {
		return nil
	}
	return t.lastly(err)
}

func (o *operation) keepID(d *doomed) error {
	if d.config == nil || d.config.Annotations[v1alpha1.AnnotationClusterID] == d.id {
		return nil
	}
	before := d.config.DeepCopy()
	metav1.SetMetaDataAnnotation(&d.config.ObjectMeta, v1alpha1.AnnotationClusterID, d.id)
	return o.client.Patch(o.ctx, d.config, client.MergeFrom(before))
}

// left asks the platform itself what it still holds of the cluster.
func (o *operation) left(p provider.Provider, d *doomed) (names []string, err error) {
	if d.id == "" {
		return nil, nil
	}
	if d.config == nil {
		return nil, errors.New("the ProviderConfig is gone")
	}
	secret := &corev1.Secret{}
	if key := session.SecretName(d.config); key.Name != "" {
		if err := o.client.Get(o.ctx, key, secret); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(o.ctx, patience)
	defer cancel()
	platform, err := p.Connect(ctx, provider.Config{
		ProviderConfig: d.config, Credentials: provider.NewCredentials(secret.Data), Transport: o.transport(),
	})
	if err != nil {
		return nil, err
	}
	if platform.Close != nil {
		defer platform.Close()
	}
	machines, err := platform.Machines.List(ctx, provider.Owner{ClusterID: d.id})
	for _, m := range machines {
		names = append(names, m.Ref.Name)
	}
	return names, err
}

// removeConfig deletes the ProviderConfig, and only then its credentials.
func (o *operation) removeConfig(config *v1alpha1.ProviderConfig, t *teller) error {
	if config == nil {
		return nil
	}
	if err := client.IgnoreNotFound(o.client.Delete(o.ctx, config)); err != nil {
		return err
	}
	if err := o.awaitGone(config, t); err != nil {
		return err
	}
	key := session.SecretName(config)
	if key.Name == "" {
		return nil
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	return client.IgnoreNotFound(o.client.Delete(o.ctx, secret))
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
