// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package sni_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/sim/sni"
)

func certificate(t *testing.T, names ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	ca, err := pki.NewCA("test")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Issue(pki.Request{CommonName: names[0], Names: names, Server: true})
	if err != nil {
		t.Fatal(err)
	}
	out, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.Cert)
	return out, roots
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// echo answers what it reads, over TLS.
func echo(t *testing.T, c tls.Certificate) string {
	t.Helper()
	l := tls.NewListener(listen(t), &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{c}})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(conn, conn); _ = conn.Close() }()
		}
	}()
	return l.Addr().String()
}

func TestConnectionsArePassedOnByTheNameThatTheyAskFor(t *testing.T) {
	own, roots := certificate(t, "web.shop.k8s.example.com", "127.0.0.1")
	other, _ := certificate(t, "default")
	server := echo(t, own)
	route := func(ctx context.Context, name string) (net.Conn, error) {
		if name != "web.shop.k8s.example.com" {
			return nil, errors.New("unknown")
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", server)
	}
	for reason, tc := range map[string]struct {
		name  string
		proxy sni.Proxy
		want  string // of the error; empty: none
	}{
		"its name":                           {name: "web.shop.k8s.example.com", proxy: sni.Proxy{Route: route}},
		"another name, no certificate":       {name: "api.shop.k8s.example.com", proxy: sni.Proxy{Route: route}, want: "EOF"},
		"another name, default certificate":  {name: "api.shop.k8s.example.com", proxy: sni.Proxy{Route: route, Default: &other}, want: "certificate"},
		"an address, which is never a name":  {name: "127.0.0.1", proxy: sni.Proxy{Route: route}, want: "EOF"},
		"its name beside a default":          {name: "web.shop.k8s.example.com", proxy: sni.Proxy{Route: route, Default: &other}},
		"an address, with a default for all": {name: "127.0.0.1", proxy: sni.Proxy{Route: route, Default: &other}, want: "certificate"},
	} {
		t.Run(reason, func(t *testing.T) {
			l := listen(t)
			go func() { _ = tc.proxy.Serve(l) }()
			conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: tc.name})
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) && !strings.Contains(err.Error(), "reset") {
					t.Fatalf("got %v, want %q", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			got := make([]byte, 5)
			if _, err := conn.Write([]byte("hello")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestWhatIsNoTLSIsClosed(t *testing.T) {
	l := listen(t)
	go func() {
		_ = sni.Proxy{Route: func(context.Context, string) (net.Conn, error) { return nil, errors.New("asked") }}.Serve(l)
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes", n)
	}
}
