// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/internal/plane"
)

// counter counts requests to an API server by method and resource.
type counter struct {
	mu   sync.Mutex
	seen map[string]int
}

// before puts the counter in front of the API server of a kubeconfig and returns
// the kubeconfig of whoever is to be counted.
func (c *counter) before(b *testing.B, kubeconfig string) string {
	b.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(b, err)
	server, err := url.Parse(config.Host)
	must(b, err)
	transport, err := rest.TransportFor(config)
	must(b, err)
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(server) },
		Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // watches end when the binary does
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.count(r)
		proxy.ServeHTTP(w, r)
	}))
	b.Cleanup(s.CloseClientConnections)
	path := filepath.Join(b.TempDir(), "kubeconfig")
	must(b, plane.WriteKubeconfig(path, &rest.Config{Host: s.URL}))
	return path
}

func (c *counter) count(r *http.Request) {
	resource := r.URL.Path
	for part := range strings.SplitSeq(r.URL.Path, "/") {
		if strings.HasSuffix(part, "s") && part != "apis" && part != "namespaces" {
			resource = part
			break
		}
	}
	method := r.Method
	if r.URL.Query().Has("watch") {
		method = "WATCH"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.seen[method+" "+resource]++
}

// reset begins to count again.
func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = nil
}

func (c *counter) sum(of func(method string) bool) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for key, count := range c.seen {
		if method, _, _ := strings.Cut(key, " "); of(method) {
			n += count
		}
	}
	return n
}

func (c *counter) reads() int { return c.sum(func(m string) bool { return m == http.MethodGet }) }

func (c *counter) writes() int {
	return c.sum(func(m string) bool { return m != http.MethodGet && m != "WATCH" })
}

func (c *counter) table(n int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(c.seen)) {
		fmt.Fprintf(&out, "  %-40s %5.2f\n", key, float64(c.seen[key])/float64(n))
	}
	return out.String()
}
