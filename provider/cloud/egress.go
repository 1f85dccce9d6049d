// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import "github.com/butlerdotdev/butler/provider"

// Way is how the machines of a subnet reach the internet, for people.
type Way string

// The ways that mean the same on every cloud; others are described by the driver.
const (
	// WayNone: there is no route.
	WayNone Way = ""
	// WayInternet: a route that only machines with a public address can use.
	WayInternet Way = "an internet gateway"
	// WayNAT: a gateway that translates addresses.
	WayNAT Way = "a NAT gateway"
	// WayOther: a route that does not show where it ends.
	WayOther Way = "another route"
)

// Egress is the way out of a subnet, and what to do if there is none.
type Egress struct {
	Way Way
	// Public says that the machines have public addresses.
	Public bool
	// Unread says that it may not be read, and Grant is what would allow it.
	Unread bool
	Grant  string
	// AddNAT is what to do without a route; SetPublic with one that needs a public address.
	AddNAT, SetPublic string
}

// Add extends the finding about a subnet by its way out. That machines cannot fetch their
// images is a warning: registries may be mirrored inside the network.
func (e Egress) Add(f provider.Finding) provider.Finding {
	switch {
	case e.Unread:
		f.Verdict, f.Hint = provider.Unknown, e.Grant
		f.Message += "; the credentials cannot read its routes to the internet"
	case e.Way == WayNone:
		f.Verdict, f.Hint = provider.Unknown, e.AddNAT
		f.Message += "; it has no route to the internet, and machines fetch their images there"
	case e.Way == WayInternet && !e.Public:
		f.Verdict, f.Hint = provider.Unknown, e.SetPublic
		f.Message += "; its route is an internet gateway, which machines without a public address cannot use"
	default:
		f.Message += ", and it reaches the internet through " + string(e.Way)
	}
	return f
}
