// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// reason returns why a registry did not do what it was asked, as a statement and without the
// addresses that libraries put around it, which may carry a token.
func reason(err error) error {
	var (
		answer    *transport.Error
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		plain     tls.RecordHeaderError
		operation *net.OpError
		request   *url.Error
	)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &dns):
		return fmt.Errorf("the name %s cannot be resolved", dns.Name)
	case errors.As(err, &authority):
		return errors.New("the certificate of the registry is signed by an unknown authority; name its certificate with --ca")
	case errors.As(err, &answer):
		return answered(answer)
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return errors.New("the registry does not serve TLS; --insecure uses plain HTTP")
	case errors.As(err, &operation):
		return operation.Err
	case errors.As(err, &request):
		return request.Err
	}
	return err
}

func answered(e *transport.Error) error {
	switch e.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("the registry answered %d %s; log in with --username and --password-stdin, or with docker login", e.StatusCode, http.StatusText(e.StatusCode))
	}
	said := []string{http.StatusText(e.StatusCode)}
	for _, d := range e.Errors {
		said = append(said, strings.TrimSuffix(string(d.Code)+": "+d.Message, ": "))
	}
	return fmt.Errorf("the registry answered %d %s", e.StatusCode, strings.Join(said, ", "))
}
