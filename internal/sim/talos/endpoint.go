// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// retry is the pause before something that failed is tried again.
const retry = time.Second

// awaitEndpoint returns once the cluster answers at the endpoint of the node's
// configuration, with a certificate of the cluster's own authority.
func (n *node) awaitEndpoint(ctx context.Context) error {
	endpoint := n.config.Cluster().Endpoint()
	port := endpoint.Port()
	if port == "" {
		port = "443"
	}
	hostport := n.resolve(net.JoinHostPort(endpoint.Hostname(), port))
	var last string
	for {
		if err := n.emulator.options.Network.AwaitFrom(ctx, n.source(), hostport); err != nil {
			return err
		}
		err := n.greet(ctx, hostport, endpoint.Hostname())
		if err == nil {
			return nil
		}
		if err.Error() != last && ctx.Err() == nil {
			last = err.Error()
			n.log.Warn("the endpoint does not answer for the cluster", "endpoint", hostport, "error", err)
		}
		if !pause(ctx, retry) {
			return ctx.Err()
		}
	}
}

func (n *node) greet(ctx context.Context, hostport, name string) error {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(n.config.Cluster().IssuingCA().Crt) {
		return errors.New("the kubernetes CA of the configuration is not a certificate")
	}
	conn, err := n.emulator.options.Network.DialFrom(ctx, n.source(), "tcp", hostport)
	if err != nil {
		return err
	}
	defer conn.Close()
	return tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: name}).HandshakeContext(ctx)
}

// awaitPeers returns once a control plane can find the others: as without a discovery
// service, by the endpoint alone. A shared IP points to etcd as soon as it is held,
// everything else with the API server.
func (n *node) awaitPeers(ctx context.Context) error {
	return first(ctx, n.awaitEndpoint, func(ctx context.Context) error {
		return n.cluster.await(ctx, func() bool {
			address, err := netip.ParseAddr(n.config.Cluster().Endpoint().Hostname())
			return err == nil && n.cluster.shared[address] != nil
		})
	})
}

// first returns what the first of the ways does, and ends the others.
func first(ctx context.Context, ways ...func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, len(ways))
	for _, way := range ways {
		go func() { ended <- way(ctx) }()
	}
	return <-ended
}

// holdSharedIP is Talos' own way: the address is held by a node whose etcd is healthy,
// whether or not its API server answers.
func (n *node) holdSharedIP(ctx context.Context, address netip.Addr) {
	shared := func(holder *node) func() { return func() { n.cluster.shared[address] = holder } }
	n.cluster.whileHealthy(ctx, n, func(ctx context.Context) {
		n.hold(ctx, address, n.emulator.options.Profile.SharedIP, func(host *network.Host) {
			n.cluster.change(shared(n))
			defer n.cluster.change(shared(nil))
			n.cluster.whileOpen(ctx, n, func(ctx context.Context, target string) {
				host.Forward(apiServerPort, target)
				defer host.Cut(apiServerPort)
				defer host.Forward(apiServerPort, "")
				<-ctx.Done()
			})
		})
	})
}

// hold gives the node a shared address as soon as no other node has it, and back when do
// returns. When the power is lost, the others do not know for a while.
func (n *node) hold(ctx context.Context, address netip.Addr, unnoticed time.Duration, do func(*network.Host)) {
	defer n.emulator.options.Auditor.Shares(address)()
	host, err := n.emulator.options.Network.Claim(ctx, address)
	if err != nil {
		if ctx.Err() == nil {
			n.log.Error("the shared address cannot be held", "error", err)
			<-ctx.Done()
		}
		return
	}
	n.log.Info("node holds the shared address", "address", address)
	n.machine.Hold(address, true)
	defer n.machine.Hold(address, false)
	do(host)
	if errors.Is(context.Cause(n.power), datacenter.ErrPowerLoss) && unnoticed > 0 {
		host.Down()
		time.AfterFunc(unnoticed, host.Detach)
		return
	}
	host.Detach()
}
