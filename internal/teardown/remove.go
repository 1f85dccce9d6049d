// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

// remove deletes the ClusterBootstrap and waits until its controller has let it
// go, which is when its machines are gone. It is deleted before the controllers
// start, so that they create nothing new.
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
	stop := x.watchPlatform()
	defer stop()
	err := x.Watch(client.ObjectKeyFromObject(x.cluster), &v1alpha1.ClusterBootstrapList{}, func(object client.Object) bool {
		x.reportDeletion(object.(*v1alpha1.ClusterBootstrap))
		return false
	})
	if errors.Is(err, operation.ErrDeleted) {
		return nil
	}
	return x.progress.WithObstacle(err)
}

// reportDeletion reports what blocks the deletion of a cluster, and how far it is.
func (x *destruction) reportDeletion(cb *v1alpha1.ClusterBootstrap) {
	c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionProgressing)
	if c == nil || c.Reason != "Deleting" {
		return
	}
	message := c.Message
	if left, all := x.requestsLeft(), len(x.requests); left >= 0 && left <= all && all > 0 {
		message += " (" + ui.Part(all-left, all) + ")"
	}
	x.progress.Waiting(message)
}

// requestsLeft counts the requests of the cluster on this machine's plane; -1 if they cannot
// be listed now.
func (x *destruction) requestsLeft() (n int) {
	for _, list := range []client.ObjectList{&v1alpha1.MachineRequestList{}, &v1alpha1.LoadBalancerRequestList{}} {
		if err := x.Local.List(x.Context(), list); err != nil {
			return -1
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error { // which returns no error
			if x.isOurs(item.(client.Object)) {
				n++
			}
			return nil
		})
	}
	return n
}

// removeRequests deletes requests whose ClusterBootstrap is gone: no controller does,
// and without a request controllers create nothing.
func (x *destruction) removeRequests() error {
	return x.removeMarked(&v1alpha1.MachineRequestList{}, &v1alpha1.LoadBalancerRequestList{}, &v1alpha1.IPAllocationList{})
}

// removeMarked deletes objects with the cluster's id on this machine's plane.
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

// watchPlatform lists the platform while the controllers work: objects that appear only
// now belong into the ledger, and refused credentials are reported at once. It ends
// when the returned function is called.
func (x *destruction) watchPlatform() (stop func()) {
	if x.id == "" || x.config == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(x.Context())
	var group sync.WaitGroup
	group.Go(func() {
		reported := ""
		for ctx.Err() == nil {
			reported = x.recordHeld(ctx, reported)
			_ = pause(ctx, nil, pollInterval) // its end is that of the loop
		}
	})
	return func() {
		cancel()
		group.Wait()
	}
}

// recordHeld records what the platform holds, and reports refused credentials unless
// reported is the same error. It returns the error that was reported.
func (x *destruction) recordHeld(ctx context.Context, reported string) string {
	s := x.site()
	if secret, err := operation.ReadSecret(ctx, x.Local, x.config); err == nil {
		s.Secret = secret // it may have been renewed
	}
	seen, err := s.ListHeld(ctx, x.owner())
	switch {
	case ctx.Err() != nil:
		return reported
	case err == nil:
		// The next list retries a write that fails now.
		_ = x.addHeld(ctx, seen)
		return ""
	case provider.KindOf(err) == provider.Unauthorized && err.Error() != reported:
		x.progress.Report(ui.Event{Type: ui.EventWarning, Message: err.Error() + x.remedy(err)})
		return err.Error()
	}
	return reported
}

// addHeld adds what the platform holds now to the ledger.
func (x *destruction) addHeld(ctx context.Context, now inventory.Inventory) error {
	ours, _ := now.OfCluster(x.Name)
	addresses, err := addressesOf(ctx, x.Local, x.id)
	if err != nil {
		return err
	}
	x.ledger.record(slices.Concat(ours, addresses))
	if !x.ledger.dirty {
		return nil
	}
	return writeLedger(ctx, x.Operation, x.ledger)
}

// sweepRest deletes objects with the cluster's id and without a request, which no
// controller deletes.
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
	left, err := sweepPlatform(x.Context(), s, provider.Owner{ClusterID: x.id, Cluster: x.Name}, x.quiet, x.progress, func(now inventory.Stock) error {
		x.copies = now.Copies
		return x.addHeld(x.Context(), now.Held)
	})
	if err != nil {
		return fmt.Errorf("%w; run the same command again%s", leftError(x.Name, left, err), x.remedy(err))
	}
	return nil
}

// leftError names what is left of a cluster, and the cause.
func leftError(cluster string, left inventory.Inventory, err error) error {
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
	if err := awaitGone(x.Operation, x.config, &v1alpha1.ProviderConfigList{}, x.progress); err != nil {
		return err
	}
	return errors.Join(x.removePools(), x.removeCredentials())
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
			x.progress.Step(fmt.Sprintf("Secret %s is kept: ProviderConfig %s/%s refers to it", key, other.Namespace, other.Name))
			return nil
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	return client.IgnoreNotFound(x.Local.Delete(x.Context(), secret))
}

// awaitGone waits until an object does not exist, and reports its condition.
func awaitGone(o *operation.Operation, object client.Object, list client.ObjectList, progress *ui.Reporter) error {
	err := o.Watch(client.ObjectKeyFromObject(object), list, reportReady(progress))
	if errors.Is(err, operation.ErrDeleted) {
		return nil
	}
	return err
}

// reportReady reports each message of an object that is not Ready, and never ends a watch.
func reportReady(progress *ui.Reporter) func(client.Object) bool {
	last := ""
	return func(object client.Object) bool {
		c := meta.FindStatusCondition(conditionsOf(object), v1alpha1.ConditionReady)
		if c != nil && c.Status != metav1.ConditionTrue && c.Message != last {
			last = c.Message
			progress.Report(ui.Event{Type: ui.EventWaiting, Message: last})
		}
		return false
	}
}

// conditionsOf are those of the kinds that awaitGone waits for.
func conditionsOf(object client.Object) []metav1.Condition {
	switch o := object.(type) {
	case *v1alpha1.ProviderConfig:
		return o.Status.Conditions
	case *v1alpha1.NetworkPool:
		return o.Status.Conditions
	}
	return nil
}
