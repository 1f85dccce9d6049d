// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/siderolabs/talos/pkg/machinery/api/security"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
)

// awaitTrustd returns the TLS of the Talos API once trustd, at the host of the endpoint, has
// signed its certificate. Where nothing answers there, the node has no Talos API.
func (n *node) awaitTrustd(ctx context.Context) (*tls.Config, error) {
	for last := ""; ; {
		config, err := n.askTrustd(ctx)
		if err == nil || ctx.Err() != nil {
			return config, err
		}
		if err.Error() != last {
			last = err.Error()
			n.log.Warn("trustd signs no certificate", "error", err)
		}
		if !pause(ctx, retry) {
			return nil, ctx.Err()
		}
	}
}

func (n *node) askTrustd(ctx context.Context) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: n.hostname()}, DNSNames: []string{n.hostname()}, IPAddresses: []net.IP{n.address().AsSlice()},
	}, key)
	if err != nil {
		return nil, err
	}
	signed, err := n.sign(ctx, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}))
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(signed, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
	if err != nil {
		return nil, err
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(n.talosCA().Cert)
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
	}, nil
}

// sign asks trustd with the token of the configuration.
func (n *node) sign(ctx context.Context, request []byte) ([]byte, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(n.talosCA().Cert) {
		return nil, errors.New("the talos CA of the configuration is not a certificate")
	}
	at := net.JoinHostPort(n.config.Cluster().Endpoint().Hostname(), strconv.Itoa(constants.TrustdPort))
	conn, err := grpc.NewClient("passthrough:///"+at,
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: n.config.Cluster().Endpoint().Hostname()})),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return n.dial(ctx, "tcp", addr) }))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	ctx = metadata.AppendToOutgoingContext(ctx, "token", n.config.Machine().Security().Token())
	answer, err := security.NewSecurityServiceClient(conn).Certificate(ctx, &security.CertificateRequest{Csr: request})
	if err != nil {
		return nil, fmt.Errorf("ask trustd at %s: %w", at, err)
	}
	return answer.GetCrt(), nil
}

// dial connects as the node does.
func (n *node) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return n.emulator.options.Network.DialFrom(ctx, n.source(), network, n.resolve(addr))
}
