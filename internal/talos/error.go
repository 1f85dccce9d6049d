// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// callError says what was tried on which node and what the node said; the
// gRPC status stays reachable through Unwrap.
type callError struct {
	op, address string
	err         error
}

// Error leaves out the many words that gRPC has for silence.
func (e *callError) Error() string {
	said := status.Convert(e.err)
	if said.Code() == codes.DeadlineExceeded || errors.Is(e.err, context.DeadlineExceeded) {
		return fmt.Sprintf("%s on %s: no answer in time", e.op, e.address)
	}
	return fmt.Sprintf("%s on %s: %s", e.op, e.address, said.Message())
}

func (e *callError) Unwrap() error { return e.err }

func failed(op, address string, err error) error {
	if err == nil {
		return nil
	}
	return &callError{op: op, address: address, err: err}
}
