// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"net"
	"strconv"
)

// Route is how the Talos API of a node is reached.
type Route struct {
	// Host is what is dialled: the node itself, or what has control planes behind it.
	Host string
	// Forwarded calls name the node that they are for, and the control plane that
	// receives them passes them on. Only configured nodes are reached in this way.
	Forwarded bool
}

// Router returns how the node with an address is reached.
type Router func(address string) Route

// Direct reaches every node at its own address.
func Direct(address string) Route { return Route{Host: address} }

// Through returns a client that reaches nodes as the router says.
func (c *Client) Through(r Router) *Client {
	routed := *c
	routed.route = r
	return &routed
}

// failed adds to an error through what the node was called.
func (r Route) failed(address string, err error) error {
	if err == nil || !r.Forwarded {
		return err
	}
	return &forwardError{host: r.Host, target: net.JoinHostPort(address, strconv.Itoa(APIPort)), err: err}
}

// destination adds the node that a call is for to the metadata of the call.
type destination string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (d destination) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"node": string(d)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (destination) RequireTransportSecurity() bool { return true }
