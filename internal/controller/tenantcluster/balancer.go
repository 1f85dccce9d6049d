// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// balancers are the Services of type LoadBalancer of a tenant, which are watched once they were
// asked for.
type balancers struct {
	once   sync.Once
	lister corev1listers.ServiceLister
	synced cache.InformerSynced
}

// Balancers returns the Services of type LoadBalancer that no other load balancer serves. From
// the first call on, changes of them are reported.
func (t *Tenant) Balancers(ctx context.Context) ([]*corev1.Service, error) {
	t.balancers.once.Do(t.watchBalancers)
	known, err := t.services(ctx)
	return slices.DeleteFunc(known, func(s *corev1.Service) bool { return !isBalanced(s) }), err
}

func (t *Tenant) services(ctx context.Context) (out []*corev1.Service, err error) {
	if t.balancers.synced() {
		return t.balancers.lister.List(labels.Everything())
	}
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	all, err := t.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range all.Items {
		out = append(out, &all.Items[i])
	}
	return out, nil
}

func isBalanced(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.LoadBalancerClass == nil
}

func (t *Tenant) watchBalancers() {
	source := cache.NewListWatchFromClient(t.CoreV1().RESTClient(), "services", metav1.NamespaceAll, fields.Everything())
	informer := cache.NewSharedIndexInformer(source, &corev1.Service{}, 0, cache.Indexers{})
	_ = informer.SetTransform(slimService)
	_ = informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}) // that of nodes reports a silent API server
	report := func(all ...any) {
		if slices.ContainsFunc(all, func(o any) bool { s, ok := o.(*corev1.Service); return !ok || isBalanced(s) }) {
			t.changed()
		}
	}
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { report(o) }, DeleteFunc: func(o any) { report(o) }, UpdateFunc: func(before, after any) { report(before, after) },
	})
	t.balancers.lister, t.balancers.synced = corev1listers.NewServiceLister(informer.GetIndexer()), informer.HasSynced
	go informer.Run(t.ctx.Done())
}

// slimService keeps of a Service what is read of it.
func slimService(o any) (any, error) {
	s, ok := o.(*corev1.Service)
	if !ok {
		return o, nil
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, UID: s.UID, ResourceVersion: s.ResourceVersion, CreationTimestamp: s.CreationTimestamp},
		Spec:       corev1.ServiceSpec{Type: s.Spec.Type, LoadBalancerClass: s.Spec.LoadBalancerClass},
		Status:     corev1.ServiceStatus{LoadBalancer: s.Status.LoadBalancer},
	}, nil
}
