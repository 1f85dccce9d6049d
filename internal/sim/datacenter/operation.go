// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package datacenter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Operation is a call that a platform has accepted and carries out later.
type Operation struct {
	ID   string
	Kind string // a key of OperationOptions.Kinds
	// RequestID is the caller's, so that a call whose answer was lost can be repeated;
	// empty: none.
	RequestID string
	Target    string // what it is about, for example the ID of a machine
	Input     json.RawMessage
	Began     time.Time
	Ended     time.Time       // zero: pending
	Failure   *OperationError // why it has failed; nil: it is pending or has succeeded
}

// Done reports whether the operation has ended, with success or not.
func (o Operation) Done() bool { return !o.Ended.IsZero() }

// OperationError is the failure of an operation in the platform's words.
type OperationError struct{ Code, Message string }

func (e *OperationError) Error() string { return e.Code + ": " + e.Message }

// OperationKind is how the operations of a kind are carried out.
type OperationKind struct {
	Takes time.Duration
	// Do carries an operation out after that time. It is called again, from the start,
	// for an operation that was pending when the simulator ended. An error that is no
	// *OperationError has the code INTERNAL_ERROR.
	Do func(ctx context.Context, o Operation) error
}

// OperationOptions are what operations are opened with. All are required.
type OperationOptions struct {
	Dir   string
	Kinds map[string]OperationKind
}

// Operations are the asynchronous calls of a platform. They are safe for concurrent use.
type Operations struct {
	kinds   map[string]OperationKind
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex
	kept *store[Operation]
}

// OpenOperations opens the operations in Dir and continues the pending ones.
func OpenOperations(o OperationOptions) (*Operations, error) {
	kept, err := openStore[Operation](o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open operations: %w", err)
	}
	all := &Operations{kinds: o.Kinds, kept: kept}
	all.ctx, all.stop = context.WithCancel(context.Background())
	for _, one := range kept.all() {
		if !one.Done() {
			all.carryOut(one)
		}
	}
	return all, nil
}

// Begin accepts an operation and returns it, pending. A request ID that was used before
// returns the operation that it began, as it is now, failed or not; with another kind,
// target or input it is refused with ErrInUse.
func (a *Operations) Begin(o Operation) (Operation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.kinds[o.Kind]; !known {
		return Operation{}, fmt.Errorf("begin operation: kind %q: %w", o.Kind, ErrNotFound)
	}
	if before, found := a.byRequest(o.RequestID); found {
		if before.Kind != o.Kind || before.Target != o.Target || string(before.Input) != string(o.Input) {
			return Operation{}, fmt.Errorf("begin operation: request ID %s belongs to %s of %s: %w", o.RequestID, before.Kind, before.Target, ErrInUse)
		}
		return before, nil
	}
	o.ID, o.Began, o.Ended, o.Failure = uuid.NewString(), time.Now(), time.Time{}, nil
	if err := a.kept.put(o.ID, o); err != nil {
		return Operation{}, fmt.Errorf("begin operation: %w", err)
	}
	a.carryOut(o)
	return o, nil
}

func (a *Operations) byRequest(id string) (Operation, bool) {
	for _, o := range a.kept.byID {
		if id != "" && o.RequestID == id {
			return o, true
		}
	}
	return Operation{}, false
}

// Get returns the operation of this ID.
func (a *Operations) Get(id string) (Operation, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.kept.get(id)
}

// Find returns the operation that a request ID has begun.
func (a *Operations) Find(requestID string) (Operation, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byRequest(requestID)
}

// List returns all operations in the order of their IDs.
func (a *Operations) List() []Operation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.kept.all()
}

// Close returns when nothing is carried out any more. What is pending stays so.
func (a *Operations) Close() {
	a.stop()
	a.running.Wait()
}

func (a *Operations) carryOut(o Operation) {
	a.running.Go(func() {
		kind := a.kinds[o.Kind]
		select {
		case <-a.ctx.Done():
			return
		case <-time.After(time.Until(o.Began.Add(kind.Takes))):
		}
		err := kind.Do(a.ctx, o)
		if a.ctx.Err() != nil {
			return // it is carried out again after the restart
		}
		a.end(o, err)
	})
}

func (a *Operations) end(o Operation, err error) {
	o.Ended = time.Now()
	if err != nil && !errors.As(err, &o.Failure) {
		o.Failure = &OperationError{Code: "INTERNAL_ERROR", Message: err.Error()}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.kept.put(o.ID, o); err != nil {
		o.Ended, o.Failure = time.Time{}, nil
		a.kept.byID[o.ID] = o // pending for good: the disk does not take its end
	}
}
