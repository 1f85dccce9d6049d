// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The ports of API servers behind an ingress controller and behind a Gateway.
const (
	ingressPort = 443
	gatewayPort = 6443
)

var tlsRoute = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1alpha2", Kind: "TLSRoute"}

// hostnameOf is the hostname and port of a control plane behind a proxy, from the block of its
// network; empty if it has an address.
func hostnameOf(o *unstructured.Unstructured, path ...string) (host string, port int64) {
	at := func(kind string) string { return textOf(o, append(append([]string{}, path...), kind, "hostname")...) }
	host, port = at("gateway"), gatewayPort
	if ingress := at("ingress"); ingress != "" {
		host, port = ingress, ingressPort
	}
	if name, text, err := net.SplitHostPort(host); err == nil {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return name, n
		}
	}
	return host, port
}

// konnectivityHost is the name of konnectivity, made of that of the API server.
func konnectivityHost(host string) string {
	return strings.Replace(host, ".k8s.", ".konnectivity.", 1)
}

// ensureRoutes has the objects that lead clients to the control plane by its hostname, and adds
// what is known of them to the status. It comes last: a control plane is Ready without them.
func (o *operator) ensureRoutes(ctx context.Context, c client.Client, tcp *unstructured.Unstructured, status map[string]any) error {
	host, _ := hostnameOf(tcp, "spec", "controlPlane")
	if host == "" {
		return nil
	}
	resources, _ := status["kubernetesResources"].(map[string]any)
	switch {
	case textOf(tcp, "spec", "controlPlane", "gateway", "hostname") != "":
		return o.ensureTLSRoutes(ctx, c, tcp, resources)
	case textOf(tcp, "spec", "controlPlane", "ingress", "controllerType") == "traefik":
		return ensure(ctx, c, traefikRoute(tcp, host))
	}
	resources["ingress"] = map[string]any{"name": tcp.GetName(), "namespace": tcp.GetNamespace()}
	return ensure(ctx, c, ingressOf(tcp, host))
}

// ensureTLSRoutes has one for the API server and one for konnectivity.
func (o *operator) ensureTLSRoutes(ctx context.Context, c client.Client, tcp *unstructured.Unstructured, resources map[string]any) error {
	host := textOf(tcp, "spec", "controlPlane", "gateway", "hostname")
	route := routeOf(tcp, tcp.GetName(), host, "kube-apiserver", apiServerPort)
	if err := ensure(ctx, c, route); err != nil {
		return err
	}
	parents, _, _ := unstructured.NestedSlice(route.Object, "status", "parents")
	resources["gateway"] = map[string]any{"routeRef": map[string]any{"name": route.GetName()}, "parents": parents}
	if _, has, _ := unstructured.NestedMap(tcp.Object, "spec", "addons", "konnectivity"); has {
		if err := ensure(ctx, c, routeOf(tcp, tcp.GetName()+"-konnectivity", konnectivityHost(host), "konnectivity-server", konnectivityPort)); err != nil {
			return err
		}
	}
	if len(parents) == 0 {
		return errors.New("no gateway attached to the route")
	}
	return nil
}

// routeOf is a TLSRoute. Port and section of the parents are Steward's to set.
func routeOf(tcp *unstructured.Unstructured, name, host, section string, port int64) *unstructured.Unstructured {
	var parents []any
	all, _, _ := unstructured.NestedSlice(tcp.Object, "spec", "controlPlane", "gateway", "parentRefs")
	for _, each := range all {
		if parent, ok := each.(map[string]any); ok {
			parent["port"], parent["sectionName"] = port, section
			parents = append(parents, parent)
		}
	}
	backend := map[string]any{"name": tcp.GetName(), "port": port}
	return owned(tcp, tlsRoute, name, map[string]any{
		"hostnames": []any{host}, "parentRefs": parents, "rules": []any{map[string]any{"backendRefs": []any{backend}}},
	})
}

// traefikRoute is an IngressRouteTCP, in place of an Ingress: Traefik passes TLS through for no
// other kind.
func traefikRoute(tcp *unstructured.Unstructured, host string) *unstructured.Unstructured {
	var names []string
	for _, name := range []string{host, "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"} {
		names = append(names, "HostSNI(`"+name+"`)")
	}
	route := func(match string, port int64) any {
		return map[string]any{"match": match, "services": []any{map[string]any{"name": tcp.GetName(), "port": port}}}
	}
	routes := []any{route(strings.Join(names, " || "), apiServerPort)}
	if _, has, _ := unstructured.NestedMap(tcp.Object, "spec", "addons", "konnectivity"); has {
		routes = append(routes, route("HostSNI(`"+konnectivityHost(host)+"`)", konnectivityPort))
	}
	return owned(tcp, schema.GroupVersionKind{Group: "traefik.io", Version: "v1alpha1", Kind: "IngressRouteTCP"}, tcp.GetName(), map[string]any{
		"entryPoints": []any{"websecure"}, "routes": routes, "tls": map[string]any{"passthrough": true},
	})
}

// ingressOf is an Ingress for the API server. There is none for konnectivity.
func ingressOf(tcp *unstructured.Unstructured, host string) *unstructured.Unstructured {
	backend := map[string]any{"service": map[string]any{"name": tcp.GetName(), "port": map[string]any{"number": int64(apiServerPort)}}}
	path := map[string]any{"path": "/", "pathType": "Prefix", "backend": backend}
	spec := map[string]any{
		"rules": []any{map[string]any{"host": host, "http": map[string]any{"paths": []any{path}}}},
		"tls":   []any{map[string]any{"hosts": []any{host}}},
	}
	if class := textOf(tcp, "spec", "controlPlane", "ingress", "ingressClassName"); class != "" {
		spec["ingressClassName"] = class
	}
	out := owned(tcp, networkingv1.SchemeGroupVersion.WithKind("Ingress"), tcp.GetName(), spec)
	switch textOf(tcp, "spec", "controlPlane", "ingress", "controllerType") {
	case "nginx":
		out.SetAnnotations(map[string]string{"nginx.ingress.kubernetes.io/ssl-passthrough": "true", "nginx.ingress.kubernetes.io/backend-protocol": "HTTPS"})
	case "haproxy":
		out.SetAnnotations(map[string]string{"haproxy.org/ssl-passthrough": "true"})
	}
	return out
}

// owned is an object of a control plane.
func owned(tcp *unstructured.Unstructured, kind schema.GroupVersionKind, name string, spec map[string]any) *unstructured.Unstructured {
	meta := metaOf(tcp, name)
	out := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	out.SetGroupVersionKind(kind)
	out.SetNamespace(meta.Namespace)
	out.SetName(meta.Name)
	out.SetLabels(meta.Labels)
	out.SetOwnerReferences(meta.OwnerReferences)
	return out
}

// ensure creates an object, or changes its spec; afterwards it is as the API server has it.
func ensure(ctx context.Context, c client.Client, wanted *unstructured.Unstructured) error {
	is := wanted.DeepCopy()
	err := c.Get(ctx, client.ObjectKeyFromObject(wanted), is)
	if apierrors.IsNotFound(err) {
		return c.Create(ctx, wanted)
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %w", wanted.GetKind(), wanted.GetName(), err)
	}
	before := is.DeepCopy()
	is.Object["spec"] = wanted.Object["spec"]
	is.SetAnnotations(wanted.GetAnnotations())
	if err := c.Patch(ctx, is, client.MergeFrom(before)); err != nil {
		return err
	}
	wanted.Object = is.Object
	return nil
}
