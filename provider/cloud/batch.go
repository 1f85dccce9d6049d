// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"sync"
	"time"
)

// batchTimeout bounds a request that several callers wait for.
const batchTimeout = 25 * time.Second

// mostRest is the longest time between two requests that Resting makes.
const mostRest = 500 * time.Millisecond

// Batch answers many calls with one request: while a request is under way, the keys of
// further calls are gathered for the next one. An answer is only given to calls that came
// before its request was sent, so that nothing is remembered.
type Batch[V any] struct {
	most  int
	apart time.Duration
	rest  int
	ask   func(ctx context.Context, keys []string) (V, error)

	mu     sync.Mutex
	busy   bool
	due    time.Time // when the next request may begin
	queued []*round[V]
}

// round is one request and its answer, which is there when done is closed.
type round[V any] struct {
	keys  []string
	done  chan struct{}
	value V
	err   error
}

// NewBatch returns a batch whose requests have at most so many keys.
func NewBatch[V any](most int, ask func(context.Context, []string) (V, error)) *Batch[V] {
	return &Batch[V]{most: most, ask: ask}
}

// Apart sets the least time between the beginnings of two requests: calls that come soon
// after a request wait for the next one together. It is set before the first call.
func (b *Batch[V]) Apart(d time.Duration) *Batch[V] {
	b.apart = d
	return b
}

// Resting delays a request until at least n times as long after the last one as that
// took, at most mostRest: a listing that has grown is asked for less often. It is set before
// the first call.
func (b *Batch[V]) Resting(n int) *Batch[V] {
	b.rest = n
	return b
}

// Do returns the answer to a request with the key, and ends with the context.
func (b *Batch[V]) Do(ctx context.Context, key string) (none V, err error) {
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

func (b *Batch[V]) join(ctx context.Context, key string) *round[V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.queued); n == 0 || len(b.queued[n-1].keys) == b.most {
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
func (b *Batch[V]) work(ctx context.Context) {
	for r := b.next(); r != nil; r = b.next() {
		ctx, cancel := context.WithTimeout(ctx, batchTimeout)
		began := time.Now()
		r.value, r.err = b.ask(ctx, r.keys)
		cancel()
		b.pause(began)
		close(r.done)
	}
}

// pause sets when the next request may begin, after one that has just ended.
func (b *Batch[V]) pause(began time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.due = now.Add(min(time.Duration(b.rest)*now.Sub(began), mostRest))
	if apart := began.Add(b.apart); apart.After(b.due) {
		b.due = apart
	}
}

// next takes the next round out of the queue once it is time to; nil ends the work.
func (b *Batch[V]) next() *round[V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queued) == 0 {
		b.busy = false
		return nil
	}
	if wait := time.Until(b.due); wait > 0 {
		b.mu.Unlock()
		<-time.After(wait)
		b.mu.Lock()
	}
	r := b.queued[0]
	b.queued = b.queued[1:]
	return r
}
