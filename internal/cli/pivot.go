// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/pivot"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

const (
	// moves is how often a move is begun that trouble on the way has stopped.
	moves = 3
	// respite is how long the cluster has before the next try.
	respite = 5 * time.Second
)

// settlePlane makes the plane that is in charge the one to work with, and returns
// the ClusterBootstrap that lies there. Controllers of a cluster that sleep are
// woken.
func (o *operation) settlePlane(p provider.Provider, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*v1alpha1.ClusterBootstrap, error) {
	there, err := o.settle(p, cb, progress)
	if err != nil || o.client == o.local {
		return there, err
	}
	return there, o.awaken(o.ctx, o.client)
}

// settle is settlePlane for whoever needs no controllers. A move that was
// interrupted after its switch is completed first.
func (o *operation) settle(p provider.Provider, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*v1alpha1.ClusterBootstrap, error) {
	if !movedAway(cb) {
		return cb, nil
	}
	there, err := o.turnTo(o.ctx, cb, progress)
	if err != nil {
		return nil, err
	}
	here, err := pivot.Read(o.ctx, o.local, client.ObjectKeyFromObject(cb))
	switch {
	case err != nil:
		return nil, err
	case here.Forward():
		report, err := o.moveOut(p, cb, progress)
		if err != nil {
			return nil, err
		}
		if report != nil { // a journal may have lost it
			progress.Moved(report)
		}
		return o.turnTo(o.ctx, cb, progress)
	case movedAway(there):
		return o.comeBack(p, cb, progress)
	}
	return there, nil
}

// markPlane writes down that the ClusterBootstrap lies on an operator's machine,
// from where it may move. It is no field of the manifest's.
func (o *operation) markPlane(ctx context.Context, key client.ObjectKey) error {
	cb := &v1alpha1.ClusterBootstrap{}
	if err := o.local.Get(ctx, key, cb); err != nil || cb.Annotations[v1alpha1.AnnotationPlane] != "" {
		return err
	}
	before := cb.DeepCopy()
	metav1.SetMetaDataAnnotation(&cb.ObjectMeta, v1alpha1.AnnotationPlane, v1alpha1.PlaneLocal)
	return o.local.Patch(ctx, cb, client.MergeFrom(before), client.FieldOwner("butleradm-plane"))
}

// readyToPivot is a bootstrap with nothing left to do but to move.
func readyToPivot(cb *v1alpha1.ClusterBootstrap) bool {
	c := meta.FindStatusCondition(cb.Status.Conditions, v1alpha1.ConditionReady)
	return c != nil && c.Reason == bootstrap.ReasonReadyToPivot && cb.Status.ObservedGeneration == cb.Generation &&
		cb.DeletionTimestamp.IsZero() && !movedAway(cb) && !bootstrap.SelfHosted(cb)
}

// pivot moves the management of the cluster onto the cluster itself. Trouble on
// the way is tried again; what the move refuses is not.
func (o *operation) pivot(p provider.Provider, cb *v1alpha1.ClusterBootstrap, tries int, progress *ui.Reporter) error {
	report, err := o.moveOut(p, cb, progress)
	stopped, ok := errors.AsType[*pivot.Stopped](err)
	switch {
	case err == nil:
		if report != nil { // a journal may have lost it
			progress.Moved(report)
		}
		if err := o.local.Get(o.ctx, client.ObjectKeyFromObject(cb), cb); err != nil {
			return err
		}
		_, err = o.turnTo(o.ctx, cb, progress)
		return err
	case !ok || !stopped.RolledBack || o.ctx.Err() != nil:
		return err
	}
	if err := o.tellStopped(cb, stopped); err != nil {
		slog.Warn("why the move stopped could not be written down", "error", err)
	}
	if tries >= moves || stopped.Refused {
		return fmt.Errorf("%w; this machine goes on being in charge of %s", err, o.Name)
	}
	return o.rest(respite)
}

// tellStopped writes down why a move came to nothing, for whoever looks. The
// controllers that are at work again write beside it.
func (o *operation) tellStopped(cb *v1alpha1.ClusterBootstrap, s *pivot.Stopped) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now := &v1alpha1.ClusterBootstrap{}
		if err := o.local.Get(o.ctx, client.ObjectKeyFromObject(cb), now); err != nil {
			return err
		}
		before := client.MergeFromWithOptions(now.DeepCopy(), client.MergeFromWithOptimisticLock{})
		meta.SetStatusCondition(&now.Status.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionPivoted, Status: metav1.ConditionFalse, Reason: "MoveStopped",
			Message: fmt.Sprintf("the move of the plane stopped at %s and was taken back: %v", s.Stage, s.Err), ObservedGeneration: now.Generation,
		})
		return o.local.Status().Patch(o.ctx, now, before)
	})
}

