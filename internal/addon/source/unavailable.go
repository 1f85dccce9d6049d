// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/butlerdotdev/butler/internal/addon"
)

// Unavailable says that a place could not be asked. It is worth asking again.
type Unavailable struct {
	// Addon is its key.
	Addon string
	// What was wanted, such as "chart cilium 1.17.0".
	What string
	// Origin is the place.
	Origin string
	// Err says why, the same way each time.
	Err error
}

func (e *Unavailable) Error() string {
	return fmt.Sprintf("%s cannot be fetched from %s: %v; check the connection, or name a directory or a registry that has it with --charts",
		e.What, e.Origin, e.Err)
}

// Unwrap returns the cause.
func (e *Unavailable) Unwrap() error { return e.Err }

// Absent says that a place was asked and does not have what was wanted.
type Absent struct {
	// Addon is its key.
	Addon string
	// What was wanted, such as "chart cilium 1.17.0".
	What string
	// Origin is the place.
	Origin string
	// Nearest are versions that it has instead, at most three.
	Nearest []string
}

func (e *Absent) Error() string {
	hint := "set another version, or name a directory or a registry that has it with --charts"
	if len(e.Nearest) > 0 {
		hint = "the nearest that it has: " + strings.Join(e.Nearest, ", ") + "; set one of them in spec.addons, or name a directory or a registry that has it with --charts"
	}
	return fmt.Sprintf("%s is not at %s: %s", e.What, e.Origin, hint)
}

// errAbsent is the answer of a place that has no such thing.
var errAbsent = errors.New("not there")

// failed turns the error of a place into one that Fetch returns.
func failed(a addon.Addon, what, origin string, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s was not fetched: %w", what, err)
	case errors.Is(err, errAbsent):
		return &Absent{Addon: a.Key, What: what, Origin: origin}
	}
	return &Unavailable{Addon: a.Key, What: what, Origin: origin, Err: err}
}

// steady returns why a request failed in a stable text: no times, no
// ports that change, no addresses that carry a token.
func steady(err error) error {
	var (
		status    *errcode.ErrorResponse
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		plain     tls.RecordHeaderError
		timeout   interface{ Timeout() bool }
	)
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, errdef.ErrNotFound):
		return errAbsent
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return errors.New("it requires credentials, and addons are fetched without a login")
	case errors.As(err, &status):
		return answered(status.StatusCode)
	case errors.As(err, &dns) && !dns.IsTimeout:
		return fmt.Errorf("the name %s cannot be resolved", dns.Name)
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("it does not answer in time")
	case errors.As(err, &authority):
		return errors.New("its certificate is signed by an unknown authority")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return errors.New("its certificate has expired, or is not valid yet")
	case errors.As(err, &plain) || errors.Is(err, http.ErrSchemeMismatch):
		return errors.New("it does not speak TLS")
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the connection ended early")
	}
	return bare(err)
}

// bare leaves out the addresses that Go puts around an error.
func bare(err error) error {
	var (
		request *url.Error
		network *net.OpError
	)
	switch {
	case errors.As(err, &network):
		return network.Err
	case errors.As(err, &request):
		return request.Err
	}
	return err
}

func answered(code int) error {
	if code == http.StatusNotFound {
		return errAbsent
	}
	return fmt.Errorf("it answered %d %s", code, http.StatusText(code))
}
