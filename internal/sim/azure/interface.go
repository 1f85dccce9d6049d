// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

type nic = resource[nicProperties]

type nicProperties struct {
	status
	ResourceGUID                string               `json:"resourceGuid,omitempty"`
	IPConfigurations            []part[ipProperties] `json:"ipConfigurations"`
	DNSSettings                 dnsSettings          `json:"dnsSettings"`
	MACAddress                  string               `json:"macAddress,omitempty"`
	Primary                     bool                 `json:"primary,omitempty"`
	EnableAcceleratedNetworking bool                 `json:"enableAcceleratedNetworking"`
	EnableIPForwarding          bool                 `json:"enableIPForwarding"`
	DisableTCPStateTracking     bool                 `json:"disableTcpStateTracking"`
	VNetEncryptionSupported     bool                 `json:"vnetEncryptionSupported"`
	NetworkSecurityGroup        *ref                 `json:"networkSecurityGroup,omitempty"`
	VirtualMachine              *ref                 `json:"virtualMachine,omitempty"`
	HostedWorkloads             []string             `json:"hostedWorkloads"`
	TapConfigurations           []struct{}           `json:"tapConfigurations"`
	NICType                     string               `json:"nicType,omitempty"`
	AuxiliaryMode               string               `json:"auxiliaryMode,omitempty"`
	AuxiliarySKU                string               `json:"auxiliarySku,omitempty"`
}

type dnsSettings struct {
	DNSServers               []string `json:"dnsServers"`
	AppliedDNSServers        []string `json:"appliedDnsServers"`
	InternalDNSNameLabel     string   `json:"internalDnsNameLabel,omitempty"`
	InternalDomainNameSuffix string   `json:"internalDomainNameSuffix,omitempty"`
}

type ipProperties struct {
	status
	PrivateIPAddress                string      `json:"privateIPAddress,omitempty"`
	PrivateIPAllocationMethod       string      `json:"privateIPAllocationMethod,omitempty"`
	PrivateIPAddressVersion         string      `json:"privateIPAddressVersion,omitempty"`
	Subnet                          *ref        `json:"subnet,omitempty"`
	PublicIPAddress                 *addressRef `json:"publicIPAddress,omitempty"`
	Primary                         bool        `json:"primary"`
	LoadBalancerBackendAddressPools []ref       `json:"loadBalancerBackendAddressPools,omitempty"`
	LoadBalancerInboundNATRules     []ref       `json:"loadBalancerInboundNatRules,omitempty"`
	ApplicationSecurityGroups       []ref       `json:"applicationSecurityGroups,omitempty"`
}

// addressRef refers to a public address, and says what happens to it with the machine.
type addressRef struct {
	ID         string              `json:"id,omitempty"`
	Properties *addressRefProperty `json:"properties,omitempty"`
}

type addressRefProperty struct {
	DeleteOption string `json:"deleteOption,omitempty"`
}

func (r *addressRef) id() string {
	if r == nil {
		return ""
	}
	return r.ID
}

func checkInterface(c *call, r, before *record) error {
	p := &r.object.(*nic).Properties
	if len(p.IPConfigurations) == 0 {
		return formatError("NetworkInterfaceMustHaveAtLeastOneIpConfiguration", "Network interface %s must have one or more IP configurations.", r.top().Name)
	}
	if len(p.TapConfigurations) > 0 {
		return notSimulated("virtual network taps")
	}
	var old nicProperties
	if before != nil {
		old = before.object.(*nic).Properties
	}
	p.ResourceGUID, p.VirtualMachine, p.NICType = derivedUUID(r.top().ID), old.VirtualMachine, "Standard"
	p.MACAddress, p.Primary = old.MACAddress, old.Primary
	p.HostedWorkloads, p.TapConfigurations = []string{}, []struct{}{}
	p.DNSSettings.DNSServers = append([]string{}, p.DNSSettings.DNSServers...)
	p.DNSSettings.AppliedDNSServers = []string{}
	p.DNSSettings.InternalDomainNameSuffix = digest(r.top().ID)[:26] + ".ax.internal.cloudapp.net"
	if err := completeParts(r, "ipConfigurations", p.IPConfigurations); err != nil {
		return err
	}
	if to := p.NetworkSecurityGroup; to != nil {
		if g := c.st.resources.ByID[to.key()]; g == nil || g.top().Type != nsgKind {
			return noReference(to.ID, r)
		}
	}
	taken := map[string]bool{}
	for i := range p.IPConfigurations {
		if err := c.checkIP(r, &p.IPConfigurations[i], &old, taken); err != nil {
			return err
		}
	}
	return checkPrimary(r, p.IPConfigurations)
}

// checkPrimary demands one primary configuration; the only one is.
func checkPrimary(r *record, all []part[ipProperties]) error {
	if len(all) == 1 {
		all[0].Properties.Primary = true
	}
	primary := 0
	for _, c := range all {
		if c.Properties.Primary {
			primary++
		}
	}
	if primary != 1 {
		return formatError("MultipleOrNoPrimaryIpConfigurations", "Network interface %s must have exactly one primary IP configuration.", r.top().Name)
	}
	return nil
}

