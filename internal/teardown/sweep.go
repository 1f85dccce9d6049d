// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

const (
	// maxConcurrent is how many calls to the platform a sweep has at the same time.
	maxConcurrent = 16
	// minPause and maxPause bound the pause between two calls.
	minPause, maxPause = 100 * time.Millisecond, 2 * time.Second
	// finalTimeout bounds the last list of the platform, after the timeout of a command.
	finalTimeout = 3 * time.Second
)

// sweepPlatform deletes what the platform of a site holds of an owner, and returns what
// was left in the last list. Each list is passed to record first. An expired login is
// renewed. Objects with the owner's cluster id and the name of another cluster are kept.
// Nothing was created since quiet; zero means that this is not known.
func sweepPlatform(ctx context.Context, s inventory.Site, o provider.Owner, quiet time.Time, progress *ui.Reporter, record func(inventory.Stock) error) (left inventory.Inventory, err error) {
	stuck := func(err error) { progress.Report(ui.Event{Type: ui.EventWaiting, Message: err.Error()}) }
	cleanup := &sweep{
		owner: o, quiet: quiet, stuck: stuck,
		record: func(now inventory.Stock) error {
			left = now.Held
			return record(now)
		},
		gone: func(h provider.Holding) {
			progress.Report(ui.Event{Type: ui.EventMachine, Message: fmt.Sprintf("%s is gone: %s", h.Name, inventory.Contents(h.Parts))})
		},
	}
	for before := -1; ; before = len(left) {
		err := withPlatform(ctx, s, stuck, func(p provider.Platform) error {
			cleanup.platform = p
			return cleanup.run(ctx)
		})
		if provider.KindOf(err) != provider.Unauthorized || len(left) == before {
			return left, err
		}
	}
}

// withPlatform calls use with a connection. Transient errors are retried until ctx ends.
func withPlatform(ctx context.Context, s inventory.Site, stuck func(error), use func(provider.Platform) error) error {
	platform, end, err := s.Connect(ctx)
	for wait := minPause; err != nil && isTransient(err); wait = nextPause(wait) {
		if ctx.Err() == nil {
			stuck(err)
		}
		if err := pause(ctx, nil, wait); err != nil {
			return err
		}
		platform, end, err = s.Connect(ctx)
	}
	if err != nil {
		return err
	}
	defer end()
	return use(platform)
}

// sweep deletes what a platform holds of an owner through its driver, without requests
// and controllers. It never lists another owner's objects.
type sweep struct {
	platform provider.Platform
	owner    provider.Owner
	// quiet is since when nothing was created; zero means that this is not known.
	quiet time.Time
	// record is called with each list of the platform. Its error ends the sweep.
	record func(inventory.Stock) error
	// gone is called with each holding that is deleted.
	gone func(provider.Holding)
	// stuck is called with each new obstacle.
	stuck func(error)

	slots    chan struct{}
	mu       sync.Mutex
	signals  map[string]chan struct{}
	reported map[string]bool
}

// run returns when the platform holds nothing any more, or when the deletion of
// everything left fails permanently. Transient errors are retried until ctx ends.
func (s *sweep) run(ctx context.Context) error {
	err := s.removeUntilEmpty(ctx)
	if err != nil {
		s.account(ctx)
	}
	return err
}

// account lists what is left a last time, also after the timeout.
func (s *sweep) account(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalTimeout)
	defer cancel()
	if left, err := s.recordHeld(ctx); err == nil {
		_ = s.record(left) // there is an error already
	}
}

func (s *sweep) removeUntilEmpty(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.slots, s.signals, s.reported = make(chan struct{}, maxConcurrent), map[string]chan struct{}{}, map[string]bool{}
	s.forwardChanges(ctx)
	for quiet := s.quiet; ; {
		left, err := s.list(ctx)
		if err != nil {
			return err
		}
		if err := s.record(left); err != nil {
			return err
		}
		if len(left.Held) > 0 {
			quiet = s.quiet
			if err := s.removeAll(ctx, left.Held); err != nil {
				return err
			}
			continue
		}
		if quiet.IsZero() {
			quiet = time.Now()
		}
		// An empty list counts only after the settle window of the platform.
		rest := s.platform.Settle - time.Since(quiet)
		if rest <= 0 {
			return nil
		}
		s.stuckOnce("settle", fmt.Errorf("the platform lists nothing any more; objects that were created last may appear late: checking for another %s", rest.Round(time.Second)))
		if err := pause(ctx, nil, min(rest, maxPause)); err != nil {
			return err
		}
	}
}

