// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubevirtv1 "kubevirt.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/butlerdotdev/butler/internal/sim/harvester/admission"
	harvesterv1beta1 "github.com/butlerdotdev/butler/internal/sim/harvester/harvesterhci/v1beta1"
)

// workers is how many objects of a kind are played at once. Switching a machine off
// occupies one until it is off.
const workers = 16

// startControllers runs the controllers until Stop and returns when they have seen
// everything that is there.
func (h *Harvester) startControllers(ctx context.Context, c client.Client) error {
	parallel, skip := workers, true
	m, err := ctrl.NewManager(h.plane.Config(), manager.Options{
		Scheme:  c.Scheme(),
		Logger:  logr.FromSlogHandler(h.options.Log.Handler()),
		Metrics: server.Options{BindAddress: "0"},
		// A process may run several simulations, one after the other.
		Controller: config.Controller{MaxConcurrentReconciles: parallel, SkipNameValidation: &skip},
	})
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	if err := h.addControllers(running, m); err != nil {
		close(h.ended)
		return err
	}
	go func() {
		defer close(h.ended)
		h.err = m.Start(running)
	}()
	if !m.GetCache().WaitForCacheSync(ctx) {
		return errors.Join(errors.New("the controllers did not start in time"), ctx.Err())
	}
	return nil
}

func (h *Harvester) addControllers(ctx context.Context, m manager.Manager) error {
	news := make(chan event.GenericEvent)
	vms := &machines{
		Client: m.GetClient(), live: m.GetAPIReader(), datacenter: h.options.Datacenter,
		noAgent: h.options.Seed.NoGuestAgent, faults: h.options.Faults,
		reruns: map[string]bool{}, departed: map[types.NamespacedName]types.UID{}, moved: map[types.UID]bool{}, asked: map[types.UID]<-chan struct{}{}, log: h.options.Log,
	}
	if !h.options.second {
		go vms.forward(ctx, news)
	}
	go h.followPlans(ctx, m.GetClient(), news)
	return errors.Join(
		indexMachines(ctx, m.GetFieldIndexer()),
		addImages(m),
		addClaims(m),
		addMachines(m, vms, news),
		h.recordObjects(ctx, m),
	)
}

// followPlans has all machines looked at when a plan replaces another: they look for a
// host again.
func (h *Harvester) followPlans(ctx context.Context, c client.Client, news chan<- event.GenericEvent) {
	faults := h.options.Faults
	for replaced := faults.Replaced(); ; {
		select {
		case <-ctx.Done():
			return
		case <-replaced:
		}
		replaced = faults.Replaced()
		if err := lookAgain(ctx, c, news); err != nil && ctx.Err() == nil {
			h.options.Log.Error("look at all machines after a new fault plan", "err", err)
		}
	}
}

// lookAgain has all machines looked at.
func lookAgain(ctx context.Context, c client.Client, news chan<- event.GenericEvent) error {
	all := &kubevirtv1.VirtualMachineList{}
	if err := c.List(ctx, all); err != nil {
		return err
	}
	for i := range all.Items {
		select {
		case news <- event.GenericEvent{Object: &all.Items[i]}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func addImages(m manager.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named("image").
		For(&harvesterv1beta1.VirtualMachineImage{}).
		Complete(&images{Client: m.GetClient()})
}

func addClaims(m manager.Manager) error {
	r := &claims{Client: m.GetClient(), recorder: m.GetEventRecorder("persistentvolume-controller")}
	return ctrl.NewControllerManagedBy(m).Named("claim").
		For(&corev1.PersistentVolumeClaim{}).
		Watches(&storagev1.StorageClass{}, handler.EnqueueRequestsFromMapFunc(r.pending)).
		Watches(&harvesterv1beta1.VirtualMachineImage{}, handler.EnqueueRequestsFromMapFunc(r.pending)).
		Complete(r)
}

func addMachines(m manager.Manager, r *machines, news <-chan event.GenericEvent) error {
	return ctrl.NewControllerManagedBy(m).Named("machine").
		// Own status writes must not bring the machine back; its deletion counts as a change.
		For(&kubevirtv1.VirtualMachine{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&kubevirtv1.VirtualMachineInstance{}).
		Watches(&corev1.Pod{}, handler.Funcs{DeleteFunc: r.podGone}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.waiting)).
		Watches(&corev1.ResourceQuota{}, handler.EnqueueRequestsFromMapFunc(r.inNamespace)).
		Watches(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(r.using(byClaim))).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.using(bySecret))).
		WatchesMetadata(networkMeta(), handler.EnqueueRequestsFromMapFunc(r.using(byNetwork))).
		WatchesRawSource(source.Channel(news, &handler.EnqueueRequestForObject{})).
		Complete(r)
}

// networkMeta is a network of which only the existence matters.
func networkMeta() *metav1.PartialObjectMetadata {
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(admission.NetworkKind())
	return meta
}
