// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package registry speaks to OCI registries: it pushes images, and asks whether nodes can
// pull them.
package registry

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Options say how a registry is reached.
type Options struct {
	// Username and Password log in; without them the configuration of Docker does, if there
	// is one.
	Username, Password string
	// Anonymous does not log in at all.
	Anonymous bool
	// CA is a PEM file with an authority to trust besides those of the system; CAData is its
	// content, instead.
	CA     string
	CAData []byte
	// Insecure speaks HTTP without TLS.
	Insecure bool
	// Transport carries every request; nil is the ordinary network. CA does not apply to it.
	Transport http.RoundTripper
}

// Client asks registries and pushes to them.
type Client struct {
	options []remote.Option
	names   []name.Option
}

// New returns a client.
func New(o Options) (*Client, error) {
	c := &Client{}
	if o.Insecure {
		c.names = append(c.names, name.Insecure)
	}
	transport, err := o.transport()
	if err != nil {
		return nil, err
	}
	c.options = append(c.options, remote.WithTransport(transport), remote.WithUserAgent("butleradm"), remote.WithJobs(4))
	switch {
	case o.Anonymous:
	case o.Username != "" || o.Password != "":
		c.options = append(c.options, remote.WithAuth(&authn.Basic{Username: o.Username, Password: o.Password}))
	default:
		c.options = append(c.options, remote.WithAuthFromKeychain(authn.DefaultKeychain))
	}
	return c, nil
}

func (o Options) transport() (http.RoundTripper, error) {
	if o.Transport != nil {
		return o.Transport, nil
	}
	base, ok := remote.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the transport of the registry library has changed")
	}
	if o.CA == "" && len(o.CAData) == 0 {
		return base, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	data := o.CAData
	if len(data) == 0 {
		if data, err = os.ReadFile(o.CA); err != nil {
			return nil, fmt.Errorf("read the authority of the registry: %w", err)
		}
	}
	if !pool.AppendCertsFromPEM(data) {
		return nil, errors.New("the authority of the registry has no certificate in PEM")
	}
	transport := base.Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return transport, nil
}
