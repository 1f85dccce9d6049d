// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/api/security"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/butlerdotdev/butler/internal/pki"
)

func TestTrustdSignsForItsTokenOnly(t *testing.T) {
	ca, err := pki.NewCA("talos")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{DNSNames: []string{"worker"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	request := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	server := trust{ca: ca, token: "butler.right"}
	for reason, tc := range map[string]struct {
		ctx  context.Context
		csr  []byte
		want codes.Code
	}{
		"the token":   {metadata.NewIncomingContext(t.Context(), metadata.Pairs("token", "butler.right")), request, codes.OK},
		"another one": {metadata.NewIncomingContext(t.Context(), metadata.Pairs("token", "butler.wrong")), request, codes.Unauthenticated},
		"none":        {t.Context(), request, codes.Unauthenticated},
		"no request":  {metadata.NewIncomingContext(t.Context(), metadata.Pairs("token", "butler.right")), []byte("x"), codes.InvalidArgument},
	} {
		answer, err := server.Certificate(tc.ctx, &security.CertificateRequest{Csr: tc.csr})
		if status.Code(err) != tc.want || err == nil && !signedBy(t, ca, answer.GetCrt()) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func signedBy(t *testing.T, ca pki.CA, certificate []byte) bool {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.Cert)
	block, _ := pem.Decode(certificate)
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Verify(x509.VerifyOptions{Roots: roots, DNSName: "worker"})
	return err == nil
}
