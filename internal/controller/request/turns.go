// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/butlerdotdev/butler/provider"
)

const (
	// silentAfter is from when on a call that fails makes its platform a silent one.
	silentAfter = 5 * time.Second
	// called is how long a place is kept for a request whose turn it is.
	calledKept = time.Second
	// parkedMost is when a request that waits for its turn asks by itself.
	parkedMost = 15 * time.Second
	// everyFourth turn is for a request that has nothing on the platform so far, even
	// if others wait.
	everyFourth = 4
)

// Turns shares the workers of a controller between platforms, so that one which is
// slow, silent or busy leaves workers to the others. A request that has to wait
// takes no worker: it is delivered by Source when it is its turn. What exists on the
// platform comes before what is still to be created. A nil Turns never lets wait.
type Turns struct {
	most, silent int
	called       chan event.TypedGenericEvent[types.NamespacedName]

	mu    sync.Mutex
	lanes map[types.NamespacedName]*lane
}

// lane is one platform.
type lane struct {
	running int
	silent  bool
	called  map[types.NamespacedName]time.Time
	parked  map[types.NamespacedName]bool // whether it exists on the platform
	present []types.NamespacedName
	absent  []types.NamespacedName
	turn    int
}

// NewTurns lets so many requests of one platform be worked on at once, and fewer
// while it does not answer.
func NewTurns(most, silent int) *Turns {
	return &Turns{
		most: most, silent: silent,
		called: make(chan event.TypedGenericEvent[types.NamespacedName], 1024),
		lanes:  map[types.NamespacedName]*lane{},
	}
}

// Source delivers the requests whose turn it is to a controller.
func (t *Turns) Source() source.Source {
	return source.Channel(t.called, handler.TypedFuncs[types.NamespacedName, reconcile.Request]{
		GenericFunc: func(_ context.Context, e event.TypedGenericEvent[types.NamespacedName], q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			q.Add(reconcile.Request{NamespacedName: e.Object})
		},
	})
}

// Parked is the result of a request that has to wait for its turn.
func Parked() reconcile.Result { return reconcile.Result{RequeueAfter: jitter(parkedMost)} }

// Begin reports whether a request of a platform may be worked on now; End has to
// follow. Otherwise the request waits for its turn.
func (t *Turns) Begin(platform, request types.NamespacedName, present bool) bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lane(platform)
	_, called := l.called[request]
	delete(l.called, request)
	if called || t.free(l) > 0 {
		delete(l.parked, request)
		l.running++
		return true
	}
	l.park(request, present)
	return false
}

// End ends the turn that Begin began. It says how long the platform took and how it
// answered.
func (t *Turns) End(platform types.NamespacedName, took time.Duration, err error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	l := t.lane(platform)
	l.running--
	switch {
	case err == nil:
		l.silent = false
	case took >= silentAfter && provider.KindOf(err) == provider.Unavailable:
		l.silent = true
	}
	next := t.call(l)
	if l.running == 0 && len(l.parked) == 0 && len(l.called) == 0 && !l.silent {
		delete(t.lanes, platform)
	}
	t.mu.Unlock()
	for _, request := range next {
		select {
		case t.called <- event.TypedGenericEvent[types.NamespacedName]{Object: request}:
		default: // it asks by itself
		}
	}
}

func (t *Turns) lane(platform types.NamespacedName) *lane {
	l, ok := t.lanes[platform]
	if !ok {
		l = &lane{called: map[types.NamespacedName]time.Time{}, parked: map[types.NamespacedName]bool{}}
		t.lanes[platform] = l
	}
	return l
}

// free is how many more requests of a platform may be worked on.
func (t *Turns) free(l *lane) int {
	for request, at := range l.called {
		if time.Since(at) > calledKept {
			delete(l.called, request)
		}
	}
	most := t.most
	if l.silent {
		most = t.silent
	}
	return most - l.running - len(l.called)
}

// call chooses the requests whose turn it is.
func (t *Turns) call(l *lane) (next []types.NamespacedName) {
	for n := t.free(l); n > 0; n-- {
		request, ok := l.pop()
		if !ok {
			break
		}
		l.called[request] = time.Now()
		next = append(next, request)
	}
	return next
}

func (l *lane) park(request types.NamespacedName, present bool) {
	if was, parked := l.parked[request]; parked && was == present {
		return
	}
	l.parked[request] = present
	if present {
		l.present = append(l.present, request)
		return
	}
	l.absent = append(l.absent, request)
}

// pop takes the next request out: what exists on the platform first, but every
// fourth time what does not.
func (l *lane) pop() (types.NamespacedName, bool) {
	l.turn++
	first, second := &l.present, &l.absent
	firstPresent := true
	if l.turn%everyFourth == 0 {
		first, second, firstPresent = second, first, false
	}
	if request, ok := l.take(first, firstPresent); ok {
		return request, true
	}
	return l.take(second, !firstPresent)
}

// take takes the first request of a queue that still waits there.
func (l *lane) take(queue *[]types.NamespacedName, present bool) (types.NamespacedName, bool) {
	for len(*queue) > 0 {
		request := (*queue)[0]
		*queue = (*queue)[1:]
		if was, parked := l.parked[request]; parked && was == present {
			delete(l.parked, request)
			return request, true
		}
	}
	return types.NamespacedName{}, false
}
