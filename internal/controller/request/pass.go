// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Pass is one walk over one request: it gathers the facts, decides, acts, decides
// again about the answer, and reports.
type Pass[O Object, P ~string, S any] struct {
	Request O
	Subject Subject
	Claim   *Claim
	// Platform is the connection, nil as long as there is none.
	Platform *provider.Platform
	Facts    Facts[P, S]

	r       *Reconciler[O, P, S]
	note    *Note
	created bool
}

func (p *Pass[O, P, S]) run(ctx context.Context, config *v1alpha1.ProviderConfig) (reconcile.Result, error) {
	p.Facts.Deleting = !p.Request.GetDeletionTimestamp().IsZero()
	if err := p.gather(ctx, config); err != nil {
		return Outdated(err)
	}
	d := p.decide()
	if d.Act == Create || d.Act == Delete {
		if err := p.act(ctx, d.Act); err != nil {
			return Outdated(err)
		}
		d = p.decide()
	}
	if err := p.report(ctx, d); err != nil {
		return Outdated(err)
	}
	if d.Act == Release {
		return Outdated(p.release(ctx, d))
	}
	return reconcile.Result{RequeueAfter: p.note.Next(p.outlook(d), p.r.now())}, nil
}

// Type is the provider's.
func (p *Pass[O, P, S]) Type() v1alpha1.ProviderType { return p.r.Type }

func (p *Pass[O, P, S]) decide() Decision[P] { return p.r.Kind.Decide(p.Request, p.Facts) }

// gather collects the facts. A request that has no right to its owner id asks its
// platform for nothing.
func (p *Pass[O, P, S]) gather(ctx context.Context, config *v1alpha1.ProviderConfig) (err error) {
	p.Facts.Phase = *p.r.Kind.Status(p.Request).Phase
	if p.Facts.Taken, err = p.Claim.Taken(ctx); err != nil || p.Facts.Taken != "" {
		return err
	}
	if p.Facts.Deleting {
		if p.Facts.Held, err = p.r.Fence.HoldsDeletion(ctx, p.Request); err != nil {
			return err
		}
	}
	return p.ask(ctx, config)
}

// ask asks the platform. Connecting comes before the finalizer: a request that
// never reached its platform can be deleted without it.
func (p *Pass[O, P, S]) ask(ctx context.Context, config *v1alpha1.ProviderConfig) error {
	seen := p.r.Kind.Absent
	if p.neverServed() {
		p.remember(seen, nil)
		return nil
	}
	minted, record := false, ""
	err := p.connect(ctx, config)
	if err == nil {
		record, err = p.planFirst(ctx)
	}
	if err == nil {
		if minted, p.Facts.Fresh, err = p.admit(ctx, config, record); err != nil && !OfPlatform(err) {
			return err
		}
	}
	if err == nil && !minted {
		if seen, err = p.see(ctx, config); err != nil && !OfPlatform(err) {
			return err
		}
	}
	p.remember(seen, err)
	return nil
}

func (p *Pass[O, P, S]) neverServed() bool {
	return p.r.Kind.Extra.Adopts && p.Facts.Deleting && p.Claim.NeverServed(p.Subject.ID)
}

// take claims the request. What another program created for it is tagged first, if
// the request names it.
func (p *Pass[O, P, S]) take(ctx context.Context, record string) (minted, fresh bool, err error) {
	if !p.r.Kind.Extra.Adopts {
		return p.Claim.Take(ctx, record)
	}
	if err := p.Claim.BeginAdoption(ctx, p.Subject.Name, p.Subject.ID); err != nil {
		return false, false, err
	}
	if minted, fresh, err = p.Claim.Take(ctx, record); err != nil || minted {
		return minted, fresh, err
	}
	return minted, fresh, p.Claim.Adopt(ctx, p.Platform, provider.MachineRef{Name: p.Subject.Name, Owner: p.Claim.Owner()}, p.Subject.ID)
}

// remember completes the facts with what the platform has just answered.
func (p *Pass[O, P, S]) remember(seen S, err error) {
	now, f := p.r.now(), &p.Facts
	id, _ := p.r.Kind.Sighted(seen)
	p.note.Saw(id != "", err, now)
	attempt := Attempted(p.Request)
	f.Phase = *p.r.Kind.Status(p.Request).Phase
	f.Known, f.Served = p.Subject.ID != "", p.Subject.Address != ""
	f.Attempted = !attempt.IsZero()
	f.Applied = p.note.Applied == p.Request.GetGeneration()
	f.Seen, f.Err = seen, err
	f.Failing = p.note.FailingFor(now)
	if p.Platform != nil {
		f.Settled = p.settled(attempt, seen, now)
	}
}

// settled reports whether Absent is right: it has been seen long enough, nothing can appear
// any more, or the platform has refused the recorded attempt and no other is on its way.
func (p *Pass[O, P, S]) settled(attempt time.Time, seen S, now time.Time) bool {
	certain := p.r.Kind.Extra.Certain
	landed := Landed(p.Request, now)
	switch {
	case p.Facts.Deleting && !landed:
		return false
	case certain != nil && certain(seen), p.note.refused != nil && Record(p.Request) != "" && landed:
		return true
	}
	return p.note.Settled(attempt, p.window(), now)
}

// window is how long Absent may be wrong.
func (p *Pass[O, P, S]) window() Window {
	creates := p.Platform.Unrepeatable && !p.Facts.Deleting
	if creates || p.Facts.Deleting && !p.Subject.Created {
		return p.note.Window(p.Platform.Settle, p.Facts.Known)
	}
	return Settling(p.Platform.Settle)
}

func (p *Pass[O, P, S]) outlook(d Decision[P]) Outlook {
	o := Outlook{Pace: d.Pace, Deleting: p.Facts.Deleting, Err: p.Facts.Err}
	if pushed := p.r.Kind.Extra.Pushed; pushed != nil {
		o.Push = pushed(p, d)
	}
	if d.Keep {
		o.Within = max(Patience-p.Facts.Failing, 0)
	}
	return o
}
