// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package errtext removes from errors what differs from try to try. A condition whose
// text changed with every try would be written with every try.
package errtext

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"regexp"
)

// varying are the near end of a connection, and how HTTP/2 counts the requests of one.
var varying = regexp.MustCompile(`[^\s"]+->|stream ID \d+; `)

// Stable returns err without the local port and the number of the request. Of an error of
// the network only what was tried, with whom, and the cause remain.
func Stable(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil {
		return fmt.Errorf("%s %s: %w", op.Op, op.Addr, op.Err)
	}
	if text := err.Error(); varying.MatchString(text) {
		return errors.New(varying.ReplaceAllString(text, ""))
	}
	return err
}

// Untrusted reports whether the certificate of a server was not accepted: no retry
// changes that.
func Untrusted(err error) bool {
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, certificate := errors.AsType[x509.CertificateInvalidError](err)
	return authority || host || certificate
}