func (c *call) checkIP(r *record, ip *part[ipProperties], old *nicProperties, taken map[string]bool) error {
	p := &ip.Properties
	p.PrivateIPAllocationMethod = cmp.Or(p.PrivateIPAllocationMethod, "Dynamic")
	p.PrivateIPAddressVersion = cmp.Or(p.PrivateIPAddressVersion, "IPv4")
	switch {
	case p.Subnet == nil || p.Subnet.ID == "":
		return formatError("SubnetMissing", "IP configuration %s has no subnet.", ip.ID)
	case p.PrivateIPAddressVersion != "IPv4":
		return notSimulated("IPv6 addresses")
	case len(p.LoadBalancerInboundNATRules) > 0 || len(p.ApplicationSecurityGroups) > 0:
		return notSimulated("inbound NAT rules and application security groups")
	case p.PrivateIPAllocationMethod != "Dynamic" && p.PrivateIPAllocationMethod != "Static":
		return formatError("InvalidPrivateIPAllocationMethod", "%s is not an allocation method.", p.PrivateIPAllocationMethod)
	}
	subnet := c.st.subnet(p.Subnet.ID)
	if subnet == nil {
		return noReference(p.Subnet.ID, r)
	}
	wanted := p.PrivateIPAddress
	if p.PrivateIPAllocationMethod == "Dynamic" {
		wanted = ""
		if was := partNamed(old.IPConfigurations, ip.ID); was != nil && was.Properties.Subnet.key() == p.Subnet.key() {
			wanted = was.Properties.PrivateIPAddress
		}
	}
	address, err := c.st.allocate(r, subnet, wanted, p.PrivateIPAllocationMethod, taken)
	if err != nil {
		return err
	}
	p.PrivateIPAddress, taken[address] = address, true
	for i, to := range p.LoadBalancerBackendAddressPools {
		pool := c.st.pool(to.ID)
		if pool == nil {
			return noReference(to.ID, r)
		}
		p.LoadBalancerBackendAddressPools[i].ID = pool.ID
	}
	return c.checkPublic(r, ip)
}

// checkPublic refuses a public address that another resource has.
func (c *call) checkPublic(r *record, ip *part[ipProperties]) error {
	to := ip.Properties.PublicIPAddress
	if to == nil {
		return nil
	}
	_, address := find[publicAddress](c.st, to.ID)
	if address == nil {
		return noReference(to.ID, r)
	}
	if holder := address.Properties.IPConfiguration; holder != nil && holder.key() != keyOf(ip.ID) {
		return addressInUse(r.top().ID, to.ID, holder.ID)
	}
	if option := to.Properties; option != nil && option.DeleteOption != "" && !slices.Contains([]string{"Delete", "Detach"}, option.DeleteOption) {
		return formatError("InvalidDeleteOption", "%s is not a delete option.", option.DeleteOption)
	}
	return nil
}

func addressInUse(by, address, holder string) error {
	return bad("PublicIPAddressInUse", "Resource %s is referencing public IP address %s that is already allocated to resource %s.", by, address, holder)
}

func interfaceLinks(_ *call, r *record) (out []link) {
	p := r.object.(*nic).Properties
	if p.NetworkSecurityGroup != nil {
		out = append(out, link{nsgKind + "/join/action", p.NetworkSecurityGroup.ID})
	}
	for _, ip := range p.IPConfigurations {
		out = append(out, link{vnetKind + "/subnets/join/action", ip.Properties.Subnet.ID})
		if ip.Properties.PublicIPAddress != nil {
			out = append(out, link{addressKind + "/join/action", ip.Properties.PublicIPAddress.ID})
		}
		for _, pool := range ip.Properties.LoadBalancerBackendAddressPools {
			out = append(out, link{balancerKind + "/backendAddressPools/join/action", pool.ID})
		}
	}
	return out
}

func applyInterface(c *call, r, before *record) error {
	c.holdAddresses(r)
	c.associate(r.object.(*nic))
	return c.applyAll()
}

// holdAddresses notes which IP configurations have which public addresses.
func (c *call) holdAddresses(r *record) {
	n := r.object.(*nic)
	wanted := map[string]part[ipProperties]{}
	for _, ip := range n.Properties.IPConfigurations {
		if to := ip.Properties.PublicIPAddress; to != nil {
			wanted[keyOf(to.ID)] = ip
		}
	}
	prefix := keyOf(r.top().ID) + "/"
	each(c.st, func(held *record, a *publicAddress) {
		ip, wants := wanted[keyOf(held.top().ID)]
		switch holder := a.Properties.IPConfiguration; {
		case wants:
			a.Properties.IPConfiguration = &ref{ip.ID}
			if option := ip.Properties.PublicIPAddress.Properties; option != nil && option.DeleteOption != "" {
				a.Properties.DeleteOption = option.DeleteOption
			}
			c.st.put(held)
		case holder != nil && strings.HasPrefix(holder.key(), prefix):
			a.Properties.IPConfiguration = nil
			c.st.put(held)
			c.dissociate(held)
		}
	})
	for i := range n.Properties.IPConfigurations {
		if to := n.Properties.IPConfigurations[i].Properties.PublicIPAddress; to != nil {
			to.Properties = nil
		}
	}
	c.st.put(r)
}

func interfaceRemovable(_ *call, r *record) error {
	if vm := r.object.(*nic).Properties.VirtualMachine; vm != nil {
		return bad("NicInUse", "Network Interface %s is used by existing resource %s. In order to delete the network interface, it must be dissociated from the resource. To learn more, see aka.ms/deletenic.", r.top().ID, vm.ID)
	}
	return nil
}

func endInterface(a *Azure, r *record) {
	prefix := keyOf(r.top().ID) + "/"
	each(a.st, func(held *record, p *publicAddress) {
		if holder := p.Properties.IPConfiguration; holder != nil && strings.HasPrefix(holder.key(), prefix) {
			p.Properties.IPConfiguration = nil
			a.st.put(held)
			a.dissociate(held)
		}
	})
	if err := a.applyAll(); err != nil {
		a.Options.Log.Error("apply load balancers", "err", err)
	}
}

// macAddress is what an interface gets when its machine starts first.
func macAddress(id string) string {
	sum := sha256.Sum256([]byte(keyOf(id)))
	return fmt.Sprintf("60-45-BD-%02X-%02X-%02X", sum[0], sum[1], sum[2])
}