// list retries until the platform answers or refuses.
func (s *sweep) list(ctx context.Context) (inventory.Stock, error) {
	for wait := minPause; ; wait = nextPause(wait) {
		left, err := s.recordHeld(ctx)
		if err == nil || !isTransient(err) {
			return left, err
		}
		s.reportOnce(err)
		if pause(ctx, nil, wait) != nil {
			return inventory.Stock{}, errors.Join(context.Cause(ctx), err)
		}
	}
}

// recordHeld lists the platform once, with the timeout of one call.
func (s *sweep) recordHeld(ctx context.Context) (inventory.Stock, error) {
	ctx, cancel := context.WithTimeout(ctx, operation.Patience)
	defer cancel()
	left, err := inventory.Take(ctx, s.platform, provider.Owner{ClusterID: s.owner.ClusterID})
	ours, _ := left.Held.OfCluster(s.owner.Cluster)
	return inventory.Stock{Held: ours, Copies: left.Copies.OfCluster(s.owner.Cluster)}, err
}

// removeAll deletes holdings in parallel. A refused one does not block the others.
func (s *sweep) removeAll(ctx context.Context, all inventory.Inventory) error {
	refused := make([]error, len(all))
	var group sync.WaitGroup
	for i, h := range all {
		group.Go(func() { refused[i] = s.remove(ctx, h) })
	}
	group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(refused...)
}

// remove deletes one holding and returns when it is gone.
func (s *sweep) remove(ctx context.Context, h provider.Holding) error {
	changed := s.signal(h.Owner.ID)
	for wait := minPause; ; wait = nextPause(wait) {
		state, message, err := s.try(ctx, h)
		switch {
		case err == nil && state == provider.StateAbsent:
			s.gone(h)
			return nil
		case err != nil && !isTransient(err):
			return err
		case err == nil && wait == maxPause:
			err = fmt.Errorf("waiting for %s to be gone: it is %s", h.Name, strings.TrimSuffix(string(state)+", "+message, ", "))
		}
		if err != nil && ctx.Err() == nil {
			s.reportOnce(err)
		}
		if err := pause(ctx, changed, wait); err != nil {
			return err
		}
	}
}

// try deletes a holding, and returns what is left of it.
func (s *sweep) try(ctx context.Context, h provider.Holding) (provider.State, string, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return "", "", ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, operation.Patience)
	defer cancel()
	return s.platform.Remove(ctx, h)
}

// forwardChanges wakes the waiter of each machine that the platform reports as changed.
func (s *sweep) forwardChanges(ctx context.Context) {
	if s.platform.Changes == nil {
		return
	}
	changes := s.platform.Changes(ctx)
	go func() {
		for ref := range changes {
			select {
			case s.signal(ref.Owner.ID) <- struct{}{}:
			default: // a signal is pending already
			}
		}
	}()
}

func (s *sweep) signal(owner string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.signals[owner] == nil {
		s.signals[owner] = make(chan struct{}, 1)
	}
	return s.signals[owner]
}

// reportOnce reports each obstacle once.
func (s *sweep) reportOnce(err error) { s.stuckOnce(err.Error(), err) }

// stuckOnce reports the first obstacle with this key.
func (s *sweep) stuckOnce(key string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reported[key] {
		s.reported[key] = true
		s.stuck(err)
	}
}

// isTransient reports whether an error is worth a retry.
func isTransient(err error) bool {
	k := provider.KindOf(err)
	return (k == provider.Unavailable || k == provider.Exhausted) && !selfhosted.IsPermanent(err)
}

func nextPause(d time.Duration) time.Duration { return min(d*3/2, maxPause) }

// pause waits until something has changed, but not for longer than d.
func pause(ctx context.Context, changed <-chan struct{}, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-changed:
	case <-timer.C:
	}
	return nil
}
