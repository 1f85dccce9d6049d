// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/butlerdotdev/butler/internal/pki"
)

// answering is a node whose Version answers, as in the maintenance mode of
// Talos 1.13.
type answering struct {
	machine.UnimplementedMachineServiceServer
}

func (answering) Version(context.Context, *emptypb.Empty) (*machine.VersionResponse, error) {
	return &machine.VersionResponse{}, nil
}

// serve is a node with a certificate of that CA, made on a clock that is ahead.
func serve(t *testing.T, ca pki.CA, clients tls.ClientAuthType, ahead time.Duration) Dialer {
	t.Helper()
	return serveNode(t, ca, clients, ahead, answering{})
}

func serveNode(t *testing.T, ca pki.CA, clients tls.ClientAuthType, ahead time.Duration, node machine.MachineServiceServer) Dialer {
	t.Helper()
	issuer, err := tls.X509KeyPair(ca.Cert, ca.Key)
	if err != nil {
		t.Fatal(err)
	}
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Add(ahead)
	der, err := x509.CreateCertificate(nil, &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Second), NotAfter: now.Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(10, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, issuer.Leaf, public, issuer.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: clients})))
	machine.RegisterMachineServiceServer(server, node)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
	}
}

// authorities returns the authority of the tests' cluster, that of another one, and the
// talosconfig of the first.
func authorities(t *testing.T) (ours, other pki.CA, talosconfig []byte) {
	t.Helper()
	bundle, err := parseSecrets(testSecrets(t))
	if err != nil {
		t.Fatal(err)
	}
	if other, err = pki.NewCA("other"); err != nil {
		t.Fatal(err)
	}
	if talosconfig, err = Talosconfig(testSecrets(t), "dev", nil, nil); err != nil {
		t.Fatal(err)
	}
	return pki.CA{Cert: bundle.Certs.OS.Crt, Key: bundle.Certs.OS.Key}, other, talosconfig
}

func TestStateIsDecidedByTheHandshake(t *testing.T) {
	ours, other, talosconfig := authorities(t)
	for reason, tc := range map[string]struct {
		ca      pki.CA
		clients tls.ClientAuthType
		address string
		ahead   time.Duration
		want    State
	}{
		"unknown CA, no client certificate wanted": {other, tls.NoClientCert, "10.0.0.1", 0, StateMaintenance},
		"unknown CA, client certificate wanted":    {other, tls.RequireAnyClientCert, "10.0.0.1", 0, StateForeign},
		"our CA, client certificate wanted":        {ours, tls.RequireAnyClientCert, "10.0.0.1", 0, StateConfigured},
		"our CA, another node's certificate":       {ours, tls.RequireAnyClientCert, "10.0.0.2", 0, StateForeign},
		"our CA, clock ahead":                      {ours, tls.RequireAnyClientCert, "10.0.0.1", time.Hour, StateUnreachable},
		"our CA, clock behind":                     {ours, tls.RequireAnyClientCert, "10.0.0.1", -48 * time.Hour, StateUnreachable},
		"in maintenance mode, clock ahead":         {other, tls.NoClientCert, "10.0.0.1", time.Hour, StateMaintenance},
	} {
		t.Run(reason, func(t *testing.T) {
			client, err := NewClient(talosconfig, serve(t, tc.ca, tc.clients, tc.ahead))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := client.State(t.Context(), tc.address); got != tc.want {
				t.Errorf("%s (%v), want %s", got, err, tc.want)
			}
		})
	}
}
