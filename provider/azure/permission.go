// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"regexp"
	"strings"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// actions returns every action that machines and load balancers need. The role in the
// guide has the same, and those of the preflight alone.
func actions() []string {
	return []string{
		"Microsoft.Compute/availabilitySets/delete", "Microsoft.Compute/availabilitySets/read", "Microsoft.Compute/availabilitySets/write",
		"Microsoft.Compute/disks/delete", "Microsoft.Compute/disks/read", "Microsoft.Compute/disks/write",
		"Microsoft.Compute/images/read", "Microsoft.Compute/skus/read",
		"Microsoft.Compute/virtualMachines/delete", "Microsoft.Compute/virtualMachines/instanceView/read", "Microsoft.Compute/virtualMachines/read", "Microsoft.Compute/virtualMachines/write",
		"Microsoft.Network/loadBalancers/backendAddressPools/join/action", "Microsoft.Network/loadBalancers/delete", "Microsoft.Network/loadBalancers/read", "Microsoft.Network/loadBalancers/write",
		"Microsoft.Network/natGateways/read",
		"Microsoft.Network/networkInterfaces/delete", "Microsoft.Network/networkInterfaces/join/action", "Microsoft.Network/networkInterfaces/read", "Microsoft.Network/networkInterfaces/write",
		"Microsoft.Network/networkSecurityGroups/join/action", "Microsoft.Network/networkSecurityGroups/read",
		"Microsoft.Network/networkSecurityGroups/securityRules/delete", "Microsoft.Network/networkSecurityGroups/securityRules/read", "Microsoft.Network/networkSecurityGroups/securityRules/write",
		"Microsoft.Network/publicIPAddresses/delete", "Microsoft.Network/publicIPAddresses/join/action", "Microsoft.Network/publicIPAddresses/read", "Microsoft.Network/publicIPAddresses/write",
		"Microsoft.Network/publicIPPrefixes/read",
		"Microsoft.Network/virtualNetworks/read", "Microsoft.Network/virtualNetworks/subnets/join/action", "Microsoft.Network/virtualNetworks/subnets/read",
		"Microsoft.Resources/subscriptions/read", "Microsoft.Resources/subscriptions/resourceGroups/read",
	}
}

// permissions compares what the credentials may do in the resource group with what is
// needed. Where that may not be read, nothing is known.
func (p preflight) permissions(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	f := provider.Finding{Check: "permissions", Verdict: provider.Unknown}
	granted, err := p.granted(ctx)
	switch {
	case err != nil && (forbidden(err) || gone(err)):
		f.Message, f.Hint = "Azure does not report which actions are granted", "grant Microsoft.Authorization/permissions/read, or compare the role with docs/getting-started/azure.md"
		return []provider.Finding{f}, nil
	case err != nil:
		return nil, cloud.Unreported(within("", err))
	}
	if lacking := denied(granted, actions()); len(lacking) > 0 {
		f.Verdict, f.Message, f.Hint = provider.Refused, "not granted: "+strings.Join(lacking, ", "), hintRole
		return []provider.Finding{f}, nil
	}
	f.Verdict = provider.Passed
	return []provider.Finding{f}, nil
}

// granted reads the permissions of the caller in the resource group, of all its roles.
func (p preflight) granted(ctx context.Context) (all []permission, err error) {
	page, err := read[permissions](ctx, p.clients, p.scope()+"/providers/Microsoft.Authorization/permissions", versionPermissions)
	for err == nil {
		all = append(all, page.Value...)
		if page.NextLink == "" {
			return all, nil
		}
		page, err = read[permissions](ctx, p.clients, page.NextLink, "")
	}
	return nil, err
}

// denied returns the actions that no role allows: what a role excludes, another one may
// allow.
func denied(granted []permission, wanted []string) (all []string) {
	for _, a := range wanted {
		allowed := false
		for _, g := range granted {
			allowed = allowed || matches(g.Actions, a) && !matches(g.NotActions, a)
		}
		if !allowed {
			all = append(all, a)
		}
	}
	return all
}

// matches reports whether one of the patterns, in which * is any text, is the action.
func matches(patterns []string, action string) bool {
	for _, p := range patterns {
		text := "(?i)^" + strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, ".*") + "$"
		if ok, err := regexp.MatchString(text, action); ok && err == nil {
			return true
		}
	}
	return false
}
