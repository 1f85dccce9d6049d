// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/butlerdotdev/butler/internal/pki"
)

func TestIssuedCertificateIsForItsNamesAndUsesOnly(t *testing.T) {
	ca, err := pki.NewCA("test")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Issue(pki.Request{CommonName: "server", Organizations: []string{"o"}, Names: []string{"10.0.0.1", "api.example.com"}, Server: true})
	if err != nil {
		t.Fatal(err)
	}
	keyPair, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.Cert)
	verify := func(name string, use x509.ExtKeyUsage) error {
		_, err := keyPair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, KeyUsages: []x509.ExtKeyUsage{use}})
		return err
	}
	for _, name := range []string{"10.0.0.1", "api.example.com"} {
		if err := verify(name, x509.ExtKeyUsageServerAuth); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if verify("other.example.com", x509.ExtKeyUsageServerAuth) == nil {
		t.Error("valid for another name")
	}
	if verify("", x509.ExtKeyUsageClientAuth) == nil {
		t.Error("valid for a client")
	}
	if s := keyPair.Leaf.Subject; s.CommonName != "server" || len(s.Organization) != 1 || s.Organization[0] != "o" {
		t.Errorf("subject %s", s)
	}
}
