// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

// glance is how often the platform is looked at while the controllers delete.
const glance = 5 * time.Second

// destruction is a cluster being destroyed through its plane.
type destruction struct {
	*operation.Operation
	*target
	job      *Teardown
	provider provider.Provider
	// given are credentials that replace those of the plane; nil means none.
	given *corev1.Secret
	// silence is why a cluster that manages itself does not answer; nil means that
	// it does, or need not.
	silence error
	ledger  *ledger
	// copies are what the platform keeps, as it was last asked.
	copies inventory.Copies
	// tenants live by the cluster; unheardOf is why they are not known.
	tenants   []tenant
	unheardOf error
	progress  *ui.Reporter
}

// prepare prepares to destroy a cluster, which the plane that local reads knows:
// its platform can be asked after it.
func (t *Teardown) prepare(o *operation.Operation, local client.Client, d *target) (*destruction, error) {
	x := &destruction{Operation: o, target: d, job: t, progress: ui.NewReporter(t.Out, t.Err, "plain")}
	var err error
	if x.provider, err = t.Provider(d.providerType()); err != nil {
		return nil, err
	}
	if o.Simulator, err = o.StartSimulator(o.Context(), x.provider.Type, nil); err != nil {
		return nil, err
	}
	if d.cluster, err = selfhosted.FenceStalePlane(o, d.cluster); err != nil {
		return nil, err
	}
	x.silence = x.catchUp(local)
	if d.config == nil {
		return x, nil
	}
	if o.Rehearsal {
		x.given, err = o.SimulatorSecret(x.provider.Login, d.config)
		return x, err
	}
	x.given, err = t.Credentials(d.config)
	return x, err
}

// catchUp takes over what a cluster that manages itself knows better than the plane
// of this machine: how to ask the platform, and for what it was asked.
func (x *destruction) catchUp(local client.Client) error {
	if !selfhosted.MovedAway(x.cluster) {
		return nil
	}
	now, err := readTargetOnCluster(x.Context(), x.Workspace, local, x.cluster, x.progress)
	if err != nil {
		return err
	}
	if now.config != nil {
		x.config, x.secret = now.config, now.secret
	}
	x.requests, x.others = now.requests, now.others
	return nil
}

func (x *destruction) owner() provider.Owner { return provider.Owner{ClusterID: x.id} }

// site is the platform with the best credentials that there are.
func (x *destruction) site() inventory.Site {
	secret := x.secret
	if x.given != nil {
		secret = x.given
	}
	return inventory.NewSite(x.Operation, x.provider, x.config, secret)
}

// list asks the platform what it holds of the cluster, before anything is
// changed.
func (x *destruction) list() (inventory.Inventory, error) {
	if x.id == "" {
		return nil, nil
	}
	if x.config == nil {
		return nil, fmt.Errorf("list what the platform holds of %s: the ProviderConfig is gone from the plane; find the objects by their tags: butleradm destroy -c FILE --orphans", x.Name)
	}
	found, err := insist(x.Context(), x.progress, func(ctx context.Context) (inventory.Stock, error) { return x.site().List(ctx, x.owner()) })
	if err != nil {
		return nil, fmt.Errorf("list what the platform holds of %s: %w; nothing was deleted%s", x.Name, err, x.remedy(err))
	}
	x.copies = found.Copies.OfCluster(x.Name)
	return found.Held, nil
}

// remedy is what to do about credentials that the platform refuses.
func (x *destruction) remedy(err error) string {
	if provider.KindOf(err) != provider.Unauthorized || x.Rehearsal {
		return ""
	}
	return fmt.Sprintf("; pass other credentials: %s --credentials FILE", x.Command("destroy"))
}

