// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/luthermonson/go-proxmox"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

const (
	// apiPath is where the API is, on every node.
	apiPath = "/api2/json"
	// apiPort is the one that Proxmox VE listens on.
	apiPort = "8006"
)

// client sends the requests of one connection. Everything that waits or repeats a call in
// the SDK is left aside: only its plain requests are used.
type client struct {
	*proxmox.Client
	// http sends what the SDK cannot bind to a context.
	http *http.Client
	base string
	// user is whom tasks are recorded for: a user, or the token of one.
	user    string
	release func()
}

// newClient returns a client that sends every byte through the transport of the connection.
func newClient(op string, c provider.Config) (*client, error) {
	base, err := baseURL(op, c.Spec.Proxmox.Endpoint)
	if err != nil {
		return nil, err
	}
	if err := confirmed(op, c, base); err != nil {
		return nil, err
	}
	config, err := tlsOf(op, c)
	if err != nil {
		return nil, err
	}
	plain := c.Transport.HTTPClient(config)
	agent := cmp.Or(c.Transport.Agent, "butler")
	identity, err := identityOf(op, c.Credentials)
	if err != nil {
		return nil, err
	}
	out := &client{base: base, user: identity.name, release: plain.CloseIdleConnections}
	ask := func(next http.RoundTripper) *http.Client {
		// A redirect would carry the credentials to another server.
		return &http.Client{Transport: answers{next}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	var authorized http.RoundTripper = tokenAuth{plain.Transport, identity}
	if identity.password != "" {
		login := proxmox.NewClient(base, proxmox.WithHTTPClient(ask(plain.Transport)), proxmox.WithUserAgent(agent), proxmox.WithLogger(silent{}))
		authorized = &ticketAuth{next: plain.Transport, login: login, identity: identity}
	}
	out.http = ask(authorized)
	out.Client = proxmox.NewClient(base, proxmox.WithHTTPClient(out.http), proxmox.WithUserAgent(agent), proxmox.WithLogger(silent{}))
	return out, nil
}

// baseURL returns where the API of an endpoint is. A port and the path of the API may be left
// out, and what a browser shows behind # is ignored.
func baseURL(op, endpoint string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(endpoint))
	if err != nil || u.Hostname() == "" {
		return "", provider.Invalid.New(op, reasonEndpoint, errors.New("spec.proxmox.endpoint is not a URL"), "write it as https://HOST:"+apiPort)
	}
	if u.Scheme != "https" {
		return "", provider.Invalid.New(op, reasonEndpoint, fmt.Errorf("spec.proxmox.endpoint begins with %s://, and Proxmox VE accepts credentials over TLS only", u.Scheme), "write it as https://HOST:"+apiPort)
	}
	if u.Port() == "" {
		u.Host += ":" + apiPort
	}
	path := strings.TrimRight(u.Path, "/")
	for _, suffix := range []string{"/json", "/api2"} {
		path = strings.TrimRight(strings.TrimSuffix(path, suffix), "/")
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path + apiPath}).String(), nil
}

// confirmed refuses an endpoint that differs from the one which the Secret names.
func confirmed(op string, c provider.Config, base string) error {
	server := base
	if c.Credentials.Get(v1alpha1.KeyEndpoint) != nil {
		server = ""
	}
	_, err := c.Credentials.Endpoint(op, "spec.proxmox.endpoint", base, server)
	return err
}

// tlsOf returns what certificates are accepted: the one of the fingerprint, those of the CA
// bundle and of the operating system, or any.
func tlsOf(op string, c provider.Config) (*tls.Config, error) {
	insecure := c.Spec.Proxmox.Insecure
	config, err := c.Transport.TLS(provider.Trust{CABundle: c.Credentials.Get(v1alpha1.KeyCABundle), Insecure: insecure})
	if err != nil {
		return nil, provider.Invalid.New(op, provider.ReasonCertificateRefused, err, "correct the key "+v1alpha1.KeyCABundle+" of the Secret")
	}
	text := strings.TrimSpace(string(c.Credentials.Get(v1alpha1.KeyFingerprint)))
	if text == "" || insecure {
		return config, nil
	}
	want, err := hex.DecodeString(strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(text), "sha256:"), ":", ""))
	if err != nil || len(want) != sha256.Size {
		return nil, provider.Invalid.New(op, provider.ReasonCertificateRefused, errors.New("the fingerprint is not a SHA-256 fingerprint"), "correct the key "+v1alpha1.KeyFingerprint+" of the Secret: 32 bytes in hexadecimal")
	}
	config.InsecureSkipVerify = true // the certificate itself is compared
	config.VerifyConnection = func(s tls.ConnectionState) error { return matches(s, want) }
	return config, nil
}

// errFingerprint is the refusal of a certificate that has another fingerprint.
var errFingerprint = errors.New("the certificate of the server has another fingerprint")

func matches(s tls.ConnectionState, want []byte) error {
	if len(s.PeerCertificates) == 0 {
		return errFingerprint
	}
	if got := sha256.Sum256(s.PeerCertificates[0].Raw); subtle.ConstantTimeCompare(got[:], want) != 1 {
		return errFingerprint
	}
	return nil
}

// get reads a path with parameters.
func (c *client) get(ctx context.Context, path string, query url.Values, into any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.Get(ctx, path, into)
}

// silent drops the log of the SDK: it would have user data in it.
type silent struct{}

func (silent) Debugf(string, ...any) {}
func (silent) Errorf(string, ...any) {}
func (silent) Infof(string, ...any)  {}
func (silent) Warnf(string, ...any)  {}
