// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/siderolabs/talos/pkg/machinery/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// State is what a node is, as it answers itself.
type State string

// The states of a node.
const (
	StateUnreachable State = "Unreachable" // no Talos API answers at the address
	StateMaintenance State = "Maintenance" // booted without configuration, accepts one from any client
	StateConfigured  State = "Configured"  // has a configuration of our cluster and accepts our credentials
	StateForeign     State = "Foreign"     // has a configuration of another cluster
)

// State returns the state of the node. The error is why a node is
// Unreachable or Foreign and is nil otherwise.
//
// One handshake decides: a node of our cluster shows a certificate of our CA
// and gets to see our client certificate; a configured node of another cluster
// asks for a certificate too and gets none; a node in maintenance mode asks
// for none and answers (with Unimplemented, up to Talos 1.12).
func (c *Client) State(ctx context.Context, address string) (State, error) {
	state, _, err := c.handshake(ctx, address)
	return state, err
}

// handshake also returns the version of Talos, if the node says it right away.
func (c *Client) handshake(ctx context.Context, address string) (state State, version string, err error) {
	var seen handshake
	route := c.route(address)
	err = c.call(address, c.probe(route.Host, &seen), func(api *client.Client) error {
		reply, err := api.Version(ctx)
		version = tag(reply)
		return err
	})
	state, err = seen.judge(address, err)
	if route.Forwarded && !seen.ours.Load() && state != StateUnreachable {
		err = failed("query talos", address, fmt.Errorf("what answers at %s is not a control plane of this cluster", route.Host))
		state = StateUnreachable
	}
	return state, version, err
}

// judge decides on the state of the node at an address that answered with err.
func (seen *handshake) judge(address string, err error) (State, error) {
	switch {
	case seen.ours.Load() && err == nil:
		return StateConfigured, nil
	case seen.asked.Load() && seen.untimely.Load():
		return StateUnreachable, failed("query talos", address, errors.New("the node's certificate is not valid at this time; compare its clock with the one here"))
	case seen.asked.Load() && !seen.ours.Load():
		return StateForeign, failed("query talos", address, errors.New("the node has a configuration, but its certificate is not of this cluster or not for this address"))
	case seen.done.Load() && !seen.ours.Load() && (err == nil || status.Code(err) == codes.Unimplemented):
		return StateMaintenance, nil
	}
	return StateUnreachable, failed("query talos", address, err)
}

// handshake records what a node showed: that it finished, that its certificate
// is of our CA, or could be at another time, that it asked for a client
// certificate.
type handshake struct{ done, ours, untimely, asked atomic.Bool }

func (c *Client) probe(address string, seen *handshake) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // verified below: which node this is, is the question
		VerifyConnection: func(state tls.ConnectionState) error {
			err := c.verify(address, state)
			seen.ours.Store(err == nil)
			seen.untimely.Store(isUntimely(err))
			seen.done.Store(true)
			return nil
		},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			seen.asked.Store(true)
			if seen.ours.Load() {
				return &c.certificate, nil
			}
			return &tls.Certificate{}, nil
		},
	}
}

func isUntimely(err error) bool {
	var invalid x509.CertificateInvalidError
	return errors.As(err, &invalid) && invalid.Reason == x509.Expired // or not valid yet
}

func (c *Client) verify(address string, state tls.ConnectionState) error {
	intermediates := x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		intermediates.AddCert(certificate)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
		DNSName:       address,
		Roots:         c.roots,
		Intermediates: intermediates,
	})
	return err
}
