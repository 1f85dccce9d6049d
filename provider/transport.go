// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Transport carries every byte that a driver sends, requests to token endpoints
// included. The zero value is the ordinary network.
type Transport struct {
	// DialContext opens connections; nil means the operating system's network.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error) `json:"-"`
	// Agent names the sender to the platform in every request, as its User-Agent:
	// the platform's own records then tell which of several writers it was.
	Agent string
}

// Dial opens a connection.
func (t Transport) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if t.DialContext != nil {
		return t.DialContext(ctx, network, address)
	}
	d := net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return d.DialContext(ctx, network, address)
}

// Proxy returns the proxy of a request. Only the ordinary network has one: a
// given dialer decides by itself how an address is reached.
func (t Transport) Proxy(r *http.Request) (*url.URL, error) {
	if t.DialContext != nil {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// RoundTripper returns an HTTP transport of its own; config may be nil. Whoever
// uses it without HTTPClient has to send the Agent himself.
func (t Transport) RoundTripper(config *tls.Config) *http.Transport {
	return &http.Transport{
		DialContext:         t.Dial,
		Proxy:               t.Proxy,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 32,
		ForceAttemptHTTP2:   true,
	}
}

// HTTPClient returns an HTTP client of its own, which names the Agent.
func (t Transport) HTTPClient() *http.Client {
	return &http.Client{Transport: named{t.RoundTripper(nil), t.Agent}}
}

// named sends requests in the name of an agent, unless they have one already.
type named struct {
	*http.Transport
	agent string
}

// RoundTrip implements http.RoundTripper.
func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	if n.agent != "" && r.Header.Get("User-Agent") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", n.agent)
	}
	return n.Transport.RoundTrip(r)
}
