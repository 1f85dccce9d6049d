// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

// pollInterval is how often the platform is listed while the controllers delete.
const pollInterval = 5 * time.Second

// destruction is a cluster being destroyed through its plane.
type destruction struct {
	*operation.Operation
	*target
	job      *Teardown
	provider provider.Provider
	// given are credentials that replace those of the plane; nil means none.
	given *corev1.Secret
	// unreachable is why a cluster that manages itself does not answer; nil if it does,
	// or need not.
	unreachable error
	ledger      *ledger
	// quiet is since when nothing is created any more; zero while controllers may create.
	quiet time.Time
	// copies are those of the last list of the platform.
	copies inventory.Copies
	// tenants of the cluster; tenantsError is why they are not known.
	tenants      []tenant
	tenantsError error
	progress     *ui.Reporter
}

// prepare returns the destruction of a cluster that is on the plane of local, with a
// connection to its platform.
func (t *Teardown) prepare(o *operation.Operation, local client.Client, d *target) (*destruction, error) {
	x := &destruction{Operation: o, target: d, job: t, progress: ui.NewReporter(t.Out, t.Err, "plain")}
	o.Report = x.progress.Waiting
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
	x.unreachable = x.refreshTarget(local)
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

// refreshTarget reads ProviderConfig, credentials and requests from a cluster that
// manages itself: they are newer than those of this machine.
func (x *destruction) refreshTarget(local client.Client) error {
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

// site returns the platform with the newest credentials.
func (x *destruction) site() inventory.Site {
	secret := x.secret
	if x.given != nil {
		secret = x.given
	}
	return inventory.NewSite(x.Operation, x.provider, x.config, secret)
}

// list returns what the platform holds of the cluster, before anything is changed.
func (x *destruction) list() (inventory.Inventory, error) {
	if x.id == "" {
		return nil, nil
	}
	if x.config == nil {
		return nil, fmt.Errorf("list what the platform holds of %s: the ProviderConfig is gone from the plane; find the objects by their tags: butleradm destroy -c FILE --orphans", x.Name)
	}
	found, err := retryTransient(x.Context(), x.progress, func(ctx context.Context) (inventory.Stock, error) { return x.site().List(ctx, x.owner()) })
	if err != nil {
		return nil, fmt.Errorf("list what the platform holds of %s: %w; nothing was deleted%s", x.Name, err, x.remedy(err))
	}
	x.copies = found.Copies.OfCluster(x.Name)
	return found.Held, nil
}

// remedy returns the hint for credentials that the platform refuses.
func (x *destruction) remedy(err error) string {
	if provider.KindOf(err) != provider.Unauthorized || x.Rehearsal {
		return ""
	}
	return fmt.Sprintf("; pass other credentials: %s --credentials FILE", x.Command("destroy"))
}

// describe returns what will be deleted, as text.
func (x *destruction) describe(found inventory.Inventory) string {
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

// run deletes everything, in an order in which nothing loses its owner: requests and
// their objects on the platform, ProviderConfig, credentials.
func (x *destruction) run(found inventory.Inventory) error {
	if err := x.reclaim(); err != nil {
		return err
	}
	// Those on a KIND cluster may run since a command that was killed.
	if err := x.StopControllers(x.Context()); err != nil {
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
	// This plane is in charge, and its controllers run again after the deletion only.
	x.quiet = time.Now()
	if err := x.remove(); err != nil {
		return err
	}
	x.Hooks.Reached("destroy/gone")
	return x.finish()
}

// finish deletes objects without a request, the cluster's own Secrets, and then
// ProviderConfig and credentials. It records in between that nothing is left: without
// a ProviderConfig the platform cannot be listed again.
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

// CompleteDeletion runs the last stages of destroy for a cluster whose ClusterBootstrap
// was deleted during its bootstrap, for example with kubectl.
func (t *Teardown) CompleteDeletion(o *operation.Operation, progress *ui.Reporter) error {
	progress.Step(o.Name + " was deleted; deleting what is left of it")
	if err := t.destroyRest(o, progress); err != nil {
		return fmt.Errorf("%s was %w in the meantime; remove what is left of it: %s; cause: %w", o.Name, operation.ErrDeleted, o.Command("destroy"), err)
	}
	return fmt.Errorf("%s was %w in the meantime, and is destroyed; nothing is left on the platform", o.Name, operation.ErrDeleted)
}

// destroyRest runs the stages after the last request is gone.
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

// reclaim moves the management of a cluster that manages itself back to this machine.
// The platform must accept the credentials for that, so new ones are written first.
func (x *destruction) reclaim() error {
	if !selfhosted.MovedAway(x.cluster) {
		return nil
	}
	if _, err := selfhosted.ConnectInCharge(x.Context(), x.Operation, x.cluster, x.progress); err != nil {
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

// record writes the ledger before anything is deleted.
func (x *destruction) record(found inventory.Inventory) (err error) {
	addresses, err := addressesOf(x.Context(), x.Local, x.id)
	if err != nil {
		return err
	}
	found = slices.Concat(found, addresses)
	x.ledger, err = updateLedger(x.Context(), x.Operation, x.namespace(), x.id, found)
	return err
}

// namespace returns the namespace of the cluster, as far as the plane still knows it.
func (x *destruction) namespace() string {
	if x.cluster != nil {
		return x.cluster.Namespace
	}
	return x.config.Namespace
}

// conclude records that the platform holds nothing any more.
func (x *destruction) conclude() error {
	if x.id == "" {
		return nil
	}
	x.ledger.complete = true
	return writeLedger(x.Context(), x.Operation, x.ledger)
}

// account lists the platform a last time after a failure, and prints the ledger.
func (x *destruction) account() {
	if x.ledger == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.Context()), finalTimeout)
	defer cancel()
	if x.id != "" && x.config != nil {
		x.recordHeld(ctx, "")
	}
	fmt.Fprintln(x.job.Out, x.ledger.line("created"))
}
