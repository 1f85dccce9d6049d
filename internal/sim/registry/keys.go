// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
)

// keys has a certificate for each host, of an authority that stays the same.
type keys struct {
	file  string // of the authority's certificate
	ca    pki.CA
	hosts []string

	mu   sync.Mutex
	made map[string]*tls.Certificate
}

// openKeys takes the authority that dir has, or makes it.
func openKeys(dir string, hosts []string) (*keys, error) {
	k := &keys{file: filepath.Join(dir, "ca.crt"), hosts: hosts, made: map[string]*tls.Certificate{}}
	keyFile := filepath.Join(dir, "ca.key")
	var certErr, keyErr error
	k.ca.Cert, certErr = os.ReadFile(k.file)
	k.ca.Key, keyErr = os.ReadFile(keyFile)
	if err := errors.Join(certErr, keyErr); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	ca, err := pki.NewCA("stand-ins of a rehearsal")
	if err != nil {
		return nil, err
	}
	k.ca = ca
	// The certificate comes last: who finds it finds its key.
	return k, errors.Join(os.MkdirAll(dir, 0o700), plane.WriteFile(keyFile, ca.Key), plane.WriteFile(k.file, ca.Cert))
}

func (k *keys) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: k.certificate}
}

// certificate of the host that the client names, made when it is first asked for.
func (k *keys) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if !slices.Contains(k.hosts, hello.ServerName) {
		return nil, fmt.Errorf("nothing is served as %q", hello.ServerName)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if made := k.made[hello.ServerName]; made != nil {
		return made, nil
	}
	pair, err := k.ca.Issue(pki.Request{CommonName: hello.ServerName, Names: []string{hello.ServerName}, Server: true})
	if err != nil {
		return nil, err
	}
	made, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil, err
	}
	k.made[hello.ServerName] = &made
	return &made, nil
}
