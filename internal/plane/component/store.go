// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"strings"
)

// store is the socket that etcd listens on. The API server is started at the same time as etcd,
// and loads while etcd starts, so it learns of it later.
type store struct {
	known chan struct{}
	url   string // once it is known
}

func newStore() *store { return &store{known: make(chan struct{})} }

// found records the path of the socket; it may be called once.
func (s *store) found(line string) {
	s.url = "unix://" + strings.TrimSpace(line)
	close(s.known)
}

// await returns the URL of the store when it is known.
func (s *store) await(ctx context.Context) (string, error) {
	select {
	case <-s.known:
		return s.url, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
