// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package butlerconfig

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func exposed(e v1alpha1.ControlPlaneExposureSpec) v1alpha1.ButlerConfigSpec {
	return v1alpha1.ButlerConfigSpec{ControlPlaneExposure: &e}
}

func ingress(class string) v1alpha1.ButlerConfigSpec {
	return exposed(v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureIngress, IngressClassName: class})
}

func gateway() v1alpha1.ButlerConfigSpec {
	return exposed(v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureGateway, GatewayRef: "butler-system/tenants"})
}

func provided(spec v1alpha1.ButlerConfigSpec) v1alpha1.ButlerConfigSpec {
	spec.DefaultProviderConfigRef = &v1alpha1.LocalReference{Name: "prod"}
	return spec
}

func ofTeam() *v1alpha1.ProviderConfig {
	c := &v1alpha1.ProviderConfig{}
	c.Spec.Scope = &v1alpha1.ProviderScope{Type: v1alpha1.ScopeTeam, TeamRef: &v1alpha1.LocalReference{Name: "blue"}}
	return c
}

func TestDecide(t *testing.T) {
	few := []class{{name: "traefik"}, {name: "nginx", isDefault: true}}
	none := v1alpha1.ButlerConfigSpec{}
	cases := map[string]struct {
		spec    v1alpha1.ButlerConfigSpec
		found   facts
		mode    v1alpha1.ExposureMode
		reason  string
		message string
	}{
		"nothing is set": {none, facts{}, "LoadBalancer", "InForce", "tenant control planes are exposed by mode LoadBalancer"},
		"an empty block": {exposed(v1alpha1.ControlPlaneExposureSpec{}), facts{}, "LoadBalancer", "InForce", "tenant control planes are exposed by mode LoadBalancer"},
		"a provider":     {provided(none), facts{provider: &v1alpha1.ProviderConfig{}}, "LoadBalancer", "InForce", "tenant control planes are exposed by mode LoadBalancer"},
		"no provider": {
			provided(none), facts{}, "LoadBalancer", "ProviderConfigMissing",
			"ProviderConfig butler-system/prod does not exist; apply it, or name another one in spec.defaultProviderConfigRef",
		},
		"a provider of a team": {
			provided(none), facts{provider: ofTeam()}, "LoadBalancer", "ProviderScope",
			"ProviderConfig butler-system/prod belongs to a team; name one of scope platform in spec.defaultProviderConfigRef",
		},
		"a class":           {ingress("traefik"), facts{classes: few}, "Ingress", "InForce", "tenant control planes are exposed by mode Ingress"},
		"the default class": {ingress(""), facts{classes: few}, "Ingress", "InForce", "tenant control planes are exposed by mode Ingress"},
		"another class": {
			ingress("haproxy"), facts{classes: few}, "Ingress", "IngressClassMissing",
			"IngressClass haproxy does not exist; install an ingress controller, or set spec.controlPlaneExposure.ingressClassName to one that exists: nginx, traefik",
		},
		"no class": {
			ingress("haproxy"), facts{}, "Ingress", "IngressClassMissing",
			"IngressClass haproxy does not exist; install an ingress controller",
		},
		"no default class": {
			ingress(""), facts{classes: few[:1]}, "Ingress", "IngressClassMissing",
			"no IngressClass is the default one; install an ingress controller, or set spec.controlPlaneExposure.ingressClassName to one that exists: traefik",
		},
		"a gateway": {gateway(), facts{gateway: present}, "Gateway", "InForce", "tenant control planes are exposed by mode Gateway"},
		"no gateway": {
			gateway(), facts{gateway: missing}, "Gateway", "GatewayMissing",
			"Gateway butler-system/tenants does not exist; create it, or name another one in spec.controlPlaneExposure.gatewayRef",
		},
		"no gateways at all": {
			gateway(), facts{gateway: unserved}, "Gateway", "GatewayAPIMissing",
			"Gateway butler-system/tenants cannot exist, because this cluster does not serve gateway.networking.k8s.io/v1; install the Gateway API and a controller for it",
		},
		"two problems": {
			provided(gateway()), facts{gateway: missing}, "Gateway", "ProviderConfigMissing",
			"ProviderConfig butler-system/prod does not exist; apply it, or name another one in spec.defaultProviderConfigRef | " +
				"Gateway butler-system/tenants does not exist; create it, or name another one in spec.controlPlaneExposure.gatewayRef",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := decide(c.spec, c.found)
			got := v.condition()
			want := []string{string(c.mode), c.reason, c.message}
			if diff := cmp.Diff(want, []string{string(v.mode), got.Reason, got.Message}); diff != "" {
				t.Error(diff)
			}
			if (got.Status == "True") != (c.reason == reasonInForce) {
				t.Errorf("%s is %s", got.Reason, got.Status)
			}
		})
	}
}

func TestManyClassesAreNotAllListed(t *testing.T) {
	var many []class
	for _, name := range []string{"g", "f", "e", "d", "c", "b", "a"} {
		many = append(many, class{name: name})
	}
	if got := listed(many); got != "a, b, c, d, e, …" {
		t.Errorf("listed %s", got)
	}
}
