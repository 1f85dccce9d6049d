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
	"github.com/butlerdotdev/butler/internal/operation"
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

// settleAndWake makes the plane that is in charge the one to work with, and returns
// the ClusterBootstrap that lies there. Controllers of a cluster that sleep are
// woken.
func settleAndWake(o *operation.Operation, p provider.Provider, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*v1alpha1.ClusterBootstrap, error) {
	there, err := settle(o, p, cb, progress)
	if err != nil || o.InCharge() == operation.LocalPlane {
		return there, err
	}
	return there, startOwnControllers(o.Context(), o, o.Client())
}

// settle is settlePlane for whoever needs no controllers. A move that was
// interrupted after its switch is completed first.
func settle(o *operation.Operation, p provider.Provider, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*v1alpha1.ClusterBootstrap, error) {
	if !movedAway(cb) {
		return cb, nil
	}
	there, err := turnToCluster(o.Context(), o, cb, progress)
	if err != nil {
		return nil, err
	}
	here, err := pivot.Read(o.Context(), o.Local, client.ObjectKeyFromObject(cb))
	switch {
	case err != nil:
		return nil, err
	case here.Forward():
		report, err := moveOut(o, p, cb, progress)
		if err != nil {
			return nil, err
		}
		if report != nil { // a journal may have lost it
			progress.Moved(report)
		}
		return turnToCluster(o.Context(), o, cb, progress)
	case movedAway(there):
		return moveBack(o, p, cb, progress)
	}
	return there, nil
}

// pivotOut moves the management of the cluster onto the cluster itself. Trouble on
// the way is tried again; what the move refuses is not.
func pivotOut(o *operation.Operation, p provider.Provider, cb *v1alpha1.ClusterBootstrap, tries int, progress *ui.Reporter) error {
	report, err := moveOut(o, p, cb, progress)
	stopped, ok := errors.AsType[*pivot.Stopped](err)
	switch {
	case err == nil:
		if report != nil { // a journal may have lost it
			progress.Moved(report)
		}
		if err := o.Local.Get(o.Context(), client.ObjectKeyFromObject(cb), cb); err != nil {
			return err
		}
		_, err = turnToCluster(o.Context(), o, cb, progress)
		return err
	case !ok || !stopped.RolledBack || o.Context().Err() != nil:
		return err
	}
	if err := recordStopped(o, cb, stopped); err != nil {
		slog.Warn("why the move stopped could not be written down", "error", err)
	}
	if tries >= moves || stopped.Refused {
		return fmt.Errorf("%w; this machine goes on being in charge of %s", err, o.Name)
	}
	return o.Wait(respite)
}

// recordStopped writes down why a move came to nothing, for whoever looks. The
// controllers that are at work again write beside it.
func recordStopped(o *operation.Operation, cb *v1alpha1.ClusterBootstrap, s *pivot.Stopped) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now := &v1alpha1.ClusterBootstrap{}
		if err := o.Local.Get(o.Context(), client.ObjectKeyFromObject(cb), now); err != nil {
			return err
		}
		before := client.MergeFromWithOptions(now.DeepCopy(), client.MergeFromWithOptimisticLock{})
		meta.SetStatusCondition(&now.Status.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionPivoted, Status: metav1.ConditionFalse, Reason: "MoveStopped",
			Message: fmt.Sprintf("the move of the plane stopped at %s and was taken back: %v", s.Stage, s.Err), ObservedGeneration: now.Generation,
		})
		return o.Local.Status().Patch(o.Context(), now, before)
	})
}

// moveOut is the move onto the cluster, from wherever an earlier one stopped.
func moveOut(o *operation.Operation, p provider.Provider, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*pivot.Report, error) {
	there, err := clusterClient(o, cb)
	if err != nil {
		return nil, err
	}
	m := newMove(o, p, cb, o.Local, progress)
	m.From = pivot.Side{Name: here(), Kind: v1alpha1.PlaneLocal, Client: o.Local}
	m.To = pivot.Side{Name: "cluster " + o.Name, Kind: v1alpha1.PlaneSelf, Client: there}
	m.Scope = pivot.Everything
	m.Quiesce = o.StopControllers
	m.Resume = func(context.Context) error { return o.ResumeControllers(p) }
	question := &login{client: there, key: cb.ProviderConfig()}
	m.Admitted = func(ctx context.Context) error {
		if err := startOwnControllers(ctx, o, there); err != nil {
			return err
		}
		if err := atWork(ctx, there, cb.Spec.Provider); err != nil {
			return err
		}
		return question.accepted(ctx)
	}
	return m.Run(o.Context())
}

