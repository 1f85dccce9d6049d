// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package front

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
)

// Authority issues the certificates of all servers of a simulated platform. It stays
// the same over restarts.
type Authority struct {
	file string // of its certificate
	ca   pki.CA
}

// OpenAuthority returns the authority that dir holds, or creates it there.
func OpenAuthority(dir string) (*Authority, error) {
	a := &Authority{file: filepath.Join(dir, "ca.crt")}
	keyFile := filepath.Join(dir, "ca.key")
	var certErr, keyErr error
	a.ca.Cert, certErr = os.ReadFile(a.file)
	a.ca.Key, keyErr = os.ReadFile(keyFile)
	if err := errors.Join(certErr, keyErr); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return a, err
	}
	ca, err := pki.NewCA("simulated platform")
	if err != nil {
		return nil, err
	}
	a.ca = ca
	// The certificate comes last: where it exists, its key does too.
	return a, errors.Join(os.MkdirAll(dir, 0o700), plane.WriteFile(keyFile, ca.Key), plane.WriteFile(a.file, ca.Cert))
}

// File returns the path of the authority's certificate.
func (a *Authority) File() string { return a.file }

// Certificate returns the authority's certificate in PEM.
func (a *Authority) Certificate() []byte { return a.ca.Cert }

// TLS returns the configuration of a server with a certificate for these names and
// addresses and for loopback.
func (a *Authority) TLS(hosts ...string) (*tls.Config, error) {
	// A subject other than the authority's: OpenSSL takes the certificate for self-signed
	// otherwise.
	pair, err := a.ca.Issue(pki.Request{CommonName: "server of the simulated platform", Names: append([]string{"127.0.0.1", "localhost"}, hosts...), Server: true})
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}}, nil
}
