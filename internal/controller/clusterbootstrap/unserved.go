// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// servedWithin is how long a provider's controller may take to report on a
// ProviderConfig. It needs a moment; the rest is for one that is only starting.
const servedWithin = 30 * time.Second

// unserved reports ProviderConfigs that no provider's controller reports on.
type unserved struct {
	client.Client
	clock func() time.Time

	mu   sync.Mutex
	seen map[types.UID]sight
}

// sight is since when a generation was seen without a report.
type sight struct {
	generation int64
	since      time.Time
}

func (u *unserved) register(m manager.Manager) error {
	return builder.ControllerManagedBy(m).
		Named("unserved").
		For(&v1alpha1.ProviderConfig{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(reconcile.AsReconciler(m.GetClient(), u))
}

// Reconcile sets the condition Ready to Unknown if the present generation has had no
// report for a while. The provider's controller overwrites it with its own.
func (u *unserved) Reconcile(ctx context.Context, config *v1alpha1.ProviderConfig) (reconcile.Result, error) {
	ready := meta.FindStatusCondition(config.Status.Conditions, v1alpha1.ConditionReady)
	if !config.DeletionTimestamp.IsZero() || ready != nil && ready.ObservedGeneration >= config.Generation {
		u.forget(config.UID)
		return reconcile.Result{}, nil
	}
	if left := servedWithin - u.clock().Sub(u.since(config)); left > 0 {
		return reconcile.Result{RequeueAfter: left}, nil
	}
	base := config.DeepCopy()
	config.Status.Ready = false
	meta.SetStatusCondition(&config.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonNoController, ObservedGeneration: config.Generation,
		Message: fmt.Sprintf("no controller has reported on it for %s; install and start butler-provider-%s", servedWithin, config.Spec.Provider),
	})
	lock := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	return reconcile.Result{}, client.IgnoreNotFound(u.Status().Patch(ctx, config, lock))
}

// since is when the present generation was first seen without a report.
func (u *unserved) since(config *v1alpha1.ProviderConfig) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen == nil {
		u.seen = map[types.UID]sight{}
	}
	s, ok := u.seen[config.UID]
	if !ok || s.generation != config.Generation {
		s = sight{config.Generation, u.clock()}
		u.seen[config.UID] = s
	}
	return s.since
}

func (u *unserved) forget(uid types.UID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.seen, uid)
}

// servedOrNot lets a ProviderConfig pass that has lost or found its controller.
func servedOrNot() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool { return hasNoController(e.ObjectOld) != hasNoController(e.ObjectNew) },
	}
}

func hasNoController(o client.Object) bool {
	config, ok := o.(*v1alpha1.ProviderConfig)
	if !ok {
		return false
	}
	c := meta.FindStatusCondition(config.Status.Conditions, v1alpha1.ConditionReady)
	return c != nil && c.Reason == v1alpha1.ReasonNoController
}