// newMove is what the moves in both directions share. The platform is asked with the
// credentials of the plane that is in charge before the move.
func newMove(o *operation.Operation, p provider.Provider, cb *v1alpha1.ClusterBootstrap, from client.Reader, progress *ui.Reporter) *pivot.Move {
	return &pivot.Move{
		Bootstrap: client.ObjectKeyFromObject(cb),
		Inventory: func(ctx context.Context) ([]pivot.Item, error) { return listItems(ctx, o, p, cb, from) },
		At: func(s pivot.Stage) error {
			o.Hooks.Reached("pivot/" + string(s))
			return nil
		},
		Tell: func(s pivot.Stage, message string) { progress.Waiting(string(s) + ": " + message) },
	}
}

func clusterClient(o *operation.Operation, cb *v1alpha1.ClusterBootstrap) (client.Client, error) {
	config, err := clusterConfig(o.Context(), o.Local, cb, o.Dial())
	if err != nil {
		return nil, err
	}
	return bounded(config)
}

// siteOf is the platform of a cluster as a plane knows it.
func siteOf(ctx context.Context, o *operation.Operation, p provider.Provider, cb *v1alpha1.ClusterBootstrap, c client.Reader) (site, error) {
	config := &v1alpha1.ProviderConfig{}
	if err := c.Get(ctx, cb.ProviderConfig(), config); err != nil {
		return site{}, err
	}
	secret, err := secretOf(ctx, c, config)
	return site{p, config, secret, o.Transport()}, err
}

// listItems is what the platform holds of the cluster. Of a machine's addresses only
// its own counts: a virtual IP and those of pods come and go by themselves.
func listItems(ctx context.Context, o *operation.Operation, p provider.Provider, cb *v1alpha1.ClusterBootstrap, from client.Reader) (out []pivot.Item, err error) {
	s, err := siteOf(ctx, o, p, cb, from)
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

// pivotBack brings the management of a cluster that manages itself back to this
// machine: nothing can be deleted by what runs on it.
func pivotBack(o *operation.Operation, p provider.Provider, progress *ui.Reporter) error {
	cb, err := o.FindCluster(o.Context(), o.Local)
	if err != nil || !movedAway(cb) {
		return err
	}
	if _, err := settle(o, p, cb, progress); err != nil || o.InCharge() == operation.LocalPlane {
		return err
	}
	if err := refuseOthersInCharge(o); err != nil {
		return err
	}
	progress.Step("its plane comes back to this machine")
	_, err = moveBack(o, p, cb, progress)
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

// moveBack is the move from the cluster back to this machine.
func moveBack(o *operation.Operation, p provider.Provider, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*v1alpha1.ClusterBootstrap, error) {
	there, err := clusterClient(o, cb)
	if err != nil {
		return nil, err
	}
	m := newMove(o, p, cb, there, progress)
	m.From = pivot.Side{Name: "cluster " + o.Name, Kind: v1alpha1.PlaneSelf, Client: there}
	m.To = pivot.Side{Name: here(), Kind: v1alpha1.PlaneLocal, Client: o.Local}
	m.Scope = pivot.Cluster
	m.Quiesce = func(ctx context.Context) error { return stopOwnControllers(ctx, o, there, progress) }
	m.Resume = func(ctx context.Context) error { return startOwnControllers(ctx, o, there) }
	m.Awake = func(ctx context.Context) (string, error) { return wokenUp(ctx, there) }
	m.Admitted = func(ctx context.Context) error {
		s, err := siteOf(ctx, o, p, cb, there)
		if err != nil {
			return err
		}
		_, end, err := s.connect(ctx)
		if err == nil {
			end()
		}
		return err
	}
	if _, err := m.Run(o.Context()); err != nil {
		return nil, err
	}
	o.UseLocalPlane()
	return o.FindCluster(o.Context(), o.Local)
}
