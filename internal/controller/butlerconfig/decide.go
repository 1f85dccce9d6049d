// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package butlerconfig

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Reasons of the condition Ready.
const (
	reasonInForce           = "InForce"
	reasonProviderMissing   = "ProviderConfigMissing"
	reasonProviderScope     = "ProviderScope"
	reasonClassMissing      = "IngressClassMissing"
	reasonGatewayMissing    = "GatewayMissing"
	reasonGatewayAPIMissing = "GatewayAPIMissing"
)

// problem is something that a ButlerConfig names and that cannot be used.
type problem struct{ reason, message string }

// verdict is what becomes of a ButlerConfig.
type verdict struct {
	mode            v1alpha1.ExposureMode
	problems        []problem
	teams, clusters int32
}

// decide compares a spec with what is there.
func decide(spec v1alpha1.ButlerConfigSpec, found facts) verdict {
	exposure := exposureOf(spec)
	v := verdict{mode: exposure.Mode, teams: found.teams, clusters: found.clusters}
	v.add(providerProblem(spec.DefaultProviderConfigRef, found.provider))
	switch exposure.Mode {
	case v1alpha1.ExposureIngress:
		v.add(classProblem(exposure.IngressClassName, found.classes))
	case v1alpha1.ExposureGateway:
		v.add(gatewayProblem(exposure.GatewayRef, found.gateway))
	case v1alpha1.ExposureLoadBalancer:
	}
	return v
}

func (v *verdict) add(p *problem) {
	if p != nil {
		v.problems = append(v.problems, *p)
	}
}

// exposureOf is the exposure of a spec with its defaults: the API server sets
// none in a block that is left out.
func exposureOf(spec v1alpha1.ButlerConfigSpec) v1alpha1.ControlPlaneExposureSpec {
	var exposure v1alpha1.ControlPlaneExposureSpec
	if spec.ControlPlaneExposure != nil {
		exposure = *spec.ControlPlaneExposure
	}
	exposure.Mode = cmp.Or(exposure.Mode, v1alpha1.ExposureLoadBalancer)
	return exposure
}

func providerProblem(ref *v1alpha1.LocalReference, config *v1alpha1.ProviderConfig) *problem {
	if ref == nil {
		return nil
	}
	key := namespace + "/" + ref.Name
	if config == nil {
		return &problem{reasonProviderMissing, fmt.Sprintf("ProviderConfig %s does not exist; apply it, or name another one in spec.defaultProviderConfigRef", key)}
	}
	if scope := config.Spec.Scope; scope != nil && scope.Type == v1alpha1.ScopeTeam {
		return &problem{reasonProviderScope, fmt.Sprintf("ProviderConfig %s belongs to a team; name one of scope platform in spec.defaultProviderConfigRef", key)}
	}
	return nil
}

// classProblem is that of an IngressClass; without a name it is the default one.
func classProblem(name string, classes []class) *problem {
	if slices.ContainsFunc(classes, func(c class) bool { return c.name == name || name == "" && c.isDefault }) {
		return nil
	}
	why := "no IngressClass is the default one"
	if name != "" {
		why = "IngressClass " + name + " does not exist"
	}
	remedy := "install an ingress controller"
	if len(classes) > 0 {
		remedy += ", or set spec.controlPlaneExposure.ingressClassName to one that exists: " + listed(classes)
	}
	return &problem{reasonClassMissing, why + "; " + remedy}
}

// listed names classes, but not endlessly many.
func listed(classes []class) string {
	const most = 5
	var names []string
	for _, c := range classes {
		names = append(names, c.name)
	}
	slices.Sort(names)
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return strings.Join(names, ", ")
}

func gatewayProblem(ref string, is presence) *problem {
	switch is {
	case missing:
		return &problem{reasonGatewayMissing, fmt.Sprintf("Gateway %s does not exist; create it, or name another one in spec.controlPlaneExposure.gatewayRef", ref)}
	case unserved:
		return &problem{reasonGatewayAPIMissing, fmt.Sprintf("Gateway %s cannot exist, because this cluster does not serve %s; install the Gateway API and a controller for it", ref, gatewayAPI)}
	case present:
	}
	return nil
}
