// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// front stands before the API server: it tells the auditor who writes, and has answers
// be late or wrong. The limited user knows the front alone; administrator and
// controllers go past it.
type front struct {
	listener net.Listener
	server   *http.Server
}

func (h *Harvester) openFront() error {
	security, err := h.frontTLS()
	if err != nil {
		return err
	}
	calls, err := h.frontHandler()
	if err != nil {
		return err
	}
	l, err := listenAsBefore(filepath.Join(h.options.Dir, "front"))
	if err != nil {
		return err
	}
	l = h.options.Faults.Listen(l)
	quiet := slog.NewLogLogger(h.options.Log.Handler(), slog.LevelDebug)
	h.front = &front{listener: l, server: &http.Server{Handler: calls, TLSConfig: security, ErrorLog: quiet}}
	go func() { _ = h.front.server.ServeTLS(l, "", "") }() // ends with Close
	return nil
}

func (f *front) close() {
	if f != nil {
		_ = f.server.Close()
	}
}

// frontTLS is that of the API server: the same authority, and the same names.
func (h *Harvester) frontTLS() (*tls.Config, error) {
	names := append([]string{"127.0.0.1", "localhost"}, hostNames(h.options.Seed.Hosts)...)
	identity, err := h.plane.Issue(pki.Request{CommonName: "kube-apiserver", Names: names, Server: true})
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(identity.CertData, identity.KeyData)
	if err != nil {
		return nil, err
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(identity.CAData)
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
		ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: clients,
	}, nil
}

func (h *Harvester) frontHandler() (http.Handler, error) {
	forward, err := newForwarder(h.plane.Config())
	if err != nil {
		return nil, err
	}
	slow := fault.Delay(h.options.Create, createsMachine, forward)
	past, err := newPast(h.plane.Config(), forward, h.options.Log)
	if err != nil {
		return nil, err
	}
	faulty := h.options.Faults.Handler(fault.API{
		Classify: classify, Refuse: refuse, Pretend: pretend, Past: past, Second: http.HandlerFunc(h.serveSecond),
	}, slow)
	return tellWrites(h.options.Auditor, faulty), nil
}

func createsMachine(r *http.Request) bool {
	c := classify(r)
	return c.Verb == fault.Create && c.Resource == fault.Machine
}

// listenAsBefore takes the loopback address of the last start if it is free:
// kubeconfigs that were handed out name it.
func listenAsBefore(file string) (net.Listener, error) {
	last, err := os.ReadFile(file)
	if err != nil {
		last = []byte("127.0.0.1:0")
	}
	l, err := net.Listen("tcp4", string(last))
	if err != nil {
		l, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("listen for API calls: %w", err)
	}
	return l, plane.WriteFile(file, []byte(l.Addr().String()))
}
