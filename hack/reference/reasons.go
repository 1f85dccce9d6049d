// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/arch"
	"github.com/butlerdotdev/butler/internal/reason"
)

const reasonsIntro = `# Reasons

Every reason of a condition or an event, with its cause and its remedy. Conditions, events,
` + "`status.failureReason`" + ` and the output of ` + "`butleradm`" + ` use the same words. The message next to a reason
names the object and what was said about it.

An empty remedy means that nothing has to be done: it passes by itself, or it is no problem. An event about
a new phase has the phase as its reason, such as ` + "`InstallingAddons`" + `.

This page is generated from ` + "`internal/reason`" + `, and a test compares it with the code.
`

// kindsOf names the kinds whose conditions and events the reasons of a folder are on.
var kindsOf = map[string][]string{
	"internal/bootstrap":                      {"ClusterBootstrap"},
	"internal/addon/install":                  {"ClusterBootstrap"},
	"internal/controller/clusterbootstrap":    {"ClusterBootstrap"},
	"internal/selfhosted":                     {"ClusterBootstrap", "ProviderConfig"},
	"internal/operation":                      {"ClusterBootstrap", "ProviderConfig"},
	"internal/controller/machinerequest":      {"MachineRequest"},
	"internal/controller/loadbalancerrequest": {"LoadBalancerRequest"},
	"internal/controller/request":             {"MachineRequest", "LoadBalancerRequest"},
	"internal/controller/session":             {"MachineRequest", "LoadBalancerRequest", "ProviderConfig"},
	"internal/controller/providerconfig":      {"ProviderConfig"},
	"internal/controller/orphan":              {"ClusterBootstrap"},
	"internal/controller/tenantcluster":       {"TenantCluster"},
	"internal/controller/team":                {"Team"},
	"internal/controller/butlerconfig":        {"ButlerConfig"},
	"internal/controller/networkpool":         {"NetworkPool"},
	"internal/controller/ipallocation":        {"IPAllocation"},
	"internal/inventory":                      {},
	"api/v1alpha1":                            {},
	"provider":                                {"MachineRequest", "LoadBalancerRequest", "ProviderConfig"},
}

// reasonsPage is the page of reasons.
func reasonsPage(root string) (string, error) {
	given, err := arch.Reasons(root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(reasonsIntro)
	for _, g := range reason.Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n| reason | on | cause | remedy |\n|---|---|---|---|\n", g.Title)
		for _, e := range g.Entries {
			on, err := kinds(given[e.Reason])
			if err != nil {
				return "", fmt.Errorf("%s: %w", e.Reason, err)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.Reason, on, e.Cause, e.Remedy)
		}
	}
	return b.String(), nil
}

// kinds names the kinds that the files are about.
func kinds(files []string) (string, error) {
	var found []string
	for _, file := range files {
		folder := path.Dir(file)
		if strings.HasPrefix(folder, "provider/") {
			folder = "provider"
		}
		on, ok := kindsOf[folder]
		if !ok {
			return "", fmt.Errorf("%s gives it; add the kinds of that folder to hack/reference", file)
		}
		found = append(found, on...)
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), ", "), nil
}
