// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"

	"google.golang.org/grpc/status"
)

// callError says what was tried on which node and what the node said; the
// gRPC status stays reachable through Unwrap.
type callError struct {
	op, address string
	err         error
}

func (e *callError) Error() string {
	return fmt.Sprintf("%s on %s: %s", e.op, e.address, status.Convert(e.err).Message())
}

func (e *callError) Unwrap() error { return e.err }

func failed(op, address string, err error) error {
	if err == nil {
		return nil
	}
	return &callError{op: op, address: address, err: err}
}
