// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"errors"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/addressclaim"
)

// actor is a process with the controllers of allocations and claims. It does one call in each
// of its turns, and reads from a view that may be old.
type actor struct {
	lab         *lab
	pool        v1alpha1.NetworkPool
	allocations map[string]v1alpha1.IPAllocation
	claims      map[string]v1alpha1.AddressClaim

	job    string // what it works on, "" if on nothing
	next   string // call, if it works on something
	turns  chan bool
	waits  chan bool
	dies   int  // with the call after so many, if positive
	effect bool // of the call that it dies with
	err    error
}

func newActor(l *lab) *actor {
	a := &actor{lab: l}
	a.refresh()
	return a
}

// refresh brings the view up to date: all of it, or one kind.
func (a *actor) refresh() {
	if a.job != "" {
		return
	}
	what := a.lab.random.IntN(3)
	a.see(what != 0, what != 1)
}

// see brings kinds of the view up to date, and those that it never had.
func (a *actor) see(allocations, claims bool) {
	if a.allocations == nil || allocations {
		a.allocations = map[string]v1alpha1.IPAllocation{}
		for _, o := range a.lab.allocations() {
			a.allocations[o.Name] = o
		}
	}
	if a.claims == nil || claims {
		a.claims = map[string]v1alpha1.AddressClaim{}
		for _, o := range a.lab.claims() {
			a.claims[o.Name] = o
		}
	}
	if err := a.lab.api.Get(context.Background(), client.ObjectKey{Namespace: labNamespace, Name: "pool"}, &a.pool); err != nil {
		a.lab.violate("%s", err)
	}
}

// names are those of all objects in the view.
func (a *actor) names() (out []string) {
	for name := range a.allocations {
		out = append(out, name)
	}
	for name := range a.claims {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// turn begins a pass over an object, or does the next call of the present one.
func (a *actor) turn() {
	if a.waits == nil {
		names := a.names()
		if a.job == "" && len(names) > 0 {
			a.job, a.dies = names[a.lab.random.IntN(len(names))], 0
			if a.lab.random.IntN(4) == 0 {
				a.dies, a.effect = 1+a.lab.random.IntN(12), a.lab.random.IntN(2) == 0
			}
		}
		if a.job == "" {
			return
		}
		a.turns, a.waits = make(chan bool), make(chan bool)
		go a.pass()
	} else {
		a.turns <- true
	}
	if more := <-a.waits; !more {
		a.job, a.waits = "", nil
		if a.err != nil && !errors.Is(a.err, errCrash) {
			a.lab.violate("%s", a.err)
		}
	}
}

// until works on an object until a call is the next one.
func (a *actor) until(name, call string) {
	a.job = name
	for a.turn(); a.job != "" && a.next != call; a.turn() {
	}
	if a.job == "" {
		a.lab.violate("the pass over %s ends without: %s", name, call)
	}
}

// finish works on an object, or continues with it, to the end of the pass.
func (a *actor) finish(name string) {
	a.job = name
	for a.turn(); a.job != ""; a.turn() {
	}
}

// end kills the actor.
func (a *actor) end() {
	if a.waits != nil {
		a.dies, a.effect = 1, false
		a.turn()
	}
	if a.waits != nil {
		a.lab.violate("an actor does not end")
	}
}

// pass reconciles the object of the job.
func (a *actor) pass() {
	defer func() { a.waits <- false }()
	a.err = nil
	cached := a.client()
	registry := addressclaim.Registry{Client: cached, Live: a.live(cached), Clock: a.lab.clock}
	if a.lab.defect == cachedReads {
		registry.Live = cached
	}
	if c, ok := a.claims[a.job]; ok {
		r := &addressclaim.Reconciler{Registry: registry, Fence: addressclaim.Fence{Cache: cached, Live: cached}}
		_, a.err = r.Reconcile(context.Background(), c.DeepCopy())
		return
	}
	o := a.allocations[a.job]
	all := make([]v1alpha1.AddressClaim, 0, len(a.claims))
	for _, c := range a.claims {
		all = append(all, c)
	}
	r := &Reconciler{
		Client: cached, Registry: registry, Fence: addressclaim.Fence{Cache: cached, Live: cached},
		Recorder: &events.FakeRecorder{}, Name: "lab", free: newFree(all),
	}
	_, a.err = r.Reconcile(context.Background(), o.DeepCopy())
}

// call waits for a turn before each call to the API server, and may die with it.
func (a *actor) call(what string, do func() error) error {
	if errors.Is(a.err, errCrash) {
		return errCrash
	}
	a.next = what
	a.waits <- true
	<-a.turns
	if a.dies--; a.dies == 0 {
		a.err = errCrash
		a.lab.note("%p dies at: %s, effect %t", a, what, a.effect)
		if !a.effect {
			return errCrash
		}
	}
	err := do()
	a.lab.note("%p %s: %v", a, what, err)
	a.lab.check(what)
	if errors.Is(a.err, errCrash) {
		return errCrash
	}
	return err
}

// live reads from the API server.
func (a *actor) live(c client.WithWatch) client.Reader {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return a.call("read "+key.Name, func() error {
				err := a.lab.api.Get(ctx, key, o, opts...)
				a.lab.defect.read(a.lab, o)
				return err
			})
		},
	})
}

