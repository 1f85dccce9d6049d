// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/step"
)

// checkAllowed refuses a version or an addon that the team may not have. A cluster that has it
// already keeps it; one that exists continues without it.
func (s *session) checkAllowed() *step.Obstacle {
	l := s.team.Spec.ResourceLimits
	if l == nil {
		return nil
	}
	var why []string
	if is := s.observed().KubernetesVersion; !versionAllowed(l, s.Spec.KubernetesVersion) && is != s.Spec.KubernetesVersion {
		why = append(why, fmt.Sprintf("Kubernetes %s is not among allowedKubernetesVersions (%s)", s.Spec.KubernetesVersion, strings.Join(l.AllowedKubernetesVersions, ", ")))
		if is != "" {
			s.Spec.KubernetesVersion = is
		}
	}
	for _, name := range s.chosenAddons() {
		if refused := addonRefused(l, name); refused != "" && !s.hasAddon(name) {
			why = append(why, refused)
			s.leaveOut(name)
		}
	}
	if len(why) == 0 {
		return nil
	}
	o := reported("NotAllowed", "team %s: %s", s.team.Name, strings.Join(why, "; "))
	if !s.admitted() {
		return o
	}
	s.postpone(v1alpha1.ConditionQuotaSatisfied, o)
	return nil
}

func versionAllowed(l *v1alpha1.TeamResourceLimits, version string) bool {
	return len(l.AllowedKubernetesVersions) == 0 || slices.ContainsFunc(l.AllowedKubernetesVersions, func(v string) bool { return version == v || strings.HasPrefix(version, v+".") })
}

// addonRefused is why a team may not choose an addon; empty if it may.
func addonRefused(l *v1alpha1.TeamResourceLimits, name string) string {
	switch {
	case slices.Contains(l.DeniedAddons, name):
		return fmt.Sprintf("addon %s is among deniedAddons", name)
	case len(l.AllowedAddons) > 0 && !slices.Contains(l.AllowedAddons, name):
		return fmt.Sprintf("addon %s is not among allowedAddons (%s)", name, strings.Join(l.AllowedAddons, ", "))
	}
	return ""
}

// chosenAddons are those that a cluster has besides its network.
func (s *session) chosenAddons() (out []string) {
	a := s.Spec.Addons
	for name, has := range map[string]bool{
		addon.CertManager: a.CertManager.Enabled == nil || *a.CertManager.Enabled, addon.MetalLB: a.LoadBalancer != nil, addon.Longhorn: a.Storage != nil,
		s.ingress(): a.Ingress != nil && (a.Ingress.Enabled == nil || *a.Ingress.Enabled), addon.Flux: a.GitOps != nil,
	} {
		if has {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// ingress is the name of the ingress controller.
func (s *session) ingress() string {
	if i := s.Spec.Addons.Ingress; i != nil && i.Provider != "" && i.Provider != addon.Traefik {
		return addon.IngressNginx
	}
	return addon.Traefik
}

// hasAddon reports whether an addon was installed before.
func (s *session) hasAddon(name string) bool {
	return slices.ContainsFunc(s.observed().Addons, func(a v1alpha1.TenantAddonStatus) bool { return a.Name == name })
}

// leaveOut removes an addon from what this walk wants.
func (s *session) leaveOut(name string) {
	a := &s.Spec.Addons
	switch name {
	case addon.CertManager:
		a.CertManager.Enabled = new(bool)
	case addon.MetalLB:
		a.LoadBalancer = nil
	case addon.Longhorn:
		a.Storage = nil
	case addon.Traefik, addon.IngressNginx:
		a.Ingress = nil
	case addon.Flux:
		a.GitOps = nil
	}
}
