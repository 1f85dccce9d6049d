// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"errors"
	"fmt"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// informers are several as one.
type informers []cache.Informer

// registrations are the handles of one handler with each of several informers.
type registrations []toolscache.ResourceEventHandlerRegistration

// AddEventHandler adds the handler to each.
func (all informers) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return all.AddEventHandlerWithOptions(h, toolscache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod adds the handler to each.
func (all informers) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler, every time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return all.AddEventHandlerWithOptions(h, toolscache.HandlerOptions{ResyncPeriod: &every})
}

// AddEventHandlerWithOptions adds the handler to each.
func (all informers) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	out := registrations{}
	for _, one := range all {
		r, err := one.AddEventHandlerWithOptions(h, o)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// RemoveEventHandler removes the handler from each.
func (all informers) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	handles, ok := handle.(registrations)
	if !ok || len(handles) != len(all) {
		return fmt.Errorf("%T is not a registration with these informers", handle)
	}
	var errs []error
	for i, one := range all {
		errs = append(errs, one.RemoveEventHandler(handles[i]))
	}
	return errors.Join(errs...)
}

// AddIndexers adds them to each.
func (all informers) AddIndexers(indexers toolscache.Indexers) error {
	var errs []error
	for _, one := range all {
		errs = append(errs, one.AddIndexers(indexers))
	}
	return errors.Join(errs...)
}

// HasSynced reports whether each has.
func (all informers) HasSynced() bool {
	for _, one := range all {
		if !one.HasSynced() {
			return false
		}
	}
	return true
}

// HasSyncedChecker completes once each has synced.
func (all informers) HasSyncedChecker() toolscache.DoneChecker {
	var parts checkers
	for _, one := range all {
		parts = append(parts, one.HasSyncedChecker())
	}
	return parts
}

// IsStopped reports whether each is stopped.
func (all informers) IsStopped() bool {
	for _, one := range all {
		if !one.IsStopped() {
			return false
		}
	}
	return true
}

// HasSynced reports whether each handler has got what was there at first.
func (r registrations) HasSynced() bool {
	for _, one := range r {
		if !one.HasSynced() {
			return false
		}
	}
	return true
}

// HasSyncedChecker completes once each has synced.
func (r registrations) HasSyncedChecker() toolscache.DoneChecker {
	var parts checkers
	for _, one := range r {
		parts = append(parts, one.HasSyncedChecker())
	}
	return parts
}

// checkers complete once each has.
type checkers []toolscache.DoneChecker

// Name returns the name of the check.
func (checkers) Name() string { return "Secrets of credentials" }

// Done is closed once each is done.
func (c checkers) Done() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		for _, one := range c {
			<-one.Done()
		}
		close(done)
	}()
	return done
}
