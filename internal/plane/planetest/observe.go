// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package planetest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/internal/plane"
)

// Observe puts seen in front of an API server, until the test ends, and returns the path of a
// kubeconfig for programs whose requests it sees.
func Observe(tb testing.TB, config *rest.Config, seen func(*http.Request)) string {
	tb.Helper()
	server, err := url.Parse(config.Host)
	if err != nil {
		tb.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		tb.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(server) },
		Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // watches end when the program does
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen(r)
		proxy.ServeHTTP(w, r)
	}))
	tb.Cleanup(s.CloseClientConnections)
	path := filepath.Join(tb.TempDir(), "kubeconfig")
	if err := plane.WriteKubeconfig(path, &rest.Config{Host: s.URL}); err != nil {
		tb.Fatal(err)
	}
	return path
}
