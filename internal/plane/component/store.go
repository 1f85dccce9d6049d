// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"net"
	"strings"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/server/egressselector"
)

// store is the socket that etcd listens on. The API server is started at the same time as etcd,
// and loads while etcd starts, so it learns of it later.
type store struct {
	known   chan struct{}
	address string // once it is known
}

func newStore() *store { return &store{known: make(chan struct{})} }

// found records the address; it may be called once.
func (s *store) found(line string) {
	s.address = strings.TrimSpace(line)
	close(s.known)
}

// await returns when the address is known.
func (s *store) await(ctx context.Context) error {
	select {
	case <-s.known:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dialer replaces the address that the API server was started with.
func (s *store) dialer(egressselector.NetworkContext) (utilnet.DialFunc, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		if err := s.await(ctx); err != nil {
			return nil, err
		}
		return (&net.Dialer{}).DialContext(ctx, "unix", s.address)
	}, nil
}