// moveOut is the move onto the cluster, from wherever an earlier one stopped.
func (o *operation) moveOut(p provider.Provider, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*pivot.Report, error) {
	there, err := o.clusterClient(cb)
	if err != nil {
		return nil, err
	}
	m := o.move(p, cb, o.local, progress)
	m.From = pivot.Side{Name: here(), Kind: v1alpha1.PlaneLocal, Client: o.local}
	m.To = pivot.Side{Name: "cluster " + o.Name, Kind: v1alpha1.PlaneSelf, Client: there}
	m.Scope = pivot.Everything
	m.Quiesce = o.quiesce
	m.Resume = func(context.Context) error { return o.resume(p) }
	question := &login{client: there, key: cb.ProviderConfig()}
	m.Admitted = func(ctx context.Context) error {
		if err := o.awaken(ctx, there); err != nil {
			return err
		}
		if err := atWork(ctx, there, cb.Spec.Provider); err != nil {
			return err
		}
		return question.accepted(ctx)
	}
	return m.Run(o.ctx)
}

// move is what the moves in both directions share. The platform is asked with the
// credentials of the plane that is in charge before the move.
func (o *operation) move(p provider.Provider, cb *v1alpha1.ClusterBootstrap, from client.Reader, progress *ui.Reporter) *pivot.Move {
	return &pivot.Move{
		Bootstrap: client.ObjectKeyFromObject(cb),
		Inventory: func(ctx context.Context) ([]pivot.Item, error) { return o.items(ctx, p, cb, from) },
		At: func(s pivot.Stage) error {
			o.hooks.at("pivot/" + string(s))
			return nil
		},
		Tell: func(s pivot.Stage, message string) { progress.Waiting(string(s) + ": " + message) },
	}
}

func (o *operation) clusterClient(cb *v1alpha1.ClusterBootstrap) (client.Client, error) {
	config, err := clusterConfig(o.ctx, o.local, cb, o.dial())
	if err != nil {
		return nil, err
	}
	return bounded(config)
}

// siteOf is the platform of a cluster as a plane knows it.
func (o *operation) siteOf(ctx context.Context, p provider.Provider, cb *v1alpha1.ClusterBootstrap, c client.Reader) (site, error) {
	config := &v1alpha1.ProviderConfig{}
	if err := c.Get(ctx, cb.ProviderConfig(), config); err != nil {
		return site{}, err
	}
	secret, err := secretOf(ctx, c, config)
	return site{p, config, secret, o.transport()}, err
}

// items is what the platform holds of the cluster. Of a machine's addresses only
// its own counts: a virtual IP and those of pods come and go by themselves.
func (o *operation) items(ctx context.Context, p provider.Provider, cb *v1alpha1.ClusterBootstrap, from client.Reader) (out []pivot.Item, err error) {
	s, err := o.siteOf(ctx, p, cb, from)
	if err != nil {
		return nil, err
	}
	found, err := s.inventory(ctx, provider.Owner{ClusterID: cb.Annotations[v1alpha1.AnnotationClusterID]})
	for _, h := range found {
		addresses := h.addresses
		if !h.balancer {
			addresses = slices.DeleteFunc(slices.Clone(addresses), func(a string) bool { return !isMachine(cb, a) })
		}
		for _, part := range h.parts {
			out = append(out, pivot.Item{Kind: part.Kind, Name: part.Name, ID: h.id, Addresses: addresses})
		}
	}
	return out, err
}

// isMachine reports whether a machine of the cluster is known by the address.
func isMachine(cb *v1alpha1.ClusterBootstrap, address string) bool {
	return slices.ContainsFunc(cb.Status.Machines, func(m v1alpha1.BootstrapMachineStatus) bool { return m.IPAddress == address })
}

// takeBack brings the management of a cluster that manages itself back to this
// machine: nothing can be deleted by what runs on it.
func (o *operation) takeBack(p provider.Provider, progress *ui.Reporter) error {
	cb, err := o.FindCluster(o.ctx, o.local)
	if err != nil || !movedAway(cb) {
		return err
	}
	if _, err := o.settle(p, cb, progress); err != nil || o.client == o.local {
		return err
	}
	if err := o.refuseOthersInCharge(); err != nil {
		return err
	}
	progress.Step("its plane comes back to this machine")
	_, err = o.comeBack(p, cb, progress)
	return err
}

// here names this machine to whoever reads of it elsewhere.
func here() string {
	host, err := os.Hostname()
	if err != nil {
		return "another machine"
	}
	return "workstation " + host
}

// comeBack is the move from the cluster back to this machine.
func (o *operation) comeBack(p provider.Provider, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*v1alpha1.ClusterBootstrap, error) {
	there, err := o.clusterClient(cb)
	if err != nil {
		return nil, err
	}
	m := o.move(p, cb, there, progress)
	m.From = pivot.Side{Name: "cluster " + o.Name, Kind: v1alpha1.PlaneSelf, Client: there}
	m.To = pivot.Side{Name: here(), Kind: v1alpha1.PlaneLocal, Client: o.local}
	m.Scope = pivot.Cluster
	m.Quiesce = func(ctx context.Context) error { return o.putToSleep(ctx, there, progress) }
	m.Resume = func(ctx context.Context) error { return o.awaken(ctx, there) }
	m.Awake = func(ctx context.Context) (string, error) { return wokenUp(ctx, there) }
	m.Admitted = func(ctx context.Context) error {
		s, err := o.siteOf(ctx, p, cb, there)
		if err != nil {
			return err
		}
		_, end, err := s.connect(ctx)
		if err == nil {
			end()
		}
		return err
	}
	if _, err := m.Run(o.ctx); err != nil {
		return nil, err
	}
	o.client = o.local
	return o.FindCluster(o.ctx, o.local)
}
