// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// leaves are the paths of all fields below a type, as they are written in a
// manifest. Lists and blocks behind a pointer count with what is in them.
func leaves(typ reflect.Type, path string) (out []string) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[v1alpha1.SecretReference]() {
		return []string{path}
	}
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, leaves(f.Type, strings.TrimPrefix(path+"."+name, "."))...)
	}
	return out
}

// flips has a change for every field of spec.addons; before, where set, makes
// the ground on which the field matters.
func flips() map[string]struct {
	before, flip func(*v1alpha1.ClusterBootstrapSpec)
} {
	type spec = v1alpha1.ClusterBootstrapSpec
	type change = struct{ before, flip func(*spec) }
	only := func(f func(*v1alpha1.AddonsSpec)) change { return change{flip: func(s *spec) { f(&s.Addons) }} }
	console := func(s *spec) {
		s.Addons.Console = v1alpha1.ConsoleAddonSpec{Enabled: new(true), Ingress: &v1alpha1.ConsoleIngressSpec{Enabled: true, TLS: true}}
	}
	onConsole := func(f func(*v1alpha1.ConsoleAddonSpec)) change {
		return change{console, func(s *spec) { f(&s.Addons.Console) }}
	}
	foreign := func(s *spec) {
		s.Addons.CAPI.InfrastructureProviders = []v1alpha1.CAPIInfraProviderSpec{{Name: v1alpha1.ProviderAzure}}
	}
	onForeign := func(f func(*v1alpha1.CAPIInfraProviderSpec)) change {
		return change{foreign, func(s *spec) { f(&s.Addons.CAPI.InfrastructureProviders[0]) }}
	}
	return map[string]change{
		"cni.type":                     only(func(a *v1alpha1.AddonsSpec) { a.CNI.Type = none }),
		"cni.version":                  only(func(a *v1alpha1.AddonsSpec) { a.CNI.Version = "9.9.9" }),
		"cni.hubbleEnabled":            only(func(a *v1alpha1.AddonsSpec) { a.CNI.HubbleEnabled = new(false) }),
		"storage.type":                 only(func(a *v1alpha1.AddonsSpec) { a.Storage.Type = none }),
		"storage.version":              only(func(a *v1alpha1.AddonsSpec) { a.Storage.Version = "9.9.9" }),
		"storage.replicaCount":         only(func(a *v1alpha1.AddonsSpec) { a.Storage.ReplicaCount = new(int32(2)) }),
		"loadBalancer.enabled":         only(func(a *v1alpha1.AddonsSpec) { a.LoadBalancer.Enabled = new(false) }),
		"loadBalancer.type":            only(func(a *v1alpha1.AddonsSpec) { a.LoadBalancer.Type = none }),
		"loadBalancer.version":         only(func(a *v1alpha1.AddonsSpec) { a.LoadBalancer.Version = "9.9.9" }),
		"controlPlaneHA.enabled":       only(func(a *v1alpha1.AddonsSpec) { a.ControlPlaneHA.Enabled = new(false) }),
		"controlPlaneHA.type":          only(func(a *v1alpha1.AddonsSpec) { a.ControlPlaneHA.Type = none }),
		"controlPlaneHA.version":       only(func(a *v1alpha1.AddonsSpec) { a.ControlPlaneHA.Version = "v9.9.9" }),
		"certManager.version":          only(func(a *v1alpha1.AddonsSpec) { a.CertManager.Version = "v9.9.9" }),
		"ingress.enabled":              only(func(a *v1alpha1.AddonsSpec) { a.Ingress.Enabled = new(false) }),
		"ingress.type":                 only(func(a *v1alpha1.AddonsSpec) { a.Ingress.Type = "nginx" }),
		"ingress.version":              only(func(a *v1alpha1.AddonsSpec) { a.Ingress.Version = "9.9.9" }),
		"controlPlaneProvider.enabled": only(func(a *v1alpha1.AddonsSpec) { a.ControlPlaneProvider.Enabled = new(false) }),
		"controlPlaneProvider.type":    only(func(a *v1alpha1.AddonsSpec) { a.ControlPlaneProvider.Type = "kamaji" }),
		"controlPlaneProvider.version": only(func(a *v1alpha1.AddonsSpec) { a.ControlPlaneProvider.Version = "9.9.9" }),
		"capi.enabled":                 only(func(a *v1alpha1.AddonsSpec) { a.CAPI.Enabled = new(false) }),
		"capi.version":                 only(func(a *v1alpha1.AddonsSpec) { a.CAPI.Version = "v9.9.9" }),
		"butlerController.enabled":     only(func(a *v1alpha1.AddonsSpec) { a.ButlerController.Enabled = new(false) }),
		"butlerController.image":       only(func(a *v1alpha1.AddonsSpec) { a.ButlerController.Image = "registry.example.com/own" }),
		"butlerController.version":     only(func(a *v1alpha1.AddonsSpec) { a.ButlerController.Version = "v9.9.9" }),
		"gitOps.enabled":               only(func(a *v1alpha1.AddonsSpec) { a.GitOps.Enabled = new(false) }),
		"gitOps.type":                  only(func(a *v1alpha1.AddonsSpec) { a.GitOps.Type = none }),
		"gitOps.version":               only(func(a *v1alpha1.AddonsSpec) { a.GitOps.Version = "9.9.9" }),
		"console.enabled":              only(func(a *v1alpha1.AddonsSpec) { a.Console.Enabled = new(true) }),
		"console.version":              onConsole(func(c *v1alpha1.ConsoleAddonSpec) { c.Version = "9.9.9" }),
		"console.ingress.enabled":      onConsole(func(c *v1alpha1.ConsoleAddonSpec) { c.Ingress.Enabled = false }),
		"console.ingress.host":         onConsole(func(c *v1alpha1.ConsoleAddonSpec) { c.Ingress.Host = "console.example.com" }),
		"console.ingress.className":    onConsole(func(c *v1alpha1.ConsoleAddonSpec) { c.Ingress.ClassName = "own" }),
		"console.ingress.tls":          onConsole(func(c *v1alpha1.ConsoleAddonSpec) { c.Ingress.TLS = false }),
		"console.ingress.tlsSecretName": onConsole(func(c *v1alpha1.ConsoleAddonSpec) {
			c.Ingress.TLSSecretName = "own"
		}),
		"loadBalancer.addressPool": {
			func(s *spec) { s.Network.LoadBalancerPool = nil },
			func(s *spec) { s.Addons.LoadBalancer.AddressPool = "10.40.0.210 - 10.40.0.220" },
		},
		// What needs cert-manager cannot stay without it.
		"certManager.enabled": {
			func(s *spec) { s.Addons.ControlPlaneProvider.Type, s.Addons.CAPI.Enabled = none, new(false) },
			func(s *spec) { s.Addons.CertManager.Enabled = new(false) },
		},
		"capi.infrastructureProviders.name":    onForeign(func(p *v1alpha1.CAPIInfraProviderSpec) { p.Name = v1alpha1.ProviderProxmox }),
		"capi.infrastructureProviders.version": onForeign(func(p *v1alpha1.CAPIInfraProviderSpec) { p.Version = "v9.9.9" }),
		"capi.infrastructureProviders.credentialsSecretRef": onForeign(func(p *v1alpha1.CAPIInfraProviderSpec) {
			p.CredentialsSecretRef = &v1alpha1.SecretReference{Name: "azure"}
		}),
	}
}

func TestEveryFieldOfAddonsHasAnEffect(t *testing.T) {
	changes := flips()
	paths := leaves(reflect.TypeFor[v1alpha1.AddonsSpec](), "")
	for _, path := range paths {
		c, ok := changes[path]
		if !ok {
			t.Errorf("spec.addons.%s is in no test", path)
			continue
		}
		t.Run(path, func(t *testing.T) {
			s := onPrem(v1alpha1.ProviderHarvester)
			if c.before != nil {
				c.before(&s)
			}
			f := facts("10.40.0.200")
			was := dump(t, resolve(t, s, f))
			c.flip(&s)
			if dump(t, resolve(t, s, f)) == was {
				t.Error("the addons are the same without it")
			}
		})
	}
	for path := range changes {
		if !slices.Contains(paths, path) {
			t.Errorf("there is no field spec.addons.%s", path)
		}
	}
}
