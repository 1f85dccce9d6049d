// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
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
	// RootCAs are the only authorities that servers are verified with, besides those
	// of a Trust; nil means the operating system's.
	RootCAs *x509.CertPool `json:"-"`
	// Agent is the User-Agent of every request: the platform's own records then show
	// which of several writers sent it.
	Agent string
}

// Trust is what a ProviderConfig and its Secret say about the platform's certificate.
type Trust struct {
	// CABundle holds further authorities in PEM.
	CABundle []byte
	// Insecure accepts any certificate.
	Insecure bool
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

// TLS returns the TLS configuration of connections to the platform.
func (t Transport) TLS(trust Trust) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: t.RootCAs, InsecureSkipVerify: trust.Insecure}
	if len(trust.CABundle) == 0 {
		return config, nil
	}
	pool, err := t.roots()
	if err != nil {
		return nil, err
	}
	if !pool.AppendCertsFromPEM(trust.CABundle) {
		return nil, errors.New("the CA bundle holds no certificate in PEM")
	}
	config.RootCAs = pool
	return config, nil
}

// roots returns a copy of the authorities.
func (t Transport) roots() (*x509.CertPool, error) {
	if t.RootCAs != nil {
		return t.RootCAs.Clone(), nil
	}
	return x509.SystemCertPool()
}

// HTTPClient returns an HTTP client of its own with this TLS configuration; nil means
// that of an empty Trust.
func (t Transport) HTTPClient(config *tls.Config) *http.Client {
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: t.RootCAs}
	}
	return &http.Client{Transport: t.Wrap(&http.Transport{
		DialContext:         t.Dial,
		Proxy:               t.Proxy,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 128, // as many calls are sent at once
		ForceAttemptHTTP2:   true,
	})}
}

// Wrap sends requests with the Agent, unless they name another one, and removes
// Retry-After from the answers: an SDK would wait for that inside the call, and
// waiting is the reconciler's part.
func (t Transport) Wrap(next http.RoundTripper) http.RoundTripper { return wrapped{next, t.Agent} }

type wrapped struct {
	http.RoundTripper
	agent string
}

// RoundTrip implements http.RoundTripper.
func (w wrapped) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.agent != "" && r.Header.Get("User-Agent") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", w.agent)
	}
	answer, err := w.RoundTripper.RoundTrip(r)
	if answer != nil {
		answer.Header.Del("Retry-After")
	}
	return answer, err
}

// WrappedRoundTripper returns the transport beneath, so that its connections can be closed.
func (w wrapped) WrappedRoundTripper() http.RoundTripper { return w.RoundTripper }

// CloseIdleConnections closes the connections beneath that are not in use.
func (w wrapped) CloseIdleConnections() {
	if c, ok := w.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
