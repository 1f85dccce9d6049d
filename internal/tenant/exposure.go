// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	// The ports of API servers behind an ingress controller and behind a Gateway.
	ingressPort int32 = 443
	gatewayPort int32 = 6443
	// longestName is the longest DNS name.
	longestName = 253
	// kubeconfigKey has Steward and its provider use the kubeconfig with the name of the Service:
	// neither they nor Cluster API, all on the management cluster, have to resolve the hostname.
	kubeconfigKey = "steward.butlerlabs.dev/kubeconfig-secret-key"
)

// wanted returns the exposure that the ButlerConfig and the cluster ask for; without either it
// is LoadBalancer.
func (in Input) wanted() v1alpha1.ControlPlaneExposureSpec {
	out := v1alpha1.ControlPlaneExposureSpec{}
	if in.Config != nil && in.Config.Spec.ControlPlaneExposure != nil {
		out = *in.Config.Spec.ControlPlaneExposure
	}
	out.Mode = cmp.Or(out.Mode, v1alpha1.ExposureLoadBalancer)
	if in.Cluster.Spec.ControlPlane.ServiceType == "LoadBalancer" {
		out.Mode = v1alpha1.ExposureLoadBalancer
	}
	return out
}

// exposure returns how the control plane is exposed. An endpoint does not move: of a control
// plane that exists, mode and domain stay.
func (in Input) exposure() v1alpha1.ControlPlaneExposureSpec {
	wanted := in.wanted()
	if is := in.Exposed; is != nil && (is.Mode != wanted.Mode || is.Mode != v1alpha1.ExposureLoadBalancer && is.Hostname != domain(wanted)) {
		return *is
	}
	return wanted
}

// Mode returns how the control plane of the cluster is exposed.
func (in Input) Mode() v1alpha1.ExposureMode { return in.exposure().Mode }

// Exposed returns how a control plane that exists is exposed.
func Exposed(cluster *v1alpha1.TenantCluster, controlPlane *unstructured.Unstructured) *v1alpha1.ControlPlaneExposureSpec {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(controlPlane.Object, append([]string{"spec", "network"}, path...)...)
		return value
	}
	below := func(host string) string {
		return strings.TrimPrefix(host, cluster.Name+"."+cluster.Namespace+".")
	}
	if host := text("ingress", "hostname"); host != "" {
		return &v1alpha1.ControlPlaneExposureSpec{
			Mode: v1alpha1.ExposureIngress, Hostname: below(host), IngressClassName: text("ingress", "className"), ControllerType: text("ingress", "controllerType"),
		}
	}
	host := text("gateway", "hostname")
	if host == "" {
		return &v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureLoadBalancer}
	}
	out := &v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureGateway, Hostname: below(host)}
	parents, _, _ := unstructured.NestedSlice(controlPlane.Object, "spec", "network", "gateway", "parentRefs")
	for _, each := range parents {
		parent, _ := each.(object)
		namespace, _ := parent["namespace"].(string)
		name, _ := parent["name"].(string)
		out.GatewayRef = namespace + "/" + name
	}
	return out
}

// domain is that of an exposure's hostnames.
func domain(e v1alpha1.ControlPlaneExposureSpec) string {
	return strings.ToLower(strings.TrimPrefix(e.Hostname, "*."))
}

// hostname of the API server behind an ingress controller or a Gateway.
func (in Input) hostname() string {
	return strings.Join([]string{in.name(), in.Cluster.Namespace, domain(in.exposure())}, ".")
}

// konnectivityHostname is that of konnectivity, as Steward makes it of the API server's.
func (in Input) konnectivityHostname() string {
	return strings.Replace(in.hostname(), ".k8s.", ".konnectivity.", 1)
}

// Hostnames returns the names that workers resolve without DNS; none if the control plane has an
// address of its own.
func Hostnames(in Input) []string {
	if in.Mode() == v1alpha1.ExposureLoadBalancer {
		return nil
	}
	if in.konnectivityHostname() == in.hostname() {
		return []string{in.hostname()}
	}
	return []string{in.hostname(), in.konnectivityHostname()}
}

// Gateway returns the namespace and name of the Gateway in mode Gateway.
func Gateway(in Input) (namespace, name string) {
	namespace, name, _ = strings.Cut(in.exposure().GatewayRef, "/")
	return namespace, name
}

// IngressController returns the type of the ingress controller, and its class.
func IngressController(in Input) (kind, class string) {
	return in.exposure().ControllerType, in.exposure().IngressClassName
}

// KnownEndpoint returns the endpoint that is known before the control plane exists; nil if the
// Service gets an address first.
func KnownEndpoint(in Input) *Endpoint {
	switch in.Mode() {
	case v1alpha1.ExposureIngress:
		return &Endpoint{Host: in.hostname(), Port: ingressPort}
	case v1alpha1.ExposureGateway:
		return &Endpoint{Host: in.hostname(), Port: gatewayPort}
	case v1alpha1.ExposureLoadBalancer:
	}
	return nil
}

// TalosAPI reports whether the Talos API of the workers can be reached, and if not, why.
func TalosAPI(in Input) (bool, string) {
	switch {
	case in.Host != Steward:
		return false, "the control plane is hosted by " + string(in.Host) + ", which issues no certificates for the Talos API"
	case in.Mode() != v1alpha1.ExposureLoadBalancer:
		return false, "the control plane is exposed by mode " + string(in.Mode()) + "; set spec.controlPlane.serviceType to LoadBalancer"
	}
	return true, ""
}

// exposureWarnings is about a mode that the control plane does not take any more.
func (in Input) exposureWarnings() []string {
	is, wanted := in.exposure(), in.wanted()
	if is.Mode == wanted.Mode && (is.Mode == v1alpha1.ExposureLoadBalancer || domain(is) == domain(wanted)) {
		return nil
	}
	where := "an address of its own"
	if is.Mode != v1alpha1.ExposureLoadBalancer {
		where = in.hostname()
	}
	return []string{"the control plane keeps " + where + " (" + string(is.Mode) + "), though mode " + string(wanted.Mode) + " is configured now: workers and kubeconfigs have its endpoint; create another cluster to change that"}
}
