// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package passthrough

import (
	"context"
	"net/netip"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// traefik passes on what IngressRouteTCPs say of its entry point for TLS.
type traefik struct{ pod *corev1.Pod }

func (traefik) terminates() bool { return true }

func (traefik) kinds() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{servicesKind, routesTCPKind}
}

func (t traefik) pass(ctx context.Context, c client.Client) (table, error) {
	address, ok, err := front(ctx, c, t.pod)
	if err != nil || !ok {
		return nil, err
	}
	all, err := every(ctx, c, "traefik.io", "v1alpha1", "IngressRouteTCP")
	if err != nil {
		return nil, err
	}
	out, at := table{}, netip.AddrPortFrom(address, ingressPort)
	out.open(at)
	for _, o := range all {
		points, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "entryPoints")
		passes, _, _ := unstructured.NestedBool(o.Object, "spec", "tls", "passthrough")
		if !passes || !slices.Contains(points, "websecure") {
			continue
		}
		for _, r := range mapsOf(o.Object, "spec", "routes") {
			addRoutes(ctx, c, out, at, o.GetNamespace(), r)
		}
	}
	return out, nil
}

// hostSNI is a name in the rule of a route.
var hostSNI = regexp.MustCompile("HostSNI\\(`([^`]+)`\\)")

func addRoutes(ctx context.Context, c client.Client, out table, at netip.AddrPort, namespace string, route map[string]any) {
	for _, s := range mapsOf(route, "services") {
		to, ok := backend(ctx, c, namespace, textOf(s, "name"), portOf(s))
		if !ok {
			continue
		}
		for _, match := range hostSNI.FindAllStringSubmatch(textOf(route, "match"), -1) {
			out.add(at, match[1], to)
		}
	}
}
