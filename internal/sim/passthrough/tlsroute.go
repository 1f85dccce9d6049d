// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package passthrough

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// attach ties a TLSRoute to the Gateways that it names, reports whether they accept it, and
// enters where it leads.
func attach(ctx context.Context, c client.Client, out table, gateways []*gateway, route *unstructured.Unstructured) error {
	var parents []any
	for _, ref := range mapsOf(route.Object, "spec", "parentRefs") {
		i := slices.IndexFunc(gateways, func(g *gateway) bool { return g.isParent(route, ref) })
		if i < 0 {
			continue
		}
		g := gateways[i]
		listener, reason, message := g.accept(ctx, c, route, ref)
		targets, missing := targetsOf(ctx, c, route)
		if message == "" {
			g.attached[textOf(listener, "name")]++
			g.enter(out, listener, route, targets)
		}
		parents = append(parents, map[string]any{
			"parentRef": ref, "controllerName": ciliumController,
			"conditions": []any{condition(route, "Accepted", reason, message), condition(route, "ResolvedRefs", resolved(missing), missing)},
		})
	}
	if len(parents) == 0 {
		return nil
	}
	return write(ctx, c, route, map[string]any{"parents": parents})
}

func resolved(missing string) string {
	if missing != "" {
		return "BackendNotFound"
	}
	return "ResolvedRefs"
}

// isParent reports whether a reference of a route means the Gateway.
func (g *gateway) isParent(route *unstructured.Unstructured, ref map[string]any) bool {
	namespace := textOf(ref, "namespace")
	if namespace == "" {
		namespace = route.GetNamespace()
	}
	return namespace == g.GetNamespace() && textOf(ref, "name") == g.GetName()
}

// accept returns the listener that takes a route; else why none does.
func (g *gateway) accept(ctx context.Context, c client.Client, route *unstructured.Unstructured, ref map[string]any) (listener map[string]any, reason, message string) {
	var found []map[string]any
	for _, l := range mapsOf(g.Object, "spec", "listeners") {
		section, port := textOf(ref, "sectionName"), portOf(ref)
		if (section == "" || section == textOf(l, "name")) && (port == 0 || port == portOf(l)) {
			found = append(found, l)
		}
	}
	if len(found) == 0 {
		return nil, "NoMatchingParent", "No matching listener"
	}
	l := found[0]
	switch {
	case textOf(l, "protocol") != "TLS" || textOf(l, "tls", "mode") != "Passthrough":
		return nil, "NotAllowedByListeners", "TLSRoute is not allowed to attach to this Gateway due to route kind restrictions"
	case !g.allows(ctx, c, l, route.GetNamespace()):
		return nil, "NotAllowedByListeners", "TLSRoute is not allowed to attach to this Gateway due to namespace restrictions"
	case !slices.ContainsFunc(hostnames(route), func(name string) bool { return fits(textOf(l, "hostname"), name) }):
		return nil, "NoMatchingListenerHostname", "No matching listener hostname"
	}
	return l, "Accepted", ""
}

// allows reports whether a listener takes routes of a namespace; without a word about it, those of
// the Gateway's own.
func (g *gateway) allows(ctx context.Context, c client.Client, listener map[string]any, namespace string) bool {
	switch textOf(listener, "allowedRoutes", "namespaces", "from") {
	case "All":
		return true
	case "Selector":
		raw, _, _ := unstructured.NestedStringMap(listener, "allowedRoutes", "namespaces", "selector", "matchLabels")
		found := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
		err := c.Get(ctx, client.ObjectKey{Name: namespace}, found)
		return err == nil && labels.SelectorFromSet(raw).Matches(labels.Set(found.Labels))
	}
	return namespace == g.GetNamespace()
}

func hostnames(route *unstructured.Unstructured) []string {
	out, _, _ := unstructured.NestedStringSlice(route.Object, "spec", "hostnames")
	return out
}

// fits reports whether a name is one of a pattern, in which a star matches one or more labels.
func fits(pattern, name string) bool {
	suffix, wildcard := strings.CutPrefix(pattern, "*")
	return pattern == "" || pattern == name || wildcard && strings.HasSuffix(name, suffix) && len(name) > len(suffix)
}

// targetsOf are the Services that a route points to, and which is missing.
func targetsOf(ctx context.Context, c client.Client, route *unstructured.Unstructured) (out []netip.AddrPort, missing string) {
	for _, rule := range mapsOf(route.Object, "spec", "rules") {
		for _, ref := range mapsOf(rule, "backendRefs") {
			to, ok := backend(ctx, c, route.GetNamespace(), textOf(ref, "name"), portOf(ref))
			if !ok {
				missing = "Service \"" + textOf(ref, "name") + "\" not found"
				continue
			}
			out = append(out, to)
		}
	}
	return out, missing
}

// enter leads the names of a route that fit a listener to its first target.
func (g *gateway) enter(out table, listener map[string]any, route *unstructured.Unstructured, targets []netip.AddrPort) {
	if len(targets) == 0 || !g.address.IsValid() {
		return
	}
	for _, name := range hostnames(route) {
		if fits(textOf(listener, "hostname"), name) {
			out.add(netip.AddrPortFrom(g.address, uint16(portOf(listener))), name, targets[0])
		}
	}
}

// condition is False with a message, and else True. The time is that of the object: what it says
// follows from it.
func condition(o *unstructured.Unstructured, kind, reason, message string) map[string]any {
	status := "True"
	if message != "" {
		status = "False"
	}
	return map[string]any{
		"type": kind, "status": status, "reason": reason, "message": message,
		"lastTransitionTime": o.GetCreationTimestamp().UTC().Format("2006-01-02T15:04:05Z"), "observedGeneration": o.GetGeneration(),
	}
}

// write writes a status that has changed.
func write(ctx context.Context, c client.Client, o *unstructured.Unstructured, status map[string]any) error {
	if equality.Semantic.DeepEqual(o.Object["status"], any(status)) {
		return nil
	}
	before := o.DeepCopy()
	o.Object["status"] = status
	return client.IgnoreNotFound(c.Status().Patch(ctx, o, client.MergeFrom(before)))
}
