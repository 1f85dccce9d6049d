// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"net/netip"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// addressOf returns the address that reaches the machine of a request and no other
// one. The known address stays while it is still reported, and while nothing better
// is. It is empty if the platform reports shared addresses only.
func (s *Session) addressOf(r *v1alpha1.MachineRequest, known string) string {
	own := slices.DeleteFunc(reported(r), func(a string) bool { return !s.isOwnAddress(a) })
	switch {
	case s.isOwnAddress(known) && (len(own) == 0 || slices.Contains(own, known)):
		return known
	case len(own) > 0:
		return own[0]
	}
	return ""
}

// reported returns the addresses of a request, the primary one first.
func reported(r *v1alpha1.MachineRequest) (out []string) {
	for _, a := range append([]string{r.Status.IPAddress}, r.Status.IPAddresses...) {
		if a != "" && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// isOwnAddress reports whether an address can be that of one machine. A guest agent
// also reports addresses that several machines have, or that nothing outside reaches:
// the VIP of the present holder, those of pods and services, the loopback's.
func (s *Session) isOwnAddress(address string) bool {
	a, err := netip.ParseAddr(address)
	if err != nil || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified() || s.isShared(a) {
		return false
	}
	for _, cidr := range []string{s.Spec.Network.PodCIDR, s.Spec.Network.ServiceCIDR} {
		if p, err := netip.ParsePrefix(cidr); err == nil && p.Contains(a) {
			return false
		}
	}
	return true
}

// isShared reports whether an address is the control plane's endpoint. A cluster
// without one has the address of its only control plane there.
func (s *Session) isShared(address netip.Addr) bool {
	is := func(endpoint string) bool {
		a, err := netip.ParseAddr(endpoint)
		return err == nil && a == address
	}
	return is(s.Spec.Network.VIP) || s.Plan.EndpointKind == EndpointLoadBalancer && is(s.Status.ControlPlaneEndpoint)
}
