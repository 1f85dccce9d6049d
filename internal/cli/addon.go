// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/manifest"
)

// addon is one that a spec asks for and this version does not install.
type addon struct {
	name string
	// field that switches it off, and the value that does.
	field, off string
}

// missingAddons are the addons of a spec that this version does not install.
// kube-vip is none of them.
func missingAddons(s v1alpha1.AddonsSpec) (out []addon) {
	chosen := func(block, kind string) {
		if kind != "none" {
			out = append(out, addon{kind, "spec.addons." + block + ".type", "none"})
		}
	}
	switched := func(block, name string, enabled *bool) {
		if enabled == nil || *enabled {
			out = append(out, addon{name, "spec.addons." + block + ".enabled", "false"})
		}
	}
	both := func(block, kind string, enabled *bool) {
		if kind != "none" {
			switched(block, kind, enabled)
		}
	}
	chosen("cni", s.CNI.Type)
	chosen("storage", s.Storage.Type)
	both("loadBalancer", s.LoadBalancer.Type, s.LoadBalancer.Enabled)
	switched("certManager", "cert-manager", s.CertManager.Enabled)
	both("ingress", s.Ingress.Type, s.Ingress.Enabled)
	both("controlPlaneProvider", s.ControlPlaneProvider.Type, s.ControlPlaneProvider.Enabled)
	switched("capi", "Cluster API", s.CAPI.Enabled)
	switched("butlerController", "butler-controller", s.ButlerController.Enabled)
	both("gitOps", s.GitOps.Type, s.GitOps.Enabled)
	if e := s.Console.Enabled; e != nil && *e {
		switched("console", "console", e)
	}
	return out
}

// addonsOff refuses addons that a real cluster would lack, and what is meant for
// them. A rehearsal only tells which addons they are.
func addonsOff(m *manifest.Manifest) (out []manifest.Problem) {
	spec := m.Cluster.Spec
	for _, a := range missingAddons(spec.Addons) {
		out = append(out, m.At(m.Cluster, a.field, fmt.Sprintf("this version does not install %s; set it to %s, or add --rehearse", a.name, a.off)))
	}
	if spec.Network.LoadBalancerPool != nil {
		out = append(out, m.At(m.Cluster, "spec.network.loadBalancerPool", "has no effect without metallb, which this version does not install; remove it, or add --rehearse"))
	}
	if spec.ControlPlaneExposure != nil {
		out = append(out, m.At(m.Cluster, "spec.controlPlaneExposure", "has no effect without butler-controller, which this version does not install; remove it, or add --rehearse"))
	}
	return out
}

// addonWarning names what a rehearsal leaves out.
func addonWarning(s v1alpha1.AddonsSpec) string {
	var names []string
	for _, a := range missingAddons(s) {
		names = append(names, a.name)
	}
	if len(names) == 0 {
		return ""
	}
	return "this version does not install " + strings.Join(names, ", ")
}
