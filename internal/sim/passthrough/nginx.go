// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package passthrough

import (
	"context"
	"errors"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nginx passes on what Ingresses with an annotation say, if an argument allows it. It writes its
// address to all of them.
type nginx struct {
	pod    *corev1.Pod
	passes bool
}

func (nginx) terminates() bool { return true }

func (nginx) kinds() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{servicesKind, ingressesKind}
}

func (n nginx) pass(ctx context.Context, c client.Client) (table, error) {
	address, ok, err := front(ctx, c, n.pod)
	if err != nil || !ok {
		return nil, err
	}
	classes, err := n.classes(ctx, c)
	if err != nil {
		return nil, err
	}
	all := &networkingv1.IngressList{}
	if err := c.List(ctx, all); err != nil {
		return nil, err
	}
	out, at := table{}, netip.AddrPortFrom(address, ingressPort)
	out.open(at)
	var errs []error
	for i := range all.Items {
		o := &all.Items[i]
		if o.Spec.IngressClassName == nil || !classes[*o.Spec.IngressClassName] {
			continue
		}
		errs = append(errs, publish(ctx, c, o, address))
		if n.passes && o.Annotations["nginx.ingress.kubernetes.io/ssl-passthrough"] == "true" {
			addRules(ctx, c, out, at, o)
		}
	}
	return out, errors.Join(errs...)
}

// classes are those of this controller.
func (nginx) classes(ctx context.Context, c client.Client) (map[string]bool, error) {
	all := &networkingv1.IngressClassList{}
	err := c.List(ctx, all)
	out := map[string]bool{}
	for _, class := range all.Items {
		out[class.Name] = class.Spec.Controller == "k8s.io/ingress-nginx"
	}
	return out, err
}

// publish writes the address to the status of an Ingress.
func publish(ctx context.Context, c client.Client, o *networkingv1.Ingress, address netip.Addr) error {
	if len(o.Status.LoadBalancer.Ingress) == 1 && o.Status.LoadBalancer.Ingress[0].IP == address.String() {
		return nil
	}
	before := o.DeepCopy()
	o.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: address.String()}}
	return client.IgnoreNotFound(c.Status().Patch(ctx, o, client.MergeFrom(before)))
}

func addRules(ctx context.Context, c client.Client, out table, at netip.AddrPort, o *networkingv1.Ingress) {
	for _, rule := range o.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			if path.Backend.Service == nil {
				continue
			}
			if to, ok := backend(ctx, c, o.Namespace, path.Backend.Service.Name, int64(path.Backend.Service.Port.Number)); ok {
				out.add(at, rule.Host, to)
			}
		}
	}
}
