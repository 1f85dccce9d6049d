// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"time"
)

// Recent keeps what was read for a short time. It is for what is the same for all
// machines of a connection and is no state of a machine: types, images, subnets. A
// failure is not kept. A nil memo keeps nothing.
type Recent[V any] struct {
	keep time.Duration
	lock chan struct{}
	read map[string]reading[V]
}

type reading[V any] struct {
	value V
	at    time.Time
}

// NewRecent returns a memo that keeps what it read for the given time.
func NewRecent[V any](keep time.Duration) *Recent[V] {
	return &Recent[V]{keep: keep, lock: make(chan struct{}, 1), read: map[string]reading[V]{}}
}

// Get returns what was read under the key, and reads it if that is too long ago. Calls
// at the same time read once.
func (r *Recent[V]) Get(ctx context.Context, key string, read func(context.Context) (V, error)) (none V, err error) {
	if r == nil {
		return read(ctx)
	}
	select {
	case r.lock <- struct{}{}:
		defer func() { <-r.lock }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if known, ok := r.read[key]; ok && time.Since(known.at) < r.keep {
		return known.value, nil
	}
	v, err := read(ctx)
	if err != nil {
		return none, err
	}
	r.read[key] = reading[V]{v, time.Now()}
	return v, nil
}
