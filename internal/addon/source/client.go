// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// largest is how much is taken of one file.
	largest = 64 << 20
	// patience is how long one request may take, the download included.
	patience  = 2 * time.Minute
	redirects = 10
)

// client fetches with TLS, also after a redirect.
type client struct{ http *http.Client }

// newClient has the proxy of the environment where no client is given.
func newClient(c *http.Client) *client {
	if c == nil {
		c = &http.Client{}
		if t, ok := http.DefaultTransport.(*http.Transport); ok {
			t = t.Clone()
			t.ResponseHeaderTimeout = 30 * time.Second
			c.Transport = t
		}
	}
	secure := *c
	secure.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch {
		case r.URL.Scheme != "https":
			return errors.New("it redirects to an address without TLS")
		case len(via) >= redirects:
			return errors.New("it redirects without end")
		case c.CheckRedirect != nil:
			return c.CheckRedirect(r, via)
		}
		return nil
	}
	return &client{&secure}
}

// get returns what is at an address. Its error is steady.
func (c *client) get(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, errors.New("its address cannot be read")
	}
	if req.URL.Scheme != "https" {
		return nil, fmt.Errorf("an address that begins with %s:// has no TLS", req.URL.Scheme)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, steady(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, answered(resp.StatusCode)
	}
	return limited(resp.Body, largest)
}

func limited(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, steady(err)
	case int64(len(data)) > limit:
		return nil, tooLarge(limit)
	}
	return data, nil
}

func tooLarge(limit int64) error { return fmt.Errorf("it is larger than %d MiB", limit>>20) }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