// client reads from the view and writes to the API server.
func (a *actor) client() client.WithWatch {
	return interceptor.NewClient(a.lab.api, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			return a.get(key, o)
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return nil },
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			o.SetUID(a.lab.uid())
			return a.call("create "+o.GetName(), func() error { return a.lab.defect.create(c.Create(ctx, o, opts...)) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return a.call("patch "+o.GetName(), func() error {
				if a.lab.defect.swallows(o, p) {
					return nil
				}
				if err := a.lab.same(o); err != nil {
					return err
				}
				return c.Patch(ctx, o, a.lab.defect.patch(o, p), opts...)
			})
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return a.call("delete "+o.GetName(), func() error {
				if err := a.lab.same(o); err != nil {
					return err
				}
				return c.Delete(ctx, o, a.lab.defect.delete(opts)...)
			})
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return a.call("patch status of "+o.GetName(), func() error {
				if err := a.lab.same(o); err != nil {
					return err
				}
				return c.SubResource(sub).Patch(ctx, o, a.lab.defect.patch(o, p), opts...)
			})
		},
	})
}

// uid is one that no other object has.
func (l *lab) uid() types.UID {
	l.objects++
	return types.UID(strconv.Itoa(l.objects))
}

// same returns a conflict if another object has the name by now. The versions of this API
// server start again with each object, those of a real one do not.
func (l *lab) same(o client.Object) error {
	now, _ := o.DeepCopyObject().(client.Object)
	err := l.api.Get(context.Background(), client.ObjectKeyFromObject(o), now)
	if err == nil && now.GetUID() != o.GetUID() && l.defect != unlocked && l.defect != blindDelete {
		return apierrors.NewConflict(v1alpha1.GroupVersion().WithResource("objects").GroupResource(), o.GetName(), nil)
	}
	return err
}

func (a *actor) get(key client.ObjectKey, o client.Object) error {
	missing := apierrors.NewNotFound(v1alpha1.GroupVersion().WithResource("objects").GroupResource(), key.Name)
	switch o := o.(type) {
	case *v1alpha1.NetworkPool:
		a.pool.DeepCopyInto(o)
	case *v1alpha1.IPAllocation:
		found, ok := a.allocations[key.Name]
		if !ok {
			return missing
		}
		found.DeepCopyInto(o)
	case *v1alpha1.AddressClaim:
		found, ok := a.claims[key.Name]
		if !ok {
			return missing
		}
		found.DeepCopyInto(o)
	case *metav1.PartialObjectMetadata:
		return missing
	}
	return nil
}
