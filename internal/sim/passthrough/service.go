// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package passthrough

import (
	"context"
	"net/netip"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ingressPort is that of ingress controllers for TLS.
const ingressPort = 443

var (
	servicesKind  = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	ingressesKind = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}
	routesTCPKind = schema.GroupVersionResource{Group: "traefik.io", Version: "v1alpha1", Resource: "ingressroutetcps"}
	gatewaysKind  = schema.GroupVersionResource{Group: gatewayGroup, Version: "v1", Resource: "gateways"}
	tlsRoutesKind = schema.GroupVersionResource{Group: gatewayGroup, Version: "v1alpha2", Resource: "tlsroutes"}
)

const gatewayGroup = "gateway.networking.k8s.io"

// backend is the address of a Service in the cluster; false if there is none with the port.
func backend(ctx context.Context, c client.Client, namespace, name string, port int64) (netip.AddrPort, bool) {
	s := &corev1.Service{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
		return netip.AddrPort{}, false
	}
	for _, p := range s.Spec.Ports {
		if int64(p.Port) == port {
			address, err := netip.ParseAddr(s.Spec.ClusterIP)
			return netip.AddrPortFrom(address, uint16(p.Port)), err == nil
		}
	}
	return netip.AddrPort{}, false
}

// external is the address of a Service outside of the cluster; false while it has none.
func external(s *corev1.Service) (netip.Addr, bool) {
	for _, i := range s.Status.LoadBalancer.Ingress {
		if address, err := netip.ParseAddr(i.IP); err == nil {
			return address, true
		}
	}
	return netip.Addr{}, false
}

// front is the address of the Service that points to a pod from outside; false while it has none.
func front(ctx context.Context, c client.Client, pod *corev1.Pod) (netip.Addr, bool, error) {
	all := &corev1.ServiceList{}
	if err := c.List(ctx, all, client.InNamespace(pod.Namespace)); err != nil {
		return netip.Addr{}, false, err
	}
	for i := range all.Items {
		s := &all.Items[i]
		if s.Spec.Type == corev1.ServiceTypeLoadBalancer && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			address, ok := external(s)
			return address, ok, nil
		}
	}
	return netip.Addr{}, false, nil
}

// every lists the objects of a kind.
func every(ctx context.Context, c client.Client, group, version, kind string) ([]unstructured.Unstructured, error) {
	all := &unstructured.UnstructuredList{}
	all.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind + "List"})
	err := c.List(ctx, all)
	return all.Items, err
}

func textOf(o map[string]any, path ...string) string {
	t, _, _ := unstructured.NestedString(o, path...)
	return t
}

// maps are the objects of a list.
func mapsOf(o map[string]any, path ...string) (out []map[string]any) {
	all, _, _ := unstructured.NestedSlice(o, path...)
	for _, each := range all {
		if m, ok := each.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// portOf is a port, which an object may also write as a text.
func portOf(o map[string]any) int64 {
	switch p := o["port"].(type) {
	case int64:
		return p
	case string:
		n, _ := strconv.ParseInt(p, 10, 64)
		return n
	}
	return 0
}
