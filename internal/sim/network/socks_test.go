// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/proxy"

	"github.com/butlerdotdev/butler/internal/sim/network"
)

func serveSOCKS(t *testing.T, n *network.Network) string {
	t.Helper()
	return serveSOCKSTo(t, n, network.Source{})
}

func serveSOCKSTo(t *testing.T, n *network.Network, from network.Source) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- n.ServeSOCKS(l, from) }()
	t.Cleanup(func() {
		_ = l.Close()
		if err := <-served; err != nil {
			t.Errorf("serve SOCKS: %v", err)
		}
	})
	return l.Addr().String()
}

// secureHello serves HTTPS on l and returns a client configuration that trusts it.
func secureHello(t *testing.T, l net.Listener) *http.Transport {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello "+r.Host)
	}))
	_ = s.Listener.Close()
	s.Listener = l
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	transport := s.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.ServerName = "example.com" // a name of httptest's certificate
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func TestHTTPSThroughEveryWayIn(t *testing.T) {
	n := network.New()
	transport := secureHello(t, listen(t, attach(t, n, "10.40.0.10"), 6443))
	socks := serveSOCKS(t, n)
	foreign, err := proxy.SOCKS5("tcp", socks, nil, proxy.Direct)
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string]func(*http.Transport){
		"proxy url":    func(tr *http.Transport) { tr.Proxy = http.ProxyURL(&url.URL{Scheme: "socks5", Host: socks}) },
		"x/net client": func(tr *http.Transport) { tr.DialContext = foreign.(proxy.ContextDialer).DialContext },
		"own dialer":   func(tr *http.Transport) { tr.DialContext = network.Dialer(socks) },
		"in process":   func(tr *http.Transport) { tr.DialContext = n.Dial },
	}
	for name, use := range ways {
		t.Run(name, func(t *testing.T) {
			tr := transport.Clone()
			use(tr)
			defer tr.CloseIdleConnections()
			response, err := (&http.Client{Transport: tr}).Get("https://10.40.0.10:6443/")
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if body, err := io.ReadAll(response.Body); err != nil || string(body) != "hello 10.40.0.10:6443" {
				t.Errorf("got %q, %v", body, err)
			}
		})
	}
}

func TestSOCKSReplies(t *testing.T) {
	n := network.New()
	attach(t, n, "10.40.0.10")
	greeting := []byte{5, 1, 0}
	tests := map[string]struct{ send, want []byte }{
		"unknown address":      {append(greeting, 5, 1, 0, 1, 10, 40, 0, 99, 0, 80), []byte{5, 0, 5, 4}},
		"closed port":          {append(greeting, 5, 1, 0, 1, 10, 40, 0, 10, 0, 80), []byte{5, 0, 5, 5}},
		"unknown name":         {append(greeting, 5, 1, 0, 3, 1, 'x', 0, 80), []byte{5, 0, 5, 4}},
		"bind":                 {append(greeting, 5, 2, 0, 1, 10, 40, 0, 10, 0, 80), []byte{5, 0, 5, 7}},
		"unknown address type": {append(greeting, 5, 1, 0, 9, 10, 40, 0, 10, 0, 80), []byte{5, 0, 5, 8}},
		"passwords only":       {[]byte{5, 1, 2}, []byte{5, 0xff}},
		"socks 4":              {[]byte{4, 1, 0, 80, 10, 40, 0, 10, 0}, []byte{5, 0xff}},
	}
	socks := serveSOCKS(t, n)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", socks)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write(tt.send); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(tt.want))
			if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, tt.want) {
				t.Errorf("got % x, %v, want % x", got, err, tt.want)
			}
		})
	}
}

func TestSOCKSIsServedOnLoopbackOnly(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := network.New().ServeSOCKS(l, network.Source{}); err == nil {
		t.Error("served on every address of this machine")
	}
}

func TestDialerEndsWithItsContext(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := network.Dialer(silent.Addr().String())(ctx, "tcp", "10.40.0.10:80"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestDialerWithoutASimulatorIsNotARefusalOfTheMachine(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	_, err = network.Dialer(l.Addr().String())(t.Context(), "tcp", "10.40.0.10:80")
	if err == nil || errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}

func TestDialerUsesLoopbackOnly(t *testing.T) {
	if _, err := network.Dialer("192.0.2.1:1080")(t.Context(), "tcp", "10.40.0.10:80"); err == nil {
		t.Error("dialled a SOCKS server elsewhere")
	}
}
