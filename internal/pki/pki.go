// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package pki makes certificate authorities and certificates.
package pki

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

const (
	caLifetime   = 10 * 365 * 24 * time.Hour
	certLifetime = 365 * 24 * time.Hour
	clockSkew    = 5 * time.Minute
)

// CA is a certificate authority, in PEM.
type CA struct{ Cert, Key []byte }

// Pair is a certificate and its key, in PEM.
type Pair struct{ Cert, Key []byte }

// Request says what a certificate is for.
type Request struct {
	CommonName    string
	Organizations []string
	Names         []string // DNS names and addresses of a server
	Client        bool
	Server        bool
	Lifetime      time.Duration // zero: a year
}

// NewCA creates a self-signed authority.
func NewCA(commonName string) (CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return CA{}, err
	}
	t, err := template(commonName, nil, caLifetime)
	if err != nil {
		return CA{}, err
	}
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return CA{}, err
	}
	p, err := encode(der, key)
	return CA(p), err
}

// Issue signs a new key's certificate. The authority may hold any kind of key.
func (ca CA) Issue(r Request) (Pair, error) {
	issuer, err := tls.X509KeyPair(ca.Cert, ca.Key)
	if err != nil {
		return Pair{}, fmt.Errorf("read the authority for %q: %w", r.CommonName, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	t, err := template(r.CommonName, r.Organizations, cmp.Or(r.Lifetime, certLifetime))
	if err != nil {
		return Pair{}, err
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = r.usages()
	addNames(t, r.Names)
	der, err := x509.CreateCertificate(rand.Reader, t, issuer.Leaf, key.Public(), issuer.PrivateKey)
	if err != nil {
		return Pair{}, fmt.Errorf("sign the certificate of %q: %w", r.CommonName, err)
	}
	return encode(der, key)
}

// NewSigningKey creates a key that signs service account tokens, in PEM.
func NewSigningKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return encodeKey(key)
}

func (r Request) usages() (u []x509.ExtKeyUsage) {
	if r.Client {
		u = append(u, x509.ExtKeyUsageClientAuth)
	}
	if r.Server {
		u = append(u, x509.ExtKeyUsageServerAuth)
	}
	return u
}

func template(commonName string, organizations []string, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName, Organization: organizations},
		NotBefore:    now.Add(-clockSkew),
		NotAfter:     now.Add(lifetime),
	}, nil
}

func addNames(t *x509.Certificate, names []string) {
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, n)
		}
	}
}

func encode(der []byte, key *ecdsa.PrivateKey) (Pair, error) {
	keyPEM, err := encodeKey(key)
	return Pair{Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), Key: keyPEM}, err
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
