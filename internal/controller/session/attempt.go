// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// reasonConnecting is that of a platform that has not answered so far.
const reasonConnecting = "PlatformConnecting"

// attempt is one Connect. All who need the connection share it.
type attempt struct {
	key   string
	began time.Time
	done  chan struct{}
	// before is what the last Connect failed with; it answers until this one does.
	before error
	wait   time.Duration // how long to wait for it, from its beginning

	// platform and err are set when done is closed.
	platform *provider.Platform
	err      error
}

// underWay is the Connect for that key, if one is under way.
func (c *session) underWay(key string) *attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.attempt != nil && c.attempt.key == key {
		return c.attempt
	}
	return nil
}

// attempt begins a Connect, or joins the one that is under way or has ended just now.
func (s *Sessions) attempt(c *session, config *v1alpha1.ProviderConfig, credentials provider.Credentials, key string) *attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.usable(key) {
		a := &attempt{done: make(chan struct{}), platform: c.platform, err: c.err}
		close(a.done)
		return a
	}
	if c.attempt != nil && c.attempt.key == key {
		return c.attempt
	}
	a := &attempt{key: key, began: time.Now(), done: make(chan struct{}), wait: patience}
	if c.key == key && c.slow {
		a.before, a.wait = c.err, 0
	}
	c.attempt = a
	own := config.DeepCopy() // it may outlive the caller, who writes to its own
	go func() {
		platform, err := s.connect(s.base, own, credentials)
		c.settle(s, a, platform, err)
	}()
	return a
}

// settle takes over the result of a Connect, unless another one was begun since.
func (c *session) settle(s *Sessions, a *attempt, p *provider.Platform, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(a.done)
	a.platform, a.err = p, err
	if c.attempt != a {
		release(p)
		a.platform, a.err = nil, errors.New("the credentials have been replaced in the meantime")
		return
	}
	c.close()
	c.attempt, c.key, c.platform, c.err = nil, a.key, p, err
	c.slow = time.Since(a.began) >= patience
	if err != nil {
		c.failed = time.Now()
		return
	}
	ctx, cancel := context.WithCancel(s.base)
	c.cancel = cancel
	if p.Changes != nil {
		go s.forward(ctx, c.name, p.Changes(ctx), c.before)
	}
	c.before = true
}

// await waits for the end of a Connect, but not for long.
func (a *attempt) await(ctx context.Context, config *v1alpha1.ProviderConfig) (*provider.Platform, error) {
	select {
	case <-a.done:
		return a.platform, a.err
	default:
	}
	timer := time.NewTimer(time.Until(a.began.Add(a.wait)))
	defer timer.Stop()
	select {
	case <-a.done:
		return a.platform, a.err
	case <-ctx.Done():
	case <-timer.C:
	}
	if a.before != nil {
		return nil, a.before
	}
	return nil, &provider.Error{
		Kind: provider.Unavailable, Reason: reasonConnecting, Op: fmt.Sprintf("connect to the platform of ProviderConfig %q", config.Name),
		Err: errors.New("it has not answered so far"), Hint: "check that it is up and can be reached from here; it is retried",
	}
}
