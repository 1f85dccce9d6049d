// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// metalLB gives Services of type LoadBalancer addresses of its pools, as MetalLB's
// controller does. Nothing answers at them.
type metalLB struct {
	client   kubernetes.Interface
	services corelisters.ServiceLister
	ranges   func() ([]string, error) // as parseRange reads them
	queue    workqueue.TypedRateLimitingInterface[struct{}]
	names    *elasticNames // nil: load balancers have addresses
}

// RunMetalLB does the work of MetalLB's controller until ctx ends.
func RunMetalLB(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	loose, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	services := informers.NewSharedInformerFactory(client, 0)
	pools := dynamicinformer.NewDynamicSharedInformerFactory(loose, 0)
	addresses := pools.ForResource(addressPools)
	m, err := newMetalLB(client, services.Core().V1().Services(), func() ([]string, error) { return rangesOf(addresses.Lister()) })
	if err != nil {
		return err
	}
	if _, err := addresses.Informer().AddEventHandler(m.handler()); err != nil {
		return err
	}
	services.StartWithContext(ctx)
	defer services.Shutdown()
	pools.Start(ctx.Done())
	defer pools.Shutdown()
	services.WaitForCacheSyncWithContext(ctx)
	m.run(ctx)
	return nil
}

var addressPools = schema.GroupVersionResource{Group: "metallb.io", Version: "v1beta1", Resource: "ipaddresspools"}

func newMetalLB(client kubernetes.Interface, services coreinformers.ServiceInformer, ranges func() ([]string, error)) (*metalLB, error) {
	m := &metalLB{
		client: client, services: services.Lister(), ranges: ranges,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[struct{}]()),
	}
	_, err := services.Informer().AddEventHandler(m.handler())
	return m, err
}

func (m *metalLB) handler() cache.ResourceEventHandler {
	look := func() { m.queue.Add(struct{}{}) }
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { look() }, UpdateFunc: func(_, _ any) { look() }, DeleteFunc: func(any) { look() },
	}
}

// rangesOf are those of all pools.
func rangesOf(pools cache.GenericLister) (out []string, err error) {
	all, err := pools.List(labels.Everything())
	for _, pool := range all {
		ranges, _, _ := unstructured.NestedStringSlice(pool.(*unstructured.Unstructured).Object, "spec", "addresses")
		out = append(out, ranges...)
	}
	return out, err
}

func (m *metalLB) run(ctx context.Context) {
	defer context.AfterFunc(ctx, m.queue.ShutDown)()
	for {
		item, shutdown := m.queue.Get()
		if shutdown {
			return
		}
		if err := m.assign(ctx); err != nil {
			m.queue.AddRateLimited(item)
		} else {
			m.queue.Forget(item)
		}
		m.queue.Done(item)
	}
}

// assign gives each Service without an address the first one that is free.
func (m *metalLB) assign(ctx context.Context) error {
	services, err := m.services.List(labels.Everything())
	if err != nil {
		return err
	}
	ranges, err := m.ranges()
	if err != nil {
		return err
	}
	taken, pending := sorted(services)
	m.names.follow(services)
	var errs []error
	for _, s := range pending {
		address, ok := freeOf(ranges, taken)
		if !ok {
			break // until a Service goes, or a pool comes
		}
		taken[address] = true
		s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{m.names.ingress(s, address)}
		_, err := m.client.CoreV1().Services(s.Namespace).UpdateStatus(ctx, s, metav1.UpdateOptions{})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// sorted are the addresses that Services have, and those Services that wait for one.
func sorted(services []*corev1.Service) (taken map[netip.Addr]bool, pending []*corev1.Service) {
	taken = map[netip.Addr]bool{}
	for _, s := range services {
		for _, ingress := range s.Status.LoadBalancer.Ingress {
			if address := addressOfIngress(ingress); address.IsValid() {
				taken[address] = true
			}
		}
		if s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.LoadBalancerClass == nil && len(s.Status.LoadBalancer.Ingress) == 0 {
			pending = append(pending, s.DeepCopy())
		}
	}
	return taken, pending
}

// freeOf is the first address of the ranges that is not assigned.
func freeOf(ranges []string, taken map[netip.Addr]bool) (netip.Addr, bool) {
	for _, text := range ranges {
		from, to, err := parseRange(text)
		if err != nil {
			continue // MetalLB's webhook would have refused it
		}
		for a := from; a.Compare(to) <= 0; a = a.Next() {
			if !taken[a] {
				return a, true
			}
		}
	}
	return netip.Addr{}, false
}

// parseRange reads what a pool may list: two addresses, or a prefix.
func parseRange(text string) (from, to netip.Addr, err error) {
	if first, last, ok := strings.Cut(text, "-"); ok {
		from, err1 := netip.ParseAddr(strings.TrimSpace(first))
		to, err2 := netip.ParseAddr(strings.TrimSpace(last))
		return from, to, errors.Join(err1, err2)
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil || !prefix.Addr().Is4() {
		return from, to, fmt.Errorf("%q is no range of addresses: %w", text, err)
	}
	last := prefix.Masked().Addr().As4()
	for bit := prefix.Bits(); bit < 32; bit++ {
		last[bit/8] |= 1 << (7 - bit%8)
	}
	return prefix.Masked().Addr(), netip.AddrFrom4(last), nil
}
