// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// networkName is what resources of Microsoft.Network are called.
var networkName = nameRule{regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$`), 80}

const (
	vnetKind     = "Microsoft.Network/virtualNetworks"
	nicKind      = "Microsoft.Network/networkInterfaces"
	addressKind  = "Microsoft.Network/publicIPAddresses"
	prefixKind   = "Microsoft.Network/publicIPPrefixes"
	balancerKind = "Microsoft.Network/loadBalancers"
	nsgKind      = "Microsoft.Network/networkSecurityGroups"
	natKind      = "Microsoft.Network/natGateways"
	routesKind   = "Microsoft.Network/routeTables"
)

// network is a kind of Microsoft.Network.
func networkKind[T any](name string, k kind) *kind {
	k.name, k.rule, k.hasETag, k.created = name, networkName, true, http.StatusCreated
	k.fault = cmp.Or(k.fault, fault.Network)
	k.create = func() object { return any(new(T)).(object) }
	return &k
}

func networkKinds() []*kind {
	return []*kind{
		networkKind[vnet](vnetKind, kind{
			check: checkNetwork, apply: applyNetwork, removable: networkRemovable, end: endNetwork, show: showNetwork, links: networkLinks,
			parts: map[string]partKind{"subnets": partOf("subnets", true, func(n *vnet) *[]part[subnetProperties] { return &n.Properties.Subnets })},
		}),
		networkKind[nic](nicKind, kind{
			check: checkInterface, apply: applyInterface, removable: interfaceRemovable, end: endInterface, links: interfaceLinks,
			parts: map[string]partKind{"ipconfigurations": partOf("ipConfigurations", false, func(n *nic) *[]part[ipProperties] { return &n.Properties.IPConfigurations })},
		}),
		networkKind[publicAddress](addressKind, kind{zonal: true, skus: true, check: checkAddress, apply: applyAddress, removable: addressRemovable, end: endAddress}),
		networkKind[addressPrefix](prefixKind, kind{zonal: true, skus: true, check: checkPrefix, removable: prefixRemovable, show: showPrefix}),
		networkKind[balancer](balancerKind, kind{
			fault: fault.LoadBalancer, skus: true, check: checkBalancer, apply: applyBalancer, end: endBalancer, show: showBalancer, links: balancerLinks,
			parts: map[string]partKind{
				"backendaddresspools":      partOf("backendAddressPools", true, func(b *balancer) *[]part[poolProperties] { return &b.Properties.BackendAddressPools }),
				"frontendipconfigurations": partOf("frontendIPConfigurations", false, func(b *balancer) *[]part[frontendProperties] { return &b.Properties.FrontendIPConfigurations }),
				"loadbalancingrules":       partOf("loadBalancingRules", false, func(b *balancer) *[]part[ruleProperties] { return &b.Properties.LoadBalancingRules }),
				"probes":                   partOf("probes", false, func(b *balancer) *[]part[probeProperties] { return &b.Properties.Probes }),
				"outboundrules":            partOf("outboundRules", false, func(b *balancer) *[]part[outboundProperties] { return &b.Properties.OutboundRules }),
			},
		}),
		networkKind[nsg](nsgKind, kind{
			check: checkGroup, apply: applyGroup, removable: groupRemovable, show: showGroup,
			parts: map[string]partKind{
				"securityrules":        partOf("securityRules", true, func(g *nsg) *[]part[securityRule] { return &g.Properties.SecurityRules }),
				"defaultsecurityrules": partOf("defaultSecurityRules", false, func(g *nsg) *[]part[securityRule] { return &g.Properties.DefaultSecurityRules }),
			},
		}),
		networkKind[natGateway](natKind, kind{zonal: true, skus: true, check: checkNAT, apply: applyNAT, removable: natRemovable, end: endNAT, show: showNAT, links: natLinks}),
		networkKind[routeTable](routesKind, kind{
			check: checkRoutes, removable: routesRemovable, show: showRoutes,
			parts: map[string]partKind{"routes": partOf("routes", true, func(t *routeTable) *[]part[routeProperties] { return &t.Properties.Routes })},
		}),
	}
}

// completeParts gives the parts of a resource their IDs, and refuses two of a name.
func completeParts[P any](r *record, kindName string, all []part[P]) error {
	id, _ := parseID(r.top().ID)
	seen := map[string]bool{}
	for i := range all {
		p := &all[i]
		switch key := strings.ToLower(p.Name); {
		case p.Name == "" || !networkName.pattern.MatchString(p.Name) || len(p.Name) > networkName.longest:
			return invalidName(id.child(kindName, p.Name), networkName.longest)
		case seen[key]:
			return formatError("DuplicateResourceName", "Resource %s has two child resources with the same name (%s).", id, p.Name)
		default:
			seen[key] = true
		}
		p.ID, p.Type, p.ETag = id.child(kindName, p.Name).String(), id.kind()+"/"+kindName, ""
		if s, ok := any(&p.Properties).(interface{ state() *string }); ok {
			*s.state() = succeeded
		}
	}
	return nil
}

// formatError is how the network refuses a body that makes no sense.
func formatError(code, format string, args ...any) refusal {
	r := bad("InvalidRequestFormat", "Cannot parse the request.")
	r.details = []refusal{bad(code, format, args...)}
	return r
}

// noReference refuses a reference to what does not exist.
func noReference(to string, from *record) error {
	return bad("InvalidResourceReference", "Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.", to, from.top().ID)
}

// partNamed finds a part of a resource by its ID.
func partNamed[P any](all []part[P], id string) *part[P] {
	i := slices.IndexFunc(all, func(p part[P]) bool { return keyOf(p.ID) == keyOf(id) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// refsTo returns references to the resources of a type that fit, in order.
func refsTo[T any](s *state, fits func(*T) bool) (out []ref) {
	each(s, func(r *record, body *T) {
		if fits(body) {
			out = append(out, ref{r.top().ID})
		}
	})
	slices.SortFunc(out, func(a, b ref) int { return strings.Compare(a.ID, b.ID) })
	return out
}
