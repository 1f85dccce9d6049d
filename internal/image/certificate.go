// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// Certificates returns the authorities that Mozilla trusts, as a PEM file. They are those of
// a Go module, so that they do not depend on the machine. A root with a constraint is left
// out: PEM cannot express the constraint.
func Certificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // memory takes everything
		}
	}
	return out.Bytes()
}