// picture is what will go, as text.
func (x *destruction) picture(found inventory.Inventory) string {
	rows := rows(found, x.requests)
	if len(rows) == 0 {
		return fmt.Sprintf("The platform holds nothing of %s.\n%s", x.Name, x.copies.Line())
	}
	held := inventory.CountByKind(found.Parts())
	if held == "" {
		held = "nothing"
	}
	return fmt.Sprintf("%s (cluster id %s) on %s:\n\n%s\n  held by the platform: %s\n%s", x.Name, x.id, x.config.Name, table(rows), held, x.copies.Line())
}

// run deletes everything, in the order in which nothing loses its owner: requests
// and what the platform made of them, ProviderConfig, credentials.
func (x *destruction) run(found inventory.Inventory) error {
	if err := x.comeHome(); err != nil {
		return err
	}
	if x.given != nil {
		if err := x.Put(x.Context(), x.given); err != nil {
			return err
		}
	}
	if err := x.record(found); err != nil {
		return err
	}
	x.Hooks.Reached("destroy/recorded")
	if err := x.remove(); err != nil {
		return err
	}
	x.Hooks.Reached("destroy/gone")
	return x.finish()
}

// finish deletes what no request stood for, the cluster's own Secrets if nobody has,
// and then what the platform was asked with. That nothing is left is written down
// in between: without a ProviderConfig nobody could ask again.
func (x *destruction) finish() error {
	if err := x.sweepRest(); err != nil {
		return err
	}
	if err := errors.Join(x.removeMarked(&corev1.SecretList{}), x.conclude()); err != nil {
		return err
	}
	if err := x.removeConfig(); err != nil {
		return err
	}
	x.Hooks.Reached("destroy/config")
	x.progress.Report(ui.Event{Type: ui.EventReady, Message: fmt.Sprintf("%s is destroyed; nothing is left on the platform", x.Name)})
	return nil
}

// ClearUp ends a bootstrap whose ClusterBootstrap was deleted, as with
// kubectl, and its controller has let go: it does what destroy would still do.
func (t *Teardown) ClearUp(o *operation.Operation, progress *ui.Reporter) error {
	progress.Step(o.Name + " was deleted; deleting what is left of it")
	if err := t.destroyRest(o, progress); err != nil {
		return fmt.Errorf("%s was %w meanwhile; remove what is left of it: %s; cause: %w", o.Name, operation.ErrDeleted, o.Command("destroy"), err)
	}
	return fmt.Errorf("%s was %w meanwhile, and is destroyed; nothing is left on the platform", o.Name, operation.ErrDeleted)
}

// destroyRest goes on after the last request is gone.
func (t *Teardown) destroyRest(o *operation.Operation, progress *ui.Reporter) error {
	d, err := readTarget(o.Context(), o.Workspace, o.Local)
	if err != nil {
		return err
	}
	if d.gone() {
		_, err := readConcludedLedger(o.Context(), o)
		return err
	}
	x, err := t.prepare(o, o.Local, d)
	if err != nil {
		return err
	}
	x.progress = progress
	found, err := x.survey()
	if err == nil {
		err = x.record(found)
	}
	if err == nil {
		err = x.removeRequests()
	}
	if err == nil {
		err = x.finish()
	}
	switch {
	case progress.JSON(): // its standard output has events alone
	case err != nil:
		x.account()
	default:
		fmt.Fprintln(t.Out, x.ledger.line("created"))
	}
	return err
}

// comeHome takes the management back from a cluster that manages itself. The
// platform has to take the credentials for that, so new ones come first.
func (x *destruction) comeHome() error {
	if !selfhosted.MovedAway(x.cluster) {
		return nil
	}
	if _, err := selfhosted.TurnToCluster(x.Context(), x.Operation, x.cluster, x.progress); err != nil {
		return err
	}
	if x.given != nil {
		if err := x.Put(x.Context(), x.given); err != nil {
			return err
		}
	}
	err := reclaimPlane(selfhosted.NewMover(x.Operation, x.provider, x.progress))
	if err == nil {
		x.target, err = readTarget(x.Context(), x.Workspace, x.Local)
	}
	return err
}

