// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
)

// mostPasses is how many passes a life may take.
const mostPasses = 300

// life is one request from its creation to its end.
type life struct {
	*Lab
	disturbance
	name         string
	clock        *clock
	points       *points
	backend      *backend
	reconcile    Reconciler
	history      []client.Object // versions of the request; nil: it is gone
	copied       client.Object   // a copy of the request, if there is one
	passes       int
	deleted      bool
	configHidden bool
}

func newLife(l *Lab, d disturbance, name string) *life {
	c, p := &clock{t: time.Now()}, &points{deadly: d.crashes}
	f := &life{Lab: l, disturbance: d, name: name, clock: c, points: p}
	f.backend = &backend{Behaviour: l.Behaviour, clock: c, points: p}
	f.backend.things = []*thing{{name: name, owner: provider.Owner{ID: foreign}, number: 200, made: c.now().Add(-time.Hour)}}
	return f
}

// start begins with a reconciler that remembers nothing.
func (f *life) start() {
	c := f.client()
	s := session.New(session.Options{
		Provider: provider.Provider{Type: v1alpha1.ProviderHarvester, Connect: f.backend.connect}, Cache: c, Live: c,
	})
	f.reconcile = f.subject.Reconciler(c, s, f.clock.now)
}

// run creates the request, lets it be reconciled until it is done, deletes it,
// lets it be reconciled until it is gone, and looks at what is left.
func (f *life) run() error {
	f.start()
	if err := f.create(); err != nil {
		return err
	}
	for f.passes < mostPasses && (f.current() != nil || f.copied != nil || f.behind()) {
		if err := f.disturb(); err != nil {
			return err
		}
		if err := f.pass(); err != nil {
			return err
		}
		if err := f.passCopy(); err != nil {
			return err
		}
		if o := f.current(); o != nil && !f.deleted && f.subject.Done(o) {
			if err := f.delete(); err != nil {
				return err
			}
		}
	}
	return f.end()
}

// end checks that nothing is left, not even what is still on its way.
func (f *life) end() error {
	if o := f.current(); o != nil {
		return fmt.Errorf("after %d passes the request is still there: %+v", f.passes, o)
	}
	f.clock.advance(f.Lag + f.Settle + f.late())
	f.backend.step()
	f.clock.advance(goneTime)
	f.backend.step()
	if n := f.backend.own(); n > 0 {
		return fmt.Errorf("%d things are left after the request is gone", n)
	}
	return nil
}

// pass lets the reconciler look once, and time go by until it wants to look again.
func (f *life) pass() (err error) {
	f.passes++
	defer func() {
		switch r := recover(); r {
		case nil:
		case crash{}:
			err = f.afterCrash()
		default:
			panic(r)
		}
	}()
	o, fresh := f.read()
	if o == nil {
		f.clock.advance(time.Second)
		return nil
	}
	result, err := f.reconcile(f.ctx, o)
	if err != nil {
		return fmt.Errorf("reconcile: %w", err)
	}
	return f.wait(result, fresh)
}

// wait lets time pass. A reconciler that has seen the present state and does not
// want to look again would never hear of anything that it missed.
func (f *life) wait(r reconcile.Result, fresh bool) error {
	if r.RequeueAfter == 0 && fresh && !f.configHidden && f.current() != nil {
		return errors.New("the reconciler does not want to look again")
	}
	f.clock.advance(max(r.RequeueAfter, stepTime, f.atLeast))
	f.backend.step()
	return nil
}

func (f *life) afterCrash() error {
	f.clock.advance(time.Second / 10)
	f.backend.step()
	f.start()
	if f.deleteAfterCrash && !f.deleted && f.current() != nil {
		return f.delete()
	}
	return nil
}

// current is the request as the API server has it.
func (f *life) current() client.Object { return f.history[len(f.history)-1] }

// read returns the request as a cache would show it, and whether that is the
// present version.
func (f *life) read() (client.Object, bool) {
	i := f.view(len(f.history) - 1)
	if f.history[i] == nil {
		return nil, true
	}
	return f.history[i].DeepCopyObject().(client.Object), i == len(f.history)-1
}

func (f *life) create() error {
	o := f.subject.New()
	o.SetNamespace(f.ns)
	o.SetName(f.name)
	f.points.note("created")
	f.backend.wanted = true
	if err := f.api.Create(f.ctx, o); err != nil {
		return err
	}
	f.keep(o)
	return nil
}

func (f *life) delete() error {
	f.points.note("deleted")
	f.deleted, f.backend.wanted = true, false
	o := f.current().DeepCopyObject().(client.Object)
	if err := f.api.Delete(f.ctx, o); err != nil {
		return err
	}
	err := f.api.Get(f.ctx, client.ObjectKeyFromObject(o), o)
	switch {
	case err == nil:
		f.keep(o)
	case apierrors.IsNotFound(err):
		f.history = append(f.history, nil)
	default:
		return err
	}
	return nil
}
