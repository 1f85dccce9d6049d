// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/security"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// trustdPort is where workers ask for the certificate of their Talos API.
const trustdPort = 50001

// trust is steward-trustd: it signs the certificates of workers that know its token.
type trust struct {
	security.UnimplementedSecurityServiceServer
	ca     pki.CA
	server pki.Pair
	token  string
}

func (t trust) serve(ctx context.Context, host *network.Host) error {
	l, err := host.Listen(trustdPort)
	if err != nil {
		return err
	}
	certificate, err := tls.X509KeyPair(t.server.Cert, t.server.Key)
	if err != nil {
		return err
	}
	s := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}})))
	security.RegisterSecurityServiceServer(s, t)
	defer context.AfterFunc(ctx, s.Stop)()
	return s.Serve(l)
}

// Certificate signs a request of a worker.
func (t trust) Certificate(ctx context.Context, in *security.CertificateRequest) (*security.CertificateResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	given := md.Get("token")
	if len(given) != 1 || subtle.ConstantTimeCompare([]byte(given[0]), []byte(t.token)) != 1 {
		return nil, status.Error(codes.Unauthenticated, "error reading token metadata or invalid token")
	}
	signed, err := t.sign(in.GetCsr())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return &security.CertificateResponse{Ca: t.ca.Cert, Crt: signed}, nil
}

func (t trust) sign(data []byte) ([]byte, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("the request is not PEM")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(t.ca.Cert, t.ca.Key)
	if err != nil {
		return nil, err
	}
	authority, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: request.Subject, DNSNames: request.DNSNames, IPAddresses: request.IPAddresses,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, authority, request.PublicKey, pair.PrivateKey)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}
