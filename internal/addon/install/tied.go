// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"io"
	"net/http"
	"time"
)

// requestTimeout bounds each request that is no watch.
const requestTimeout = 30 * time.Second

// tied ends requests with a context besides their own: Helm does not hand one
// on. What was begun with it fails at once when that context ends, as if the
// process had ended.
type tied struct {
	ctx  context.Context
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t tied) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := bounded(r)
	untie := context.AfterFunc(t.ctx, cancel)
	end := func() {
		untie()
		cancel()
	}
	response, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		end()
		return nil, err
	}
	response.Body = &body{response.Body, end}
	return response, nil
}

func bounded(r *http.Request) (context.Context, context.CancelFunc) {
	if r.URL.Query().Get("watch") != "" {
		return context.WithCancel(r.Context())
	}
	return context.WithTimeout(r.Context(), requestTimeout)
}

// WrappedRoundTripper returns the transport beneath, for client-go.
func (t tied) WrappedRoundTripper() http.RoundTripper { return t.next }

type body struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
