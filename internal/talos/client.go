// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/state"
	cosi "github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/client"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// APIPort is where every node serves the Talos API.
const APIPort = constants.ApidPort

// Dialer opens the connections of a Client; no byte leaves by another way.
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// Client speaks to the Talos API of single nodes, each named by its address
// without port. It holds no connections. Every method is one exchange, bounded
// by its context; none waits for a node to become what it is not yet.
type Client struct {
	dial        Dialer
	route       Router
	roots       *x509.CertPool
	certificate tls.Certificate
}

// NewClient returns a client with the credentials of the current context of a
// talosconfig.
func NewClient(talosconfig []byte, dial Dialer) (*Client, error) {
	cfg, err := clientconfig.FromBytes(talosconfig)
	if err != nil {
		return nil, errors.New("parse talosconfig: not a YAML document of the expected form")
	}
	current := cfg.Contexts[cfg.Context]
	if current == nil {
		return nil, fmt.Errorf("talosconfig has no context %q", cfg.Context)
	}
	roots, err := certPool(current.CA)
	if err != nil {
		return nil, fmt.Errorf("talosconfig context %q: %w", cfg.Context, err)
	}
	certificate, err := client.CertificateFromConfigContext(current)
	if err != nil || certificate == nil {
		return nil, fmt.Errorf("talosconfig context %q has no usable client certificate", cfg.Context)
	}
	return &Client{dial: dial, route: Direct, roots: roots, certificate: *certificate}, nil
}

// Certificate returns the certificate that the client presents to nodes.
func (c *Client) Certificate() *x509.Certificate { return c.certificate.Leaf }

func certPool(encoded string) (*x509.CertPool, error) {
	ca, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errors.New("the CA is not base64")
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("the CA is not a PEM certificate")
	}
	return pool, nil
}

// mutual is the TLS of a configured node of our cluster.
func (c *Client) mutual() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		RootCAs:      c.roots,
		Certificates: []tls.Certificate{c.certificate},
	}
}

// call runs do on a connection to one node. The passthrough scheme keeps name
// resolution, like everything else, in the dialer.
func (c *Client) call(address string, config *tls.Config, do func(*client.Client) error) error {
	route := c.route(address)
	hostport := net.JoinHostPort(route.Host, strconv.Itoa(APIPort))
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(credentials.NewTLS(config)),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return c.dial(ctx, "tcp", addr) }),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(constants.GRPCMaxMessageSize)),
	}
	if route.Forwarded {
		options = append(options, grpc.WithPerRPCCredentials(destination(address)))
	}
	conn, err := grpc.NewClient("passthrough:///"+hostport, options...)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return route.failed(address, do(&client.Client{
		MachineClient: machine.NewMachineServiceClient(conn),
		COSI:          state.WrapCore(cosi.NewAdapter(v1alpha1.NewStateClient(conn))),
	}))
}
