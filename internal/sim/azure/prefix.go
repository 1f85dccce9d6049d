// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"net/netip"
	"slices"
)

type addressPrefix = resource[prefixProperties]

type prefixProperties struct {
	status
	ResourceGUID           string     `json:"resourceGuid,omitempty"`
	PublicIPAddressVersion string     `json:"publicIPAddressVersion,omitempty"`
	PrefixLength           int        `json:"prefixLength,omitempty"`
	IPPrefix               string     `json:"ipPrefix,omitempty"`
	NATGateway             *ref       `json:"natGateway,omitempty"`
	IPTags                 []struct{} `json:"ipTags"`
}

// prefixBlock is what public prefixes are cut from, in pieces of the largest size.
func prefixBlock() netip.Prefix { return netip.MustParsePrefix("20.51.0.0/16") }

func checkPrefix(c *call, r, before *record) error {
	h, p := r.top(), &r.object.(*addressPrefix).Properties
	if p.PublicIPAddressVersion == "" {
		p.PublicIPAddressVersion = "IPv4"
	}
	switch {
	case h.SKU == nil || h.SKU.Name != "Standard":
		return formatError("PublicIpPrefixInvalidSku", "Public IP prefix %s must have the SKU Standard.", h.ID)
	case p.PublicIPAddressVersion != "IPv4" || len(p.IPTags) > 0:
		return notSimulated("IPv6 addresses and IP tags")
	case p.PrefixLength < 28 || p.PrefixLength > 31:
		return formatError("InvalidPublicIpPrefixLength", "The prefix length of %s must be between 28 and 31.", h.ID)
	}
	p.ResourceGUID, p.IPTags, p.NATGateway = derivedUUID(h.ID), []struct{}{}, nil
	if before != nil {
		p.IPPrefix = before.object.(*addressPrefix).Properties.IPPrefix
		return nil
	}
	p.IPPrefix = c.st.freePrefix(p.PrefixLength).String()
	return nil
}

// freePrefix is the first prefix of the block that no resource has.
func (s *state) freePrefix(length int) netip.Prefix {
	taken := map[netip.Addr]bool{}
	each(s, func(_ *record, p *addressPrefix) {
		had, _ := netip.ParsePrefix(p.Properties.IPPrefix) // was written here
		taken[had.Addr()] = true
	})
	at := prefixBlock().Addr()
	for taken[at] {
		for range 16 {
			at = at.Next()
		}
	}
	return netip.PrefixFrom(at, length)
}

// natWith is the gateway that has a prefix, nil if none has.
func (s *state) natWith(prefix string) *ref {
	users := refsTo(s, func(n *natGateway) bool {
		return slices.ContainsFunc(n.Properties.PublicIPPrefixes, func(r ref) bool { return r.key() == keyOf(prefix) })
	})
	if len(users) == 0 {
		return nil
	}
	return &users[0]
}

func prefixRemovable(c *call, r *record) error {
	if user := c.st.natWith(r.top().ID); user != nil {
		return bad("InUsePublicIpPrefixCannotBeDeleted", "Public IP prefix %s is in use by %s and cannot be deleted.", r.top().ID, user.ID)
	}
	return nil
}

func showPrefix(c *call, r *record) any {
	p := *r.object.(*addressPrefix)
	p.Properties.NATGateway = c.st.natWith(p.ID)
	return &p
}
