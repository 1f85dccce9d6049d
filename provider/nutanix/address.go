// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
)

// checkManaged refuses a subnet on which AHV assigns no addresses: nothing else gives a machine
// its address before it runs.
func checkManaged(net subnet) error {
	if net.addresses.managed() {
		return nil
	}
	return provider.Invalid.New("", provider.ReasonAddressUnsupported, fmt.Errorf("subnet %s has no IP address management, so that Nutanix cannot give a machine the address that was allocated for it", net.name),
		"enable IP address management of the subnet with the CIDR of the NetworkPool and no pool of its own, name a subnet that has it, or remove spec.network and let DHCP assign addresses")
}

// checkAddress refuses an address that AHV cannot assign on a subnet, and a gateway that is
// not the one which it assigns.
func checkAddress(net subnet, n provider.Network) error {
	if err := checkManaged(net); err != nil {
		return err
	}
	is := net.addresses
	invalid := func(hint, format string, args ...any) error {
		return provider.Invalid.New("", provider.ReasonAddressInvalid, fmt.Errorf(format, args...), hint)
	}
	switch {
	case !n.Address.Addr().Is4():
		return provider.Invalid.New("", provider.ReasonAddressUnsupported, fmt.Errorf("%s is not an IPv4 address, and Nutanix assigns no others", n.Address), "use a NetworkPool of IPv4 addresses")
	case n.Address.Masked() != is.network.Masked():
		return invalid("give the NetworkPool the CIDR of the subnet, or name another subnet", "%s is not an address of subnet %s, which is %s", n.Address, net.name, is.network)
	case n.Address.Addr() == is.gateway:
		return invalid("reserve it in the NetworkPool", "%s is the gateway of subnet %s", n.Address.Addr(), net.name)
	case n.Gateway.IsValid():
		return checkGateway(net, n.Gateway.String())
	}
	return nil
}

// checkPooled refuses a subnet that does not fit to the network of a ProviderConfig.
func checkPooled(net subnet, n v1alpha1.ProviderNetworkSpec) error {
	if err := checkManaged(net); err != nil || n.Gateway == "" {
		return err
	}
	return checkGateway(net, n.Gateway)
}

// checkGateway refuses another gateway than that which AHV assigns.
func checkGateway(net subnet, gateway string) error {
	is := "none"
	if net.addresses.gateway.IsValid() {
		is = net.addresses.gateway.String()
	}
	if gateway == is {
		return nil
	}
	return provider.Invalid.New("", provider.ReasonAddressInvalid, fmt.Errorf("the gateway is %s, and that of subnet %s is %s", gateway, net.name, is), "correct spec.network.gateway, or the gateway of the subnet")
}

// addresses looks whether the subnet can assign the addresses of the machines. One that is in
// a pool of the subnet may be assigned to another VM before the machine is created.
func (p preflight) addresses(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	net, missing := p.network(ctx)
	if missing != nil {
		return nil, nil //nolint:nilerr // the check of the subnet says so
	}
	var err error
	if p.pooled != nil {
		err = checkPooled(net, *p.pooled)
	}
	var shared []string
	for _, s := range specs {
		if s.Network == nil {
			continue
		}
		err = cmp.Or(err, checkAddress(net, *s.Network))
		if net.addresses.assigns(s.Network.Address.Addr()) {
			shared = append(shared, s.Network.Address.Addr().String())
		}
	}
	return p.addressFinding(net, err, shared)
}

func (p preflight) addressFinding(net subnet, err error, shared []string) ([]provider.Finding, error) {
	if err == nil && len(shared) == 0 && p.pooled == nil {
		return nil, nil
	}
	f, err := check.Verdict("addresses on subnet "+net.name, within("", err))
	if f.Verdict == provider.Passed && len(shared) > 0 {
		f.Verdict, f.Hint = provider.Unknown, "shorten the pool of the subnet, so that it and the NetworkPool have no address in common"
		f.Message = fmt.Sprintf("the subnet may assign %s to another VM first", strings.Join(shared, ", "))
	}
	return []provider.Finding{f}, err
}

// assigns reports whether an address is in a pool of the subnet.
func (a addressPlan) assigns(one netip.Addr) bool {
	for _, p := range a.pools {
		if one.Compare(p[0]) >= 0 && one.Compare(p[1]) <= 0 {
			return true
		}
	}
	return false
}
