// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/inventory"
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

// Mover moves the management of a cluster between this machine and the cluster.
type Mover struct {
	*operation.Operation
	provider provider.Provider
	Progress *ui.Reporter
}

// NewMover returns a mover for the cluster of an operation.
func NewMover(o *operation.Operation, p provider.Provider, progress *ui.Reporter) Mover {
	return Mover{o, p, progress}
}

// SettleAndWake turns the operation to the plane that is in charge, and returns the
// ClusterBootstrap on it. It starts controllers of the cluster that a move has stopped.
func (m Mover) SettleAndWake(cb *v1alpha1.ClusterBootstrap) (*v1alpha1.ClusterBootstrap, error) {
	there, err := m.Settle(cb)
	if err != nil || m.InCharge() == operation.LocalPlane {
		return there, err
	}
	return there, startOwnControllers(m.Context(), m.Client())
}

// Settle is SettleAndWake without starting controllers. It completes a move that was
// interrupted after its switch first.
func (m Mover) Settle(cb *v1alpha1.ClusterBootstrap) (*v1alpha1.ClusterBootstrap, error) {
	if !MovedAway(cb) {
		return cb, nil
	}
	there, err := TurnToCluster(m.Context(), m.Operation, cb, m.Progress)
	if err != nil {
		return nil, err
	}
	here, err := pivot.Read(m.Context(), m.Local, client.ObjectKeyFromObject(cb))
	switch {
	case err != nil:
		return nil, err
	case here.Forward():
		report, err := m.moveOut(cb)
		if err != nil {
			return nil, err
		}
		if report != nil { // a journal may have lost it
			m.Progress.Moved(report)
		}
		return TurnToCluster(m.Context(), m.Operation, cb, m.Progress)
	case MovedAway(there):
		return m.MoveBack(cb)
	}
	return there, nil
}

// PivotOut moves the management of the cluster onto the cluster itself. Trouble on
// the way is tried again; what the move refuses is not.
func (m Mover) PivotOut(cb *v1alpha1.ClusterBootstrap, tries int) error {
	report, err := m.moveOut(cb)
	stopped, ok := errors.AsType[*pivot.Stopped](err)
	switch {
	case err == nil:
		if report != nil { // a journal may have lost it
			m.Progress.Moved(report)
		}
		if err := m.Local.Get(m.Context(), client.ObjectKeyFromObject(cb), cb); err != nil {
			return err
		}
		_, err = TurnToCluster(m.Context(), m.Operation, cb, m.Progress)
		return err
	case !ok || !stopped.RolledBack || m.Context().Err() != nil:
		return err
	}
	if err := m.recordStopped(cb, stopped); err != nil {
		slog.Warn("record why the move stopped", "error", err)
	}
	if tries >= moves || stopped.Refused {
		return fmt.Errorf("%w; this machine stays in charge of %s", err, m.Name)
	}
	return m.Wait(respite)
}

// recordStopped writes to the status why a move was taken back. The controllers that
// run again write to it, too.
func (m Mover) recordStopped(cb *v1alpha1.ClusterBootstrap, s *pivot.Stopped) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now := &v1alpha1.ClusterBootstrap{}
		if err := m.Local.Get(m.Context(), client.ObjectKeyFromObject(cb), now); err != nil {
			return err
		}
		before := client.MergeFromWithOptions(now.DeepCopy(), client.MergeFromWithOptimisticLock{})
		meta.SetStatusCondition(&now.Status.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionPivoted, Status: metav1.ConditionFalse, Reason: "MoveStopped",
			Message: fmt.Sprintf("the move of the plane stopped at %s and was rolled back: %v", s.Stage, s.Err), ObservedGeneration: now.Generation,
		})
		return m.Local.Status().Patch(m.Context(), now, before)
	})
}

func (m Mover) clusterClient(cb *v1alpha1.ClusterBootstrap) (client.Client, error) {
	config, err := RESTConfig(m.Context(), m.Local, cb, m.Dial())
	if err != nil {
		return nil, err
	}
	return newBoundedClient(config)
}

// listItems is what the platform holds of the cluster. Of a machine's addresses only
// its own counts: a virtual IP and those of pods come and go by themselves.
func (m Mover) listItems(ctx context.Context, cb *v1alpha1.ClusterBootstrap, from client.Reader) (out []pivot.Item, err error) {
	s, err := inventory.ReadSite(ctx, m.Operation, m.provider, cb, from)
	if err != nil {
		return nil, err
	}
	found, err := s.ListHeld(ctx, provider.Owner{ClusterID: cb.Annotations[v1alpha1.AnnotationClusterID]})
	for _, h := range found {
		addresses := h.Addresses
		if !h.Balancer {
			addresses = slices.DeleteFunc(slices.Clone(addresses), func(a string) bool { return !isMachine(cb, a) })
		}
		for _, part := range h.Parts {
			out = append(out, pivot.Item{Kind: part.Kind, Name: part.Name, ID: h.ID, Addresses: addresses})
		}
	}
	return out, err
}

// isMachine reports whether a machine of the cluster is known by the address.
func isMachine(cb *v1alpha1.ClusterBootstrap, address string) bool {
	return slices.ContainsFunc(cb.Status.Machines, func(m v1alpha1.BootstrapMachineStatus) bool { return m.IPAddress == address })
}

// moveOut moves the plane onto the cluster, from wherever an earlier move stopped.
func (m Mover) moveOut(cb *v1alpha1.ClusterBootstrap) (*pivot.Report, error) {
	there, err := m.clusterClient(cb)
	if err != nil {
		return nil, err
	}
	move := m.newMove(cb, m.Local)
	move.From, move.To, move.Scope = m.localSide(cb, m.Local), m.clusterSide(cb, there), pivot.Everything
	return move.Run(m.Context())
}

// MoveBack moves the plane from the cluster back to this machine.
func (m Mover) MoveBack(cb *v1alpha1.ClusterBootstrap) (*v1alpha1.ClusterBootstrap, error) {
	there, err := m.clusterClient(cb)
	if err != nil {
		return nil, err
	}
	move := m.newMove(cb, there)
	move.From, move.To, move.Scope = m.clusterSide(cb, there), m.localSide(cb, there), pivot.Cluster
	if _, err := move.Run(m.Context()); err != nil {
		return nil, err
	}
	m.UseLocalPlane()
	return m.FindCluster(m.Context(), m.Local)
}

// newMove returns what the moves in both directions share. The platform is asked with
// the credentials of the plane that is in charge before the move.
func (m Mover) newMove(cb *v1alpha1.ClusterBootstrap, from client.Reader) *pivot.Move {
	return &pivot.Move{
		Bootstrap: client.ObjectKeyFromObject(cb),
		Inventory: func(ctx context.Context) ([]pivot.Item, error) { return m.listItems(ctx, cb, from) },
		At: func(s pivot.Stage) error {
			m.Hooks.Reached("pivot/" + string(s))
			return nil
		},
		Tell: func(s pivot.Stage, message string) { m.Progress.Waiting(string(s) + ": " + message) },
	}
}
