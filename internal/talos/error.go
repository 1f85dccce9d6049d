// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"sigs.k8s.io/yaml"
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
	if said.Code() == codes.Unavailable { // the connection speaks, not the node
		return fmt.Sprintf("%s on %s: %s", e.op, e.address, said.Message())
	}
	return fmt.Sprintf("%s on %s: %s", e.op, e.address, withoutValues(said.Message()))
}

func (e *callError) Unwrap() error { return e.err }

func failed(op, address string, err error) error {
	if err == nil {
		return nil
	}
	return &callError{op: op, address: address, err: err}
}

// Off reports whether nothing listens at a node's address, or it has no route: the node
// has no power, or restarts. One that is merely slow is not meant, nor one that what is
// in between does not reach: only the node that passes a call on names the address.
func Off(err error) bool {
	if status.Code(err) != codes.Unavailable {
		return false
	}
	via, is := errors.AsType[*forwardError](err)
	return !is || strings.Contains(via.Error(), via.target)
}

// forwardError is about a call that is passed on to a node.
type forwardError struct {
	host, target string // what was dialled, and what it dials
	err          error
}

func (e *forwardError) Error() string {
	return fmt.Sprintf("through %s: %s", e.host, status.Convert(e.err).Message())
}

func (e *forwardError) Unwrap() error { return e.err }

// discreetError is an error of machinery about a configuration, without what
// is in it.
type discreetError struct{ err error }

func (e *discreetError) Error() string { return withoutValues(e.err.Error()) }

func (e *discreetError) Unwrap() error { return e.err }

// unknownKeys is how machinery begins the piece of a configuration that it does
// not understand, with all its values.
const unknownKeys = "unknown keys found during decoding:\n"

var quoted = regexp.MustCompile("`[^`]*`" + `|"(?:[^"\\]|\\.)*"`)

// withoutValues keeps what a decoder quotes out of its words: it may be a
// password in a patch, or a key of the cluster.
func withoutValues(said string) string {
	head, piece, found := strings.Cut(quoted.ReplaceAllString(said, "a value"), unknownKeys)
	if !found {
		return head
	}
	var values map[string]any
	if err := yaml.Unmarshal([]byte(piece), &values); err != nil {
		return head + "unknown keys"
	}
	return head + "unknown keys: " + strings.Join(paths("", values), ", ")
}

// paths are those of all values that have no keys of their own.
func paths(prefix string, values map[string]any) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if inner, is := values[key].(map[string]any); is {
			out = append(out, paths(prefix+key+".", inner)...)
		} else {
			out = append(out, prefix+key)
		}
	}
	return out
}
