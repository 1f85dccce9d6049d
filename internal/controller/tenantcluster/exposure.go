// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/tenant"
)

const reasonExposure = "WaitingForExposure"

// locate finds the address that the hostname of the control plane points to: workers get it as a
// host entry, and this controller connects to it. One that was set is kept while it is among
// those that are found now, or while none is.
func (s *session) locate(ctx context.Context, found *unstructured.Unstructured) error {
	if s.input.Mode() == v1alpha1.ExposureLoadBalancer {
		return nil
	}
	addresses, o, err := s.exposureAddresses(ctx)
	if err != nil {
		return err
	}
	was := ""
	if found != nil {
		was = aliasOf(found)
	}
	s.unexposed, s.input.ExposureAddress = o, was
	if len(addresses) > 0 && !slices.Contains(addresses, was) {
		s.input.ExposureAddress = addresses[0]
	}
	return nil
}

// aliasOf is the address that a control plane has for its hostname; empty if it has none.
func aliasOf(controlPlane *unstructured.Unstructured) string {
	all, _, _ := unstructured.NestedSlice(controlPlane.Object, "spec", "addons", "tcpProxy", "hostAliases")
	for _, each := range all {
		alias, _ := each.(map[string]any)
		if address, ok := alias["ip"].(string); ok {
			return address
		}
	}
	return ""
}

// exposureAddresses are those of the Gateway or of the ingress controller, and what is in the
// way of those who use them.
func (s *session) exposureAddresses(ctx context.Context) ([]string, *step.Obstacle, error) {
	if s.input.Mode() == v1alpha1.ExposureGateway {
		return s.gatewayAddresses(ctx)
	}
	return s.ingressAddresses(ctx)
}

func (s *session) gatewayAddresses(ctx context.Context) ([]string, *step.Obstacle, error) {
	namespace, name := tenant.Gateway(s.input)
	gateway, err := s.follow(ctx, gateways, client.ObjectKey{Namespace: namespace, Name: name})
	switch {
	case meta.IsNoMatchError(err):
		return nil, polled(reasonExposure, "Gateway %s/%s cannot exist: the management cluster does not serve %s; install the Gateway API and a controller for it", namespace, name, gateways.GroupVersion()), nil
	case err != nil:
		return nil, nil, err
	case gateway == nil:
		return nil, reported(reasonExposure, "Gateway %s/%s of the ButlerConfig does not exist; create it, with the listeners kube-apiserver and konnectivity-server", namespace, name), nil
	}
	all, o := s.resolveAll(ctx, gateway, "value", "status", "addresses")
	switch why := listenerProblem(gateway); {
	case why != "":
		return all, reported(reasonExposure, "Gateway %s/%s %s", namespace, name, why), nil
	case o != nil:
		return all, o, nil
	case len(all) == 0:
		return nil, reported(reasonExposure, "Gateway %s/%s has no address yet%s", namespace, name, trouble(gateway)), nil
	}
	o, err = s.routeProblem(ctx, namespace+"/"+name)
	return all, o, err
}

// listenerProblem is why the TLSRoutes of Steward, which name their listener and its port, do not
// fit a Gateway; empty if they do.
func listenerProblem(gateway *unstructured.Unstructured) string {
	all, _, _ := unstructured.NestedSlice(gateway.Object, "spec", "listeners")
	for name, port := range map[string]int64{"kube-apiserver": 6443, "konnectivity-server": tenant.KonnectivityPort} {
		i := slices.IndexFunc(all, func(each any) bool {
			l, _ := each.(map[string]any)
			return l["name"] == name
		})
		if i < 0 {
			return fmt.Sprintf("has no listener %s; add it, with protocol TLS, mode Passthrough and port %d", name, port)
		}
		l, _ := all[i].(map[string]any)
		mode, _, _ := unstructured.NestedString(l, "tls", "mode")
		if is, _, _ := unstructured.NestedInt64(l, "port"); is != port || l["protocol"] != "TLS" || mode != "Passthrough" {
			return fmt.Sprintf("has listener %s with protocol %v, mode %q and port %d; it has to be TLS, Passthrough and %d", name, l["protocol"], mode, is, port)
		}
	}
	return ""
}

