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
	// atOnce is how many questions a sweep has for the platform at the same time.
	atOnce = 16
	// soonest and latest are how long to wait before the platform is asked again.
	soonest, latest = 100 * time.Millisecond, 2 * time.Second
	// lastWord is how long the platform has to say what is left, when the time of a
	// command is over.
	lastWord = 3 * time.Second
)

// sweepPlatform deletes what the platform of a site holds of an owner, and returns what it
// saw last of that. Each listing is shown to see first. A login that ends on the
// way is renewed. What stands under the owner's cluster id with the name of another
// cluster is left alone.
func sweepPlatform(ctx context.Context, s inventory.Site, o provider.Owner, progress *ui.Reporter, see func(inventory.Stock) error) (left inventory.Inventory, err error) {
	stuck := func(err error) { progress.Report(ui.Event{Type: ui.EventWaiting, Message: err.Error()}) }
	broom := &sweep{
		owner: o, stuck: stuck,
		see: func(now inventory.Stock) error {
			left = now.Held
			return see(now)
		},
		gone: func(h inventory.Holding) {
			progress.Report(ui.Event{Type: ui.EventMachine, Message: fmt.Sprintf("%s is gone: %s", h.Name, inventory.Contents(h.Parts))})
		},
	}
	for before := -1; ; before = len(left) {
		err := with(ctx, s, stuck, func(p provider.Platform) error {
			broom.platform = p
			return broom.run(ctx)
		})
		if provider.KindOf(err) != provider.Unauthorized || len(left) == before {
			return left, err
		}
	}
}

// with hands a connection to use. A platform that cannot be reached now is tried
// again until ctx ends.
func with(ctx context.Context, s inventory.Site, stuck func(error), use func(provider.Platform) error) error {
	platform, end, err := s.Connect(ctx)
	for wait := soonest; err != nil && isTransient(err); wait = longer(wait) {
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

// sweep deletes what a platform holds of an owner through its driver alone, with
// no request and no controller. It never looks at anything of another owner.
type sweep struct {
	platform provider.Platform
	owner    provider.Owner
	// see is called with everything that the platform holds, whenever it was asked. Its
	// error ends the sweep.
	see func(inventory.Stock) error
	// gone is called with each holding of which nothing is left.
	gone func(inventory.Holding)
	// stuck is called with what blocks the sweep, as often as that changes.
	stuck func(error)

	slots chan struct{}
	mu    sync.Mutex
	ears  map[string]chan struct{}
	told  map[string]bool
}

// run returns when the platform holds nothing any more, or when all that it still
// holds cannot be deleted until somebody has mended something. What passes by
// itself is tried again until ctx ends.
func (s *sweep) run(ctx context.Context) error {
	err := s.removeUntilEmpty(ctx)
	if err != nil {
		s.account(ctx)
	}
	return err
}

// account asks a last time what is left, also if the time is over.
func (s *sweep) account(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
	defer cancel()
	if left, err := s.look(ctx); err == nil {
		_ = s.see(left) // there is an error already
	}
}

func (s *sweep) removeUntilEmpty(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.slots, s.ears, s.told = make(chan struct{}, atOnce), map[string]chan struct{}{}, map[string]bool{}
	s.listen(ctx)
	empty := time.Time{}
	for {
		left, err := s.list(ctx)
		if err != nil {
			return err
		}
		if err := s.see(left); err != nil {
			return err
		}
		if len(left.Held) > 0 {
			empty = time.Time{}
			if err := s.removeAll(ctx, left.Held); err != nil {
				return err
			}
			continue
		}
		if empty.IsZero() {
			empty = time.Now()
		}
		// Nothing to be seen means nothing only once the platform has had its time.
		if time.Since(empty) >= s.platform.Settle {
			return nil
		}
		if err := pause(ctx, nil, min(s.platform.Settle, latest)); err != nil {
			return err
		}
	}
}

// list asks until the platform answers or refuses.
func (s *sweep) list(ctx context.Context) (inventory.Stock, error) {
	for wait := soonest; ; wait = longer(wait) {
		left, err := s.look(ctx)
		if err == nil || !isTransient(err) {
			return left, err
		}
		s.complain(err)
		if pause(ctx, nil, wait) != nil {
			return inventory.Stock{}, errors.Join(context.Cause(ctx), err)
		}
	}
}

// look asks the platform once, for as long as it has for one answer.
func (s *sweep) look(ctx context.Context) (inventory.Stock, error) {
	ctx, cancel := context.WithTimeout(ctx, operation.Patience)
	defer cancel()
	left, err := inventory.Take(ctx, s.platform, provider.Owner{ClusterID: s.owner.ClusterID})
	ours, _ := left.Held.OfCluster(s.owner.Cluster)
	return inventory.Stock{Held: ours, Copies: left.Copies.OfCluster(s.owner.Cluster)}, err
}

// removeAll deletes holdings side by side. What is refused does not keep the
// others from going.
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
func (s *sweep) remove(ctx context.Context, h inventory.Holding) error {
	changed := s.ear(h.Owner.ID)
	for wait := soonest; ; wait = longer(wait) {
		state, message, err := s.try(ctx, h)
		switch {
		case err == nil && state == provider.StateAbsent:
			s.gone(h)
			return nil
		case err != nil && !isTransient(err):
			return err
		case err == nil && wait == latest:
			err = fmt.Errorf("waiting for %s to be gone: it is %s", h.Name, strings.TrimSuffix(string(state)+", "+message, ", "))
		}
		if err != nil && ctx.Err() == nil {
			s.complain(err)
		}
		if err := pause(ctx, changed, wait); err != nil {
			return err
		}
	}
}

// try asks the platform to delete a holding, and then what there still is of it.
func (s *sweep) try(ctx context.Context, h inventory.Holding) (provider.State, string, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return "", "", ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, operation.Patience)
	defer cancel()
	if h.Balancer {
		ref := provider.LoadBalancerRef{Name: h.Name, Owner: h.Owner}
		if err := s.platform.LoadBalancers.Delete(ctx, ref); err != nil {
			return "", "", err
		}
		seen, err := s.platform.LoadBalancers.Observe(ctx, ref)
		return seen.State, seen.Message, err
	}
	ref := provider.MachineRef{Name: h.Name, Owner: h.Owner}
	left, err := s.platform.Machines.Delete(ctx, ref)
	return left.State, left.Message, err
}

// listen wakes the waiter for a machine that the platform says has changed.
func (s *sweep) listen(ctx context.Context) {
	if s.platform.Changes == nil {
		return
	}
	changes := s.platform.Changes(ctx)
	go func() {
		for ref := range changes {
			select {
			case s.ear(ref.Owner.ID) <- struct{}{}:
			default: // somebody was told already, and has not looked yet
			}
		}
	}()
}

func (s *sweep) ear(owner string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ears[owner] == nil {
		s.ears[owner] = make(chan struct{}, 1)
	}
	return s.ears[owner]
}

// complain tells each obstacle once.
func (s *sweep) complain(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := err.Error(); !s.told[text] {
		s.told[text] = true
		s.stuck(err)
	}
}

// isTransient reports whether a failure goes away by itself.
func isTransient(err error) bool {
	k := provider.KindOf(err)
	return (k == provider.Unavailable || k == provider.Exhausted) && !selfhosted.IsPermanent(err)
}

func longer(d time.Duration) time.Duration { return min(d*3/2, latest) }

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
