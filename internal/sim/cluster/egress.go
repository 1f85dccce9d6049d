// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
)

// longestSocket is the length of a socket's path that every system takes.
const longestSocket = 100

// egress is where an API server sends all that is meant for services and pods.
type egress struct {
	services *Services
	listener *net.UnixListener
	scratch  string // a directory of its own, if it has one
	calls    chan net.Conn
	closed   context.Context
	close    context.CancelFunc
}

// open prepares the network for an API server whose files are in dir.
func (s *Services) open(dir string) (*egress, error) {
	ca, err := keptCA(filepath.Join(dir, "webhook-ca.pem"))
	if err != nil {
		return nil, fmt.Errorf("authority of emulated webhooks: %w", err)
	}
	s.mu.Lock()
	s.ca = ca
	s.mu.Unlock()
	e := &egress{services: s, calls: make(chan net.Conn)}
	if err := e.listen(dir); err != nil {
		return nil, fmt.Errorf("network of emulated services: %w", err)
	}
	e.closed, e.close = context.WithCancel(context.Background())
	server := &http.Server{Handler: http.HandlerFunc(e.connect), ReadHeaderTimeout: 10 * time.Second}
	hooks := newWebhooks(s.Faults, ca)
	go func() { _ = server.Serve(e.listener) }()
	go func() { _ = hooks.Serve(e) }()
	context.AfterFunc(e.closed, func() {
		_ = server.Close()
		_ = hooks.Close()
		if e.scratch != "" {
			_ = os.RemoveAll(e.scratch)
		}
	})
	return e, nil
}

// keptCA holds certificate and key in one file, so that neither is ever there without
// the other.
func keptCA(path string) (pki.CA, error) {
	both, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		var ca pki.CA
		if ca, err = pki.NewCA("emulated-webhooks"); err == nil {
			both = slices.Concat(ca.Cert, ca.Key)
			err = plane.WriteFile(path, both)
		}
	}
	block, _ := pem.Decode(both)
	if err != nil || block == nil {
		return pki.CA{}, errors.Join(err, fmt.Errorf("%s has no certificate", path))
	}
	return pki.CA{Cert: pem.EncodeToMemory(block), Key: both}, nil
}

// listen takes a socket in dir, or, where such a path is too long, elsewhere.
func (e *egress) listen(dir string) (err error) {
	path := filepath.Join(dir, "egress.sock")
	if len(path) > longestSocket {
		if e.scratch, err = os.MkdirTemp("", "butler"); err != nil {
			return err
		}
		path = filepath.Join(e.scratch, "egress.sock")
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	e.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	e.listener.SetUnlinkOnClose(false) // the next one may be there already
	return nil
}

// configuration points an API server to it.
func (e *egress) configuration() ([]byte, error) {
	return yaml.Marshal(map[string]any{
		"apiVersion": "apiserver.k8s.io/v1beta1",
		"kind":       "EgressSelectorConfiguration",
		"egressSelections": []any{map[string]any{
			"name": "cluster",
			"connection": map[string]any{
				"proxyProtocol": "HTTPConnect",
				"transport":     map[string]any{"uds": map[string]any{"udsName": e.Addr().String()}},
			},
		}},
	})
}

// call is a connection to a pod.
type call struct {
	net.Conn
	pod   *corev1.Pod
	hooks string // where the pod's own webhooks answer; empty: nowhere
}

// connect answers CONNECT with a connection to a pod. The caller waits for the
// answer, so that nothing is lost in a buffer.
func (e *egress) connect(w http.ResponseWriter, r *http.Request) {
	at, err := netip.ParseAddrPort(r.Host)
	if err != nil || r.Method != http.MethodConnect {
		http.Error(w, "want CONNECT address:port", http.StatusBadRequest)
		return
	}
	pod, hooks, refused := e.services.find(at)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	answer := "200 OK"
	if refused != nil {
		answer = "502 connection refused: " + refused.Error()
	}
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 %s\r\n\r\n", answer); err != nil || refused != nil {
		_ = conn.Close()
		return
	}
	select {
	case e.calls <- &call{Conn: conn, pod: pod, hooks: hooks}:
	case <-e.closed.Done():
		_ = conn.Close()
	}
}

// Accept, Close and Addr make the calls a listener for the webhooks.
func (e *egress) Accept() (net.Conn, error) {
	select {
	case c := <-e.calls:
		return c, nil
	case <-e.closed.Done():
		return nil, net.ErrClosed
	}
}

// Close ends it; connections that were made end too.
func (e *egress) Close() error {
	e.close()
	return nil
}

// Addr is the socket.
func (e *egress) Addr() net.Addr { return e.listener.Addr() }
