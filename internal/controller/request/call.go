// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// connect finds the platform, and refuses one that cannot serve the kind.
func (p *Pass[O, P, S]) connect(ctx context.Context, config *v1alpha1.ProviderConfig) error {
	platform, err := p.Claim.Connect(ctx, p.r.Sessions, config, p.Request.ProviderConfig())
	if err != nil {
		return err
	}
	if accept := p.r.Kind.Extra.Accept; accept != nil {
		if err := accept(p, platform); err != nil {
			return err
		}
	}
	p.Platform = platform
	return nil
}

// see observes what the platform has. That it is absent is believed of the request's
// own platform alone.
func (p *Pass[O, P, S]) see(ctx context.Context, config *v1alpha1.ProviderConfig) (S, error) {
	seen, err := p.look(ctx, config)
	if err != nil {
		return seen, err
	}
	_, state := p.r.Kind.Sighted(seen)
	again, err := p.Claim.Confirm(ctx, state != provider.StateAbsent)
	if err != nil || !again {
		return seen, err
	}
	return p.observe(ctx)
}

// look observes, over a new connection if the present one is refused.
func (p *Pass[O, P, S]) look(ctx context.Context, config *v1alpha1.ProviderConfig) (S, error) {
	seen, err := p.observeOrDelete(ctx)
	if !p.r.Sessions.Refused(p.Request.ProviderConfig(), p.Platform, err) {
		return seen, err
	}
	if err := p.connect(ctx, config); err != nil {
		return p.r.Kind.Absent, err
	}
	return p.observeOrDelete(ctx)
}

// observeOrDelete observes. For a request that is being deleted it asks to delete
// instead where that is answered alike, but not another platform, which may have a
// restored copy with the same id.
func (p *Pass[O, P, S]) observeOrDelete(ctx context.Context) (S, error) {
	if !p.r.Kind.Extra.DeleteObserves || !p.Facts.Deleting || p.Facts.Held != "" {
		return p.observe(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	if err := p.Claim.Recheck(ctx); err != nil {
		return p.r.Kind.Absent, err
	}
	return p.r.Kind.Act(ctx, p, Delete)
}

func (p *Pass[O, P, S]) observe(ctx context.Context) (S, error) {
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	return p.r.Kind.Observe(ctx, p)
}

// act calls the platform for what was decided and takes its answer as the facts.
func (p *Pass[O, P, S]) act(ctx context.Context, a Action) error {
	_, state := p.r.Kind.Sighted(p.Facts.Seen)
	creates := a == Create && (state == provider.StateAbsent || state == provider.StatePartial)
	if creates {
		if planned, err := p.attempt(ctx); err != nil || !planned {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	if creates || a == Delete {
		if err := p.Claim.Recheck(ctx); err != nil {
			p.remember(p.Facts.Seen, err)
			return nil
		}
	}
	p.Facts.Asked = a
	if a == Delete {
		p.remember(p.r.Kind.Act(ctx, p, a))
		return nil
	}
	p.create(ctx)
	p.created = state == provider.StateAbsent && p.Facts.Err == nil
	return nil
}

// attempt records what is about to be created. It reports false if the platform could not
// say what that is, which is then the fact to decide about.
func (p *Pass[O, P, S]) attempt(ctx context.Context) (planned bool, err error) {
	record, err := p.plan(ctx)
	if err != nil && OfPlatform(err) {
		p.remember(p.Facts.Seen, err)
		return false, nil
	}
	switch {
	case err != nil:
	case !p.Facts.Fresh:
		err = p.Claim.Attempt(ctx, record)
	case record != Record(p.Request):
		err = p.Claim.Amend(ctx, record)
	}
	return err == nil, err
}

// planFirst returns the record of the first attempt, to be written with the claim. For a
// request that has an owner something may exist, which is looked at whatever the plan.
func (p *Pass[O, P, S]) planFirst(ctx context.Context) (record string, err error) {
	if p.Facts.Deleting || p.Claim.Held() {
		return "", nil
	}
	if p.Claim.owner() == "" {
		p.Claim.mint()
		return p.plan(ctx)
	}
	record, _ = p.plan(ctx) // it is planned again before anything is created
	return record, nil
}

// plan returns the record of the next attempt. That of the last one is used again unless
// the platform has refused it: its call may have taken effect.
func (p *Pass[O, P, S]) plan(ctx context.Context) (record string, err error) {
	plan, last := p.r.Kind.Extra.Plan, provider.Attempt{Record: Record(p.Request), Refused: p.note.refused}
	if plan == nil || last.Record != "" && last.Refused == nil {
		return last.Record, nil
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	return plan(ctx, p, last)
}

func (p *Pass[O, P, S]) create(ctx context.Context) {
	p.note.Asking()
	seen, err := p.r.Kind.Act(ctx, p, Create)
	p.note.Answered(err)
	// A platform that works step by step has to be asked again.
	if _, state := p.r.Kind.Sighted(seen); err == nil && state != provider.StatePartial {
		p.note.Applied = p.Request.GetGeneration()
	}
	p.remember(seen, err)
}