// record writes down what will go before the first of it goes.
func (x *destruction) record(found inventory.Inventory) (err error) {
	x.ledger, err = enter(x.Context(), x.Operation, x.namespace(), x.id, found)
	return err
}

// namespace is where the cluster was, as far as the plane still knows.
func (x *destruction) namespace() string {
	if x.cluster != nil {
		return x.cluster.Namespace
	}
	return x.config.Namespace
}

// conclude writes down that the platform holds nothing any more.
func (x *destruction) conclude() error {
	if x.id == "" {
		return nil
	}
	x.ledger.complete = true
	return writeLedger(x.Context(), x.Operation, x.ledger)
}

// account asks the platform a last time after a failure, and says what is left.
func (x *destruction) account() {
	if x.ledger == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.Context()), lastWord)
	defer cancel()
	if x.id != "" && x.config != nil {
		x.look(ctx, "")
	}
	fmt.Fprintln(x.job.Out, x.ledger.line("created"))
}

// remove deletes the ClusterBootstrap and waits until its controller has let it
// go, which is when its machines are gone. It is deleted before the controllers
// start, so that they make nothing new.
func (x *destruction) remove() error {
	if x.cluster != nil {
		if err := keepID(x.Context(), x.Operation, x.config, x.id); err != nil {
			return err
		}
		if err := client.IgnoreNotFound(x.Local.Delete(x.Context(), x.cluster)); err != nil {
			return err
		}
		x.Hooks.Reached("destroy/deleted")
	} else if err := x.removeRequests(); err != nil {
		return err
	}
	if err := x.StartControllers(x.provider); err != nil {
		return err
	}
	if x.cluster == nil {
		return nil
	}
	stop := x.witness()
	defer stop()
	err := x.Watch(client.ObjectKeyFromObject(x.cluster), &v1alpha1.ClusterBootstrapList{}, func(object client.Object) bool {
		reportDeletion(x.progress, object.(*v1alpha1.ClusterBootstrap))
		return false
	})
	if errors.Is(err, operation.ErrDeleted) {
		return nil
	}
	return x.progress.WithObstacle(err)
}

// reportDeletion reports what blocks the deletion of a cluster.
func reportDeletion(progress *ui.Reporter, cb *v1alpha1.ClusterBootstrap) {
	c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionProgressing)
	if c != nil && c.Reason == "Deleting" {
		progress.Waiting(c.Message)
	}
}

// removeRequests deletes the requests that have lost their ClusterBootstrap: nobody
// else does, and without a request the controllers make nothing.
func (x *destruction) removeRequests() error {
	return x.removeMarked(&v1alpha1.MachineRequestList{}, &v1alpha1.LoadBalancerRequestList{})
}

