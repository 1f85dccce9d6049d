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
	"github.com/butlerdotdev/butler/internal/deployed"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/pivot"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

const (
	// maxMoves is how often a move is attempted.
	maxMoves = 3
	// retryPause is the pause before the next attempt.
	retryPause = 5 * time.Second
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

// ResumeInCharge switches the operation to the plane that is in charge, starts
// controllers of the cluster that a move has stopped, and returns the ClusterBootstrap.
func (m Mover) ResumeInCharge(cb *v1alpha1.ClusterBootstrap) (*v1alpha1.ClusterBootstrap, error) {
	there, err := m.UseInCharge(cb)
	if err != nil || m.InCharge() == operation.LocalPlane {
		return there, err
	}
	return there, deployed.Start(m.Context(), m.Client())
}

// UseInCharge is ResumeInCharge without starting controllers. It first completes a move
// that was interrupted after its switch.
func (m Mover) UseInCharge(cb *v1alpha1.ClusterBootstrap) (*v1alpha1.ClusterBootstrap, error) {
	if !MovedAway(cb) {
		return cb, nil
	}
	there, err := ConnectInCharge(m.Context(), m.Operation, cb, m.Progress)
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
		return ConnectInCharge(m.Context(), m.Operation, cb, m.Progress)
	case MovedAway(there):
		return m.MoveBack(cb)
	}
	return there, nil
}

// PivotOut moves the management of the cluster onto the cluster itself. Transient
// errors are retried; refusals are not.
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
		_, err = ConnectInCharge(m.Context(), m.Operation, cb, m.Progress)
		return err
	case !ok || !stopped.RolledBack || m.Context().Err() != nil:
		return err
	}
	if err := m.recordStopped(cb, stopped); err != nil {
		slog.Warn("record why the move stopped", "error", err)
	}
	if tries >= maxMoves || stopped.Refused {
		return fmt.Errorf("%w; %s stays in charge of %s", err, m.Plane(), m.Name)
	}
	return m.Wait(retryPause)
}

// recordStopped writes to the status why a move was rolled back. The restarted
// controllers write to it, too.
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

// listItems lists what the platform holds of the cluster. Of a machine's addresses only
// its own counts: a virtual IP and those of pods change at any time.
func (m Mover) listItems(ctx context.Context, cb *v1alpha1.ClusterBootstrap, from client.Reader) (out []pivot.Item, err error) {
	s, err := inventory.ReadSite(ctx, m.Operation, m.provider, cb, from)
	if err != nil {
		return nil, err
	}
	found, err := s.ListHeld(ctx, provider.Owner{ClusterID: cb.Annotations[v1alpha1.AnnotationClusterID]})
	for _, h := range found {
		addresses := h.Addresses
		if !h.LoadBalancer {
			addresses = slices.DeleteFunc(slices.Clone(addresses), func(a string) bool { return !isMachineAddress(cb, a) })
		}
		for _, part := range h.Parts {
			out = append(out, pivot.Item{Kind: part.Kind, Name: part.Name, ID: h.ID, Addresses: addresses})
		}
	}
	return out, err
}

// isMachineAddress reports whether a machine of the cluster has the address.
func isMachineAddress(cb *v1alpha1.ClusterBootstrap, address string) bool {
	return slices.ContainsFunc(cb.Status.Machines, func(m v1alpha1.BootstrapMachineStatus) bool { return m.IPAddress == address })
}

// moveOut moves the plane onto the cluster, or continues an earlier move.
func (m Mover) moveOut(cb *v1alpha1.ClusterBootstrap) (*pivot.Report, error) {
	there, err := m.clusterClient(cb)
	if err != nil {
		return nil, err
	}
	move := m.newMove(cb, m.Local)
	move.From, move.To, move.Scope = m.localSide(cb, m.Local), m.clusterSide(cb, there), pivot.Everything
	if m.Operation.Plane().OfUser() {
		move.Scope = pivot.Namespace
	}
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

// newMove returns the common part of the moves in both directions. The platform is listed with
// the credentials of the plane that is in charge before the move.
func (m Mover) newMove(cb *v1alpha1.ClusterBootstrap, from client.Reader) *pivot.Move {
	return &pivot.Move{
		Bootstrap: client.ObjectKeyFromObject(cb),
		Inventory: func(ctx context.Context) ([]pivot.Item, error) { return m.listItems(ctx, cb, from) },
		At: func(s pivot.Stage) error {
			m.Hooks.Reached("pivot/" + string(s))
			return nil
		},
		Progress: func(s pivot.Stage, message string) { m.Progress.Waiting(string(s) + ": " + message) },
	}
}
