// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// halted is a machine whose changes are pushed.
func halted(name string) *kubevirtv1.VirtualMachine {
	return &kubevirtv1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{tag.OwnerID: "owner-of-" + name, tag.Machine: name}},
		Status:     kubevirtv1.VirtualMachineStatus{PrintableStatus: kubevirtv1.VirtualMachineStatusStopped},
	}
}

// followed is a follower of an API that fails as the functions say, and what it
// pushes.
func followed(t *testing.T, funcs interceptor.Funcs) (client.Client, <-chan provider.MachineRef) {
	t.Helper()
	s, err := scheme()
	if err != nil {
		t.Fatal(err)
	}
	api := fake.NewClientBuilder().WithScheme(s).WithObjects(halted("a"), halted("b")).Build()
	m := &machines{api: interceptor.NewClient(api, funcs)}
	m.spec.Namespace = "default"
	out := make(chan provider.MachineRef, 100)
	f := &follower{machines: m, kind: func() client.ObjectList { return &kubevirtv1.VirtualMachineList{} }, out: out, seen: map[string]sight{}}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go f.follow(ctx)
	synctest.Wait()
	return api, out
}

// names are those that were pushed so far.
func names(out <-chan provider.MachineRef) (all []string) {
	for {
		select {
		case ref := <-out:
			all = append(all, ref.Name)
		default:
			return all
		}
	}
}

// deaf opens watches in which nothing happens.
func deaf(opened chan<- *watch.FakeWatcher) interceptor.Funcs {
	return interceptor.Funcs{Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
		w := watch.NewFake()
		opened <- w
		return w, nil
	}}
}

func TestWhatHappensBetweenTwoWatchesIsPushed(t *testing.T) {
	for reason, interrupt := range map[string]func(*watch.FakeWatcher){
		"the watch ends":         func(w *watch.FakeWatcher) { w.Stop() },
		"the watch fails":        func(w *watch.FakeWatcher) { w.Error(&metav1.Status{}) },
		"the watch falls silent": func(*watch.FakeWatcher) { time.Sleep(quiet) },
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opened := make(chan *watch.FakeWatcher, 10)
				api, out := followed(t, deaf(opened))
				if got := names(out); len(got) != 2 {
					t.Fatalf("at first %v are pushed", got)
				}
				if err := api.Delete(t.Context(), halted("a")); err != nil {
					t.Fatal(err)
				}
				interrupt(<-opened)
				time.Sleep(rewatchMost)
				if got := names(out); len(got) != 1 || got[0] != "a" {
					t.Errorf("%v are pushed, want what was deleted", got)
				}
			})
		})
	}
}

func TestWithoutAWatchAListTakesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api, out := followed(t, interceptor.Funcs{Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
			return nil, errors.New("forbidden")
		}})
		names(out)
		b := halted("b")
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			t.Fatal(err)
		}
		b.Status.PrintableStatus = kubevirtv1.VirtualMachineStatusCrashLoopBackOff
		if err := api.Update(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * rewatchMost)
		if got := names(out); len(got) != 1 || got[0] != "b" {
			t.Errorf("%v are pushed", got)
		}
	})
}

func TestWhileNothingCanBeSeenAllHaveToBeLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, out := followed(t, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("gone")
		}})
		for range 2 {
			time.Sleep(2 * rewatchMost)
			if got := names(out); len(got) == 0 || got[0] != "" {
				t.Errorf("%v are pushed, want none in particular", got)
			}
		}
	})
}