// routeProblem is why the Gateway does not take the route of the control plane; nil if it does.
func (s *session) routeProblem(ctx context.Context, gateway string) (*step.Obstacle, error) {
	route, err := s.follow(ctx, tlsRoutes, s.key(s.Name))
	switch {
	case meta.IsNoMatchError(err):
		return polled(reasonExposure, "the management cluster does not serve TLSRoutes of %s; install the experimental channel of the Gateway API", tlsRoutes.GroupVersion()), nil
	case err != nil:
		return nil, err
	case route == nil:
		return reported(reasonExposure, "the control plane has no TLSRoute yet"), nil
	}
	parents, _, _ := unstructured.NestedSlice(route.Object, "status", "parents")
	if len(parents) == 0 {
		return reported(reasonExposure, "Gateway %s has not accepted TLSRoute %s; its controller may not run, or not serve TLSRoutes", gateway, s.key(s.Name)), nil
	}
	for _, each := range parents {
		parent, _ := each.(map[string]any)
		if why := trouble(&unstructured.Unstructured{Object: map[string]any{"status": parent}}); why != "" {
			return reported(reasonExposure, "Gateway %s does not take TLSRoute %s%s", gateway, s.key(s.Name), why), nil
		}
	}
	return nil, nil
}

// ingressAddresses are those that the ingress controller has written to the Ingress. Traefik gets
// no Ingress, so its Service is asked; where that is another than the one that a bootstrap
// installs, DNS is.
func (s *session) ingressAddresses(ctx context.Context) ([]string, *step.Obstacle, error) {
	kind, key := ingresses, s.key(s.Name)
	if controller, _ := tenant.IngressController(s.input); controller == addon.Traefik {
		kind, key = services, traefikService()
	}
	found, err := s.follow(ctx, kind, key)
	if err != nil {
		return nil, nil, err
	}
	what := fmt.Sprintf("%s %s does not exist", kind.Kind, key)
	if found != nil {
		all, o := s.resolveAll(ctx, found, "ip", "status", "loadBalancer", "ingress")
		if o != nil || len(all) > 0 {
			return all, o, nil
		}
		what = fmt.Sprintf("%s %s has no address", kind.Kind, key)
	}
	host := tenant.Hostnames(s.input)[0]
	all, err := s.lookUp(ctx, host)
	if len(all) > 0 {
		return all, nil, nil
	}
	return nil, polled(reasonExposure, "the address of the ingress controller is not known: %s, and the name %s does not resolve on the management cluster%s", what, host, step.Because(err)), nil
}

// resolveAll returns the addresses of a list in an object. A name in place of an address is
// looked up.
func (s *session) resolveAll(ctx context.Context, o *unstructured.Unstructured, field string, path ...string) (out []string, waits *step.Obstacle) {
	all, _, _ := unstructured.NestedSlice(o.Object, path...)
	for _, each := range all {
		entry, _ := each.(map[string]any)
		value, _ := entry[field].(string)
		if value == "" {
			value, _ = entry["hostname"].(string)
		}
		if _, err := netip.ParseAddr(value); err == nil || value == "" {
			out = append(out, value)
			continue
		}
		found, err := s.lookUp(ctx, value)
		if len(found) == 0 {
			waits = polled(reasonExposure, "%s %s/%s has the name %s, which has no address yet%s", o.GetKind(), o.GetNamespace(), o.GetName(), value, step.Because(err))
		}
		out = append(out, found...)
	}
	return slices.DeleteFunc(out, func(a string) bool { return a == "" }), waits
}

func (s *session) lookUp(ctx context.Context, name string) (out []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	all, err := s.Lookup(ctx, name)
	slices.SortFunc(all, netip.Addr.Compare)
	for _, a := range all {
		out = append(out, a.Unmap().String())
	}
	return out, err
}

// awaitExposure waits until it is known where the hostname points to.
func awaitExposure(_ context.Context, s *session) (*step.Obstacle, error) {
	if s.input.ExposureAddress == "" {
		return s.unexposed, nil
	}
	return nil, nil
}
