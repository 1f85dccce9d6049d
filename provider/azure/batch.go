// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"sync"
	"time"
)

const (
	// mostKeys is how many values share one request.
	mostKeys = 100
	// batchTimeout bounds a request that several callers wait for.
	batchTimeout = 25 * time.Second
)

// batch answers many calls with one request: while a request is under way, the keys of
// further calls are gathered for the next one. An answer is only given to calls that came
// before its request was sent, so that nothing is remembered.
type batch[V any] struct {
	ask func(ctx context.Context, keys []string) (V, error)

	mu     sync.Mutex
	busy   bool
	queued []*round[V]
}

// round is one request and its answer, which is there when done is closed.
type round[V any] struct {
	keys  []string
	done  chan struct{}
	value V
	err   error
}

func newBatch[V any](ask func(context.Context, []string) (V, error)) *batch[V] {
	return &batch[V]{ask: ask}
}

// do returns the answer to a request with the key, and ends with the context.
func (b *batch[V]) do(ctx context.Context, key string) (none V, err error) {
	if err := ctx.Err(); err != nil {
		return none, err
	}
	r := b.join(ctx, key)
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (b *batch[V]) join(ctx context.Context, key string) *round[V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.queued); n == 0 || len(b.queued[n-1].keys) == mostKeys {
		b.queued = append(b.queued, &round[V]{done: make(chan struct{})})
	}
	r := b.queued[len(b.queued)-1]
	r.keys = append(r.keys, key)
	if !b.busy {
		b.busy = true
		go b.work(context.WithoutCancel(ctx))
	}
	return r
}

// work sends requests until no call waits for one.
func (b *batch[V]) work(ctx context.Context) {
	for r := b.next(); r != nil; r = b.next() {
		ctx, cancel := context.WithTimeout(ctx, batchTimeout)
		r.value, r.err = b.ask(ctx, r.keys)
		cancel()
		close(r.done)
	}
}

// next takes the next round out of the queue; nil ends the work.
func (b *batch[V]) next() *round[V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queued) == 0 {
		b.busy = false
		return nil
	}
	r := b.queued[0]
	b.queued = b.queued[1:]
	return r
}
