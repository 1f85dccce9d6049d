// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import "net/netip"

// checkPool refuses addresses of load balancers that pods or Services have, and what the schema
// cannot compare: a range of IPv6 addresses whose end lies before its start.
func (in Input) checkPool() error {
	const field = "spec.networking.loadBalancerPool"
	net := in.Cluster.Spec.Networking
	if net.LoadBalancerPool == nil {
		return nil
	}
	start, startErr := netip.ParseAddr(net.LoadBalancerPool.Start)
	end, endErr := netip.ParseAddr(net.LoadBalancerPool.End)
	if startErr != nil || endErr != nil || start.Is4() != end.Is4() || end.Less(start) {
		return ofTenant(field, "%s-%s is not a range of addresses", net.LoadBalancerPool.Start, net.LoadBalancerPool.End)
	}
	for name, cidr := range map[string]string{"podCIDR": net.PodCIDR, "serviceCIDR": net.ServiceCIDR} {
		p, err := netip.ParsePrefix(cidr)
		if err != nil {
			return ofTenant("spec.networking."+name, "%q is not a CIDR", cidr)
		}
		if p.Contains(start) || p.Contains(end) || !p.Addr().Less(start) && p.Addr().Less(end) && p.Addr().Is4() == start.Is4() {
			return ofTenant(field, "%s-%s has addresses of %s %s; choose others", start, end, name, cidr)
		}
	}
	return nil
}
