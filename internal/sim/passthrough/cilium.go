// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package passthrough

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ciliumController is the one of Cilium's GatewayClass.
const ciliumController = "io.cilium/gateway-controller"

// cilium gives each Gateway of its class a Service of type LoadBalancer, and passes on what
// TLSRoutes say that its listeners accept. Its ConfigMap has to turn that on.
type cilium struct{ namespace string }

func (cilium) terminates() bool { return false }

func (cilium) kinds() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{servicesKind, gatewaysKind, tlsRoutesKind}
}

func (l cilium) pass(ctx context.Context, c client.Client) (table, error) {
	config := &corev1.ConfigMap{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: "cilium-config"}, config); err != nil || config.Data["enable-gateway-api"] != "true" {
		return nil, client.IgnoreNotFound(err)
	}
	gateways, err := l.gateways(ctx, c)
	if err != nil {
		return nil, err
	}
	routes, err := every(ctx, c, gatewayGroup, "v1alpha2", "TLSRoute")
	if err != nil {
		return nil, err
	}
	out := table{}
	var errs []error
	for _, g := range gateways {
		errs = append(errs, g.ensure(ctx, c))
	}
	for i := range routes {
		errs = append(errs, attach(ctx, c, out, gateways, &routes[i]))
	}
	for _, g := range gateways {
		errs = append(errs, g.report(ctx, c))
		for _, listener := range mapsOf(g.Object, "spec", "listeners") {
			if g.address.IsValid() {
				out.open(netip.AddrPortFrom(g.address, uint16(portOf(listener))))
			}
		}
	}
	return out, errors.Join(errs...)
}

// gateway is one of Cilium's.
type gateway struct {
	*unstructured.Unstructured
	address  netip.Addr
	attached map[string]int64 // routes, by listener
}

func (l cilium) gateways(ctx context.Context, c client.Client) (out []*gateway, err error) {
	classes, err := every(ctx, c, gatewayGroup, "v1", "GatewayClass")
	if err != nil {
		return nil, err
	}
	all, err := every(ctx, c, gatewayGroup, "v1", "Gateway")
	for i := range all {
		own := slices.ContainsFunc(classes, func(class unstructured.Unstructured) bool {
			return class.GetName() == textOf(all[i].Object, "spec", "gatewayClassName") && textOf(class.Object, "spec", "controllerName") == ciliumController
		})
		if own {
			out = append(out, &gateway{Unstructured: &all[i], attached: map[string]int64{}})
		}
	}
	return out, err
}

// ensure has the Service of the Gateway, and learns its address.
func (g *gateway) ensure(ctx context.Context, c client.Client) error {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: g.GetNamespace(), Name: "cilium-gateway-" + g.GetName()}}
	err := c.Get(ctx, client.ObjectKeyFromObject(s), s)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	before := s.DeepCopy()
	s.Labels = map[string]string{"io.cilium.gateway/owning-gateway": g.GetName()}
	s.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(g, g.GroupVersionKind())}
	s.Spec.Type, s.Spec.Ports = corev1.ServiceTypeLoadBalancer, g.ports(s.Spec.Ports)
	if apierrors.IsNotFound(err) {
		return c.Create(ctx, s)
	}
	g.address, _ = external(s)
	return c.Patch(ctx, s, client.MergeFrom(before))
}

// ports are those of the listeners, each once; those that are there already stay as they are.
func (g *gateway) ports(present []corev1.ServicePort) (out []corev1.ServicePort) {
	for _, listener := range mapsOf(g.Object, "spec", "listeners") {
		wanted := corev1.ServicePort{Name: fmt.Sprintf("port-%d", portOf(listener)), Port: int32(portOf(listener)), Protocol: corev1.ProtocolTCP}
		same := func(p corev1.ServicePort) bool { return p.Port == wanted.Port }
		if slices.ContainsFunc(out, same) {
			continue
		}
		if i := slices.IndexFunc(present, same); i >= 0 {
			wanted = present[i]
		}
		out = append(out, wanted)
	}
	return out
}

// report writes the status of the Gateway.
func (g *gateway) report(ctx context.Context, c client.Client) error {
	status := map[string]any{"conditions": []any{g.condition("Accepted", "Accepted", ""), g.condition("Programmed", "Programmed", "")}}
	if g.address.IsValid() {
		status["addresses"] = []any{map[string]any{"type": "IPAddress", "value": g.address.String()}}
	} else {
		status["conditions"] = []any{g.condition("Accepted", "Accepted", ""), g.condition("Programmed", "AddressNotAssigned", "Address is not ready yet")}
	}
	var listeners []any
	for _, listener := range mapsOf(g.Object, "spec", "listeners") {
		listeners = append(listeners, map[string]any{"name": listener["name"], "attachedRoutes": g.attached[textOf(listener, "name")]})
	}
	status["listeners"] = listeners
	return write(ctx, c, g.Unstructured, status)
}

// condition is False with a message, and else True.
func (g *gateway) condition(kind, reason, message string) map[string]any {
	return condition(g.Unstructured, kind, reason, message)
}