// removeMarked deletes what has the cluster's id on this machine's plane.
func (x *destruction) removeMarked(kinds ...client.ObjectList) error {
	for _, list := range kinds {
		if err := x.Local.List(x.Context(), list); err != nil {
			return err
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			if object := item.(client.Object); x.isOurs(object) {
				return client.IgnoreNotFound(x.Local.Delete(x.Context(), object))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// witness looks at the platform while the controllers work: what appears only now
// belongs into the ledger, and credentials that it refuses should be known at
// once. It ends when the function that it returns is called.
func (x *destruction) witness() (stop func()) {
	if x.id == "" || x.config == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(x.Context())
	var group sync.WaitGroup
	group.Go(func() {
		told := ""
		for ctx.Err() == nil {
			told = x.look(ctx, told)
			_ = pause(ctx, nil, glance) // its end is that of the loop
		}
	})
	return func() {
		cancel()
		group.Wait()
	}
}

// look takes in what the platform holds, and tells that it refuses the
// credentials, once.
func (x *destruction) look(ctx context.Context, told string) string {
	s := x.site()
	if secret, err := operation.ReadSecret(ctx, x.Local, x.config); err == nil {
		s.Secret = secret // it may have been renewed
	}
	seen, err := s.ListHeld(ctx, x.owner())
	switch {
	case ctx.Err() != nil:
		return told
	case err == nil:
		// The next look tries again what cannot be written now.
		_ = x.see(ctx, seen)
		return ""
	case provider.KindOf(err) == provider.Unauthorized && err.Error() != told:
		x.progress.Report(ui.Event{Type: ui.EventWarning, Message: err.Error() + x.remedy(err)})
		return err.Error()
	}
	return told
}

// see enters what the platform holds now.
func (x *destruction) see(ctx context.Context, now inventory.Inventory) error {
	ours, _ := now.OfCluster(x.Name)
	x.ledger.see(ours)
	if !x.ledger.grown {
		return nil
	}
	return writeLedger(ctx, x.Operation, x.ledger)
}

// sweepRest deletes what no request stood for: it has the cluster's id, and
// nobody else will ever ask for it.
func (x *destruction) sweepRest() error {
	if x.id == "" {
		return nil
	}
	s := x.site()
	if secret, err := operation.ReadSecret(x.Context(), x.Local, x.config); err != nil {
		return err
	} else if secret != nil {
		s.Secret = secret
	}
	left, err := sweepPlatform(x.Context(), s, provider.Owner{ClusterID: x.id, Cluster: x.Name}, x.progress, func(now inventory.Stock) error {
		x.copies = now.Copies
		return x.see(x.Context(), now.Held)
	})
	if err != nil {
		return fmt.Errorf("%w; run the same command again%s", stillThere(x.Name, left, err), x.remedy(err))
	}
	return nil
}

// stillThere names what is left of a cluster, and why.
func stillThere(cluster string, left inventory.Inventory, err error) error {
	if len(left) == 0 {
		return fmt.Errorf("list what is left of %s on the platform: %w", cluster, err)
	}
	return fmt.Errorf("%s is left of %s on the platform: %w", left.Names(), cluster, err)
}

// removeConfig deletes the ProviderConfig, and only then its credentials.
func (x *destruction) removeConfig() error {
	if x.config == nil {
		return nil
	}
	if err := client.IgnoreNotFound(x.Local.Delete(x.Context(), x.config)); err != nil {
		return err
	}
	if err := awaitGone(x.Operation, x.config, x.progress); err != nil {
		return err
	}
	return x.removeCredentials()
}

// removeCredentials deletes the Secret of the ProviderConfig, unless another
// ProviderConfig on the plane refers to it.
func (x *destruction) removeCredentials() error {
	key := x.config.CredentialsSecret()
	if key.Name == "" {
		return nil
	}
	var configs v1alpha1.ProviderConfigList
	if err := x.Local.List(x.Context(), &configs); err != nil {
		return err
	}
	for i := range configs.Items {
		if other := &configs.Items[i]; other.UID != x.config.UID && other.CredentialsSecret() == key {
			x.progress.Step(fmt.Sprintf("Secret %s stays: ProviderConfig %s/%s refers to it", key, other.Namespace, other.Name))
			return nil
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	return client.IgnoreNotFound(x.Local.Delete(x.Context(), secret))
}

// awaitGone waits until an object does not exist, and reports what it says.
func awaitGone(o *operation.Operation, object *v1alpha1.ProviderConfig, progress *ui.Reporter) error {
	last := ""
	err := o.Watch(client.ObjectKeyFromObject(object), &v1alpha1.ProviderConfigList{}, func(object client.Object) bool {
		c := meta.FindStatusCondition(object.(*v1alpha1.ProviderConfig).Status.Conditions, v1alpha1.ConditionReady)
		if c != nil && c.Status != metav1.ConditionTrue && c.Message != last {
			last = c.Message
			progress.Report(ui.Event{Type: ui.EventWaiting, Message: last})
		}
		return false
	})
	if errors.Is(err, operation.ErrDeleted) {
		return nil
	}
	return err
}
