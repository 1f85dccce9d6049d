// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"net/netip"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

type publicAddress = resource[addressProperties]

type addressProperties struct {
	status
	ResourceGUID             string      `json:"resourceGuid,omitempty"`
	IPAddress                string      `json:"ipAddress,omitempty"`
	PublicIPAddressVersion   string      `json:"publicIPAddressVersion,omitempty"`
	PublicIPAllocationMethod string      `json:"publicIPAllocationMethod,omitempty"`
	IdleTimeoutInMinutes     int         `json:"idleTimeoutInMinutes,omitempty"`
	DNSSettings              *addressDNS `json:"dnsSettings,omitempty"`
	IPConfiguration          *ref        `json:"ipConfiguration,omitempty"`
	NATGateway               *ref        `json:"natGateway,omitempty"`
	IPTags                   []struct{}  `json:"ipTags"`
	DeleteOption             string      `json:"deleteOption,omitempty"`
	DDoSSettings             *ddos       `json:"ddosSettings,omitempty"`
}

type addressDNS struct {
	DomainNameLabel string `json:"domainNameLabel,omitempty"`
	FQDN            string `json:"fqdn,omitempty"`
}

type ddos struct {
	ProtectionMode string `json:"protectionMode,omitempty"`
}

// publicSubnet is where public addresses come from.
const publicSubnet = "public"

// publicLimit is the quota of public addresses.
const publicLimit = 1000

func publicPrefix() netip.Prefix { return netip.MustParsePrefix("20.50.0.0/16") }

func (a *Azure) addPublicSubnet() error {
	low := publicPrefix().Addr()
	return a.Options.Datacenter.AddSubnet(publicSubnet, datacenter.Subnet{Prefix: publicPrefix(), Reserved: []datacenter.Range{{From: low, To: low.Next()}}})
}

// staticID is that of a public address in the datacenter.
func staticID(id string) string { return digest(id) }

func checkAddress(c *call, r, before *record) error {
	h, p := r.top(), &r.object.(*publicAddress).Properties
	var old addressProperties
	if before != nil {
		old = before.object.(*publicAddress).Properties
	}
	if h.SKU == nil {
		h.SKU = &sku{Name: "Basic"}
	}
	p.PublicIPAllocationMethod = cmp.Or(p.PublicIPAllocationMethod, "Dynamic")
	p.PublicIPAddressVersion = cmp.Or(p.PublicIPAddressVersion, "IPv4")
	count := 0
	each(c.st, func(*record, *publicAddress) { count++ })
	switch {
	case h.SKU.Name == "Basic":
		return bad("IPv4BasicSkuPublicIpCountLimitReached", "Cannot create more than 0 IPv4 Basic SKU public IP addresses for this subscription in this region.")
	case h.SKU.Name != "Standard":
		return formatError("InvalidSku", "%s is not a SKU of public IP addresses here.", h.SKU.Name)
	case p.PublicIPAllocationMethod != "Static":
		return formatError("StandardSkuPublicIpAddressesMustBeStatic", "Standard sku publicIp %s must have AllocationMethod set to Static.", h.ID)
	case p.PublicIPAddressVersion != "IPv4" || len(p.IPTags) > 0:
		return notSimulated("IPv6 addresses and IP tags")
	case p.IdleTimeoutInMinutes != 0 && (p.IdleTimeoutInMinutes < 4 || p.IdleTimeoutInMinutes > 30):
		return formatError("PublicIPAddressIdleTimeoutIsOutOfRange", "The idle timeout of %s must be between 4 and 30 minutes.", h.ID)
	case before == nil && count >= publicLimit:
		return c.overQuota(resourceID{provider: "Microsoft.Network", types: []string{"publicIPAddresses"}})
	}
	h.SKU.Tier = cmp.Or(h.SKU.Tier, "Regional")
	p.IdleTimeoutInMinutes = cmp.Or(p.IdleTimeoutInMinutes, 4)
	p.ResourceGUID, p.IPAddress, p.IPConfiguration, p.NATGateway, p.IPTags = derivedUUID(h.ID), old.IPAddress, old.IPConfiguration, old.NATGateway, []struct{}{}
	if p.DNSSettings != nil && p.DNSSettings.DomainNameLabel != "" {
		p.DNSSettings.FQDN = p.DNSSettings.DomainNameLabel + "." + c.seed.Location + ".cloudapp.azure.com"
	}
	return nil
}

func applyAddress(c *call, r, _ *record) error {
	p := &r.object.(*publicAddress).Properties
	if p.IPAddress != "" {
		return nil
	}
	if !c.Hosts {
		p.IPAddress = publicPrefix().Addr().Next().String()
		c.st.put(r)
		return nil
	}
	got, err := c.Options.Datacenter.Allocate(staticID(r.top().ID), publicSubnet)
	if err != nil {
		c.st.remove(r)
		return conflicts("PublicIPAddressAllocationFailed", "%v", err)
	}
	p.IPAddress = got.IP.String()
	c.st.put(r)
	return nil
}

func addressRemovable(_ *call, r *record) error {
	p := r.object.(*publicAddress).Properties
	holder := p.IPConfiguration
	if holder == nil {
		holder = p.NATGateway
	}
	if holder == nil {
		return nil
	}
	return bad("PublicIPAddressCannotBeDeleted", "Public IP address %s can not be deleted since it is still allocated to resource %s. In order to delete the public IP, disassociate/detach the Public IP address from the resource.  To learn how to do this, see aka.ms/deletepublicip.", r.top().ID, holder.ID)
}

func endAddress(a *Azure, r *record) {
	if !a.Hosts {
		return
	}
	if err := a.Options.Datacenter.Release(staticID(r.top().ID)); err != nil {
		a.Options.Log.Error("release a public address", "address", r.top().ID, "err", err)
	}
}

// associate routes the public addresses of an interface to its machine.
func (a *Azure) associate(n *nic) {
	r, _ := find[vm](a.st, n.Properties.VirtualMachine.id())
	if r == nil || !a.Hosts || r.Machine == "" {
		return
	}
	for _, ip := range n.Properties.IPConfigurations {
		if to := ip.Properties.PublicIPAddress; to != nil {
			if err := a.Options.Datacenter.Associate(staticID(to.ID), r.Machine); err != nil {
				a.Options.Log.Error("associate a public address", "address", to.ID, "err", err)
			}
		}
	}
}

// dissociate ends the route of a public address.
func (a *Azure) dissociate(r *record) {
	if !a.Hosts {
		return
	}
	if err := a.Options.Datacenter.Associate(staticID(r.top().ID), ""); err != nil {
		a.Options.Log.Error("dissociate a public address", "address", r.top().ID, "err", err)
	}
}
