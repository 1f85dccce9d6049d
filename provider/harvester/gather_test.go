// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/butlerdotdev/butler/provider"
)

// tally counts requests by verb and kind, and refuses those to list some kind.
type tally struct {
	mu      sync.Mutex
	of      map[string]int
	refused client.ObjectList
}

func (c *tally) add(verb string, o any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := strings.TrimSuffix(reflect.TypeOf(o).Elem().Name(), "List")
	c.of[verb+" "+kind]++
}

func (c *tally) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.of
	c.of = map[string]int{}
	return was
}

func (c *tally) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, api client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			c.add("get", o)
			return api.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, api client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			c.add("list", l)
			if reflect.TypeOf(l) == reflect.TypeOf(c.refused) {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "virtualmachines"}, "", nil)
			}
			return api.List(ctx, l, opts...)
		},
	}
}

// crowd creates machines of these names on an API that counts, and returns their references.
func crowd(t *testing.T, names ...string) (*machines, *tally, []provider.MachineRef) {
	t.Helper()
	m, calls := onObjects(t, nil, "backingimage", storageClass("lh-image", provisionerLonghorn, nil)), &tally{of: map[string]int{}}
	m.api = interceptor.NewClient(m.api, calls.funcs())
	m.recent, m.gathered = newRecent(), newGathered(m)
	var refs []provider.MachineRef
	for _, name := range names {
		s := wanted(name)
		if _, err := m.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		refs = append(refs, s.MachineRef)
	}
	return m, calls, refs
}

// observeAll observes machines at the same time.
func observeAll(t *testing.T, m *machines, refs []provider.MachineRef) map[string]provider.State {
	t.Helper()
	states, mu, wait := map[string]provider.State{}, sync.Mutex{}, sync.WaitGroup{}
	for _, ref := range refs {
		wait.Go(func() {
			seen, err := m.Observe(t.Context(), ref)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			states[ref.Name] = seen.State
		})
	}
	wait.Wait()
	return states
}

func TestWhatMachinesReferToIsReadOnceForThoseCreatedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls, _ := crowd(t, "a", "b", "c")
		want := map[string]int{"get VirtualMachine": 3, "get Unstructured": 2, "get StorageClass": 1} // image and network
		if diff := cmp.Diff(want, calls.take()); diff != "" {
			t.Error(diff)
		}
		time.Sleep(briefly)
		if _, err := m.Create(t.Context(), wanted("d")); err != nil {
			t.Fatal(err)
		}
		want["get VirtualMachine"] = 1
		if diff := cmp.Diff(want, calls.take()); diff != "" {
			t.Error("later", diff)
		}
	})
}

func TestObservationsAtTheSameTimeShareAListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls, refs := crowd(t, "a", "b", "c", "d")
		gone := provider.MachineRef{Name: "gone", Owner: provider.Owner{ID: "owner-of-gone"}}
		calls.take()
		_ = observeAll(t, m, refs[:1]) // the first one passes at once
		calls.take()
		began := time.Now()
		got := observeAll(t, m, append(refs, gone))
		want := map[string]provider.State{"a": provider.StatePending, "b": provider.StatePending, "c": provider.StatePending, "d": provider.StatePending, "gone": provider.StateAbsent}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(began); took > 3*gatherFor {
			t.Errorf("it took %s", took)
		}
		// The first one to read a machine or disk may be alone with it. A machine that the listing
		// lacks is read by itself.
		asked := calls.take()
		if asked["list VirtualMachineInstance"] != 1 || asked["get VirtualMachineInstance"] > 0 || asked["get VirtualMachine"] > 2 || asked["get PersistentVolumeClaim"] > 2 {
			t.Errorf("the requests were %v", asked)
		}
	})
}

func TestAListingHasNoMachineOfAnotherOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _, refs := crowd(t, "a", "b", "c")
		refs[1].Owner.ID = "another" // a copy of the request
		got := observeAll(t, m, refs)
		want := map[string]provider.State{"a": provider.StatePending, "b": provider.StateAbsent, "c": provider.StatePending}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWithoutThePermissionToListEachMachineIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls, refs := crowd(t, "a", "b", "c")
		calls.take()
		calls.refused = &kubevirtv1.VirtualMachineList{}
		for name, state := range observeAll(t, m, refs) {
			if state != provider.StatePending {
				t.Errorf("%s is %s", name, state)
			}
		}
		if n := calls.take()["get VirtualMachine"]; n != len(refs) {
			t.Errorf("%d machines were read", n)
		}
	})
}

func TestTheIdentityIsReadForAllWhoAskForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls, _ := crowd(t)
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				if _, err := m.identifyAgain(t.Context()); err != nil {
					t.Error(fmt.Errorf("identify: %w", err))
				}
			})
		}
		wait.Wait()
		if n := calls.take()["get Namespace"]; n > 4 { // two rounds, of two namespaces that do not exist
			t.Errorf("%d requests", n)
		}
	})
}
