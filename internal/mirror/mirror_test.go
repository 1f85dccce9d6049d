// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package mirror_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	fake "k8s.io/client-go/tools/cache/testing"

	"github.com/butlerdotdev/butler/internal/mirror"
)

// follow runs a mirror of a source, and returns it with a list of what it reports.
func follow(t *testing.T, source cache.ListerWatcher, failed func(error)) (*mirror.Mirror, <-chan string) {
	t.Helper()
	seen := make(chan string, 100)
	m := mirror.New(mirror.Options{
		Source: source, Kind: &corev1.ConfigMap{}, Failed: failed,
		Transform: func(o any) (any, error) {
			if c, ok := o.(*corev1.ConfigMap); ok {
				c.Data = nil
			}
			return o, nil
		},
		Changed: func(before, after any) { seen <- version(before) + " → " + version(after) },
	})
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		m.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return m, seen
}

func version(o any) string {
	c, ok := o.(*corev1.ConfigMap)
	if !ok {
		return "none"
	}
	return c.Labels["version"]
}

func object(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, Labels: map[string]string{"version": version}}, Data: map[string]string{"key": "value"}}
}

func expect(t *testing.T, seen <-chan string, want string) {
	t.Helper()
	select {
	case got := <-seen:
		if got != want {
			t.Fatalf("reported: %s, want %s", got, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("%s is not reported", want)
	}
}

func TestAMirrorFollowsItsSource(t *testing.T) {
	source := fake.NewFakeControllerSource()
	source.Add(object("one", "1"))
	m, seen := follow(t, source, nil)
	expect(t, seen, "none → 1")
	o, there, err := m.Store().GetByKey("a/one")
	if err != nil || !there || o.(*corev1.ConfigMap).Data != nil {
		t.Errorf("%v, there %t: %v", o, there, err)
	}
	if !m.Complete() {
		t.Error("it is not complete with all that was there")
	}
	source.Modify(object("one", "2"))
	expect(t, seen, "1 → 2")
	source.Delete(object("one", "2"))
	expect(t, seen, "2 → none")
	if all := m.Store().ListKeys(); len(all) != 0 {
		t.Errorf("it has %q", all)
	}
}

// TestADeletionThatWasMissedIsReported has a source whose first watch ends, and whose next list lacks an
// object.
func TestADeletionThatWasMissedIsReported(t *testing.T) {
	source := fake.NewFakeControllerSource()
	source.Add(object("one", "1"))
	var cut atomic.Bool
	failures := make(chan error, 100)
	m, seen := follow(t, &cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if cut.Load() {
				return nil, errors.New("no answer")
			}
			return source.List(o)
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) { return source.Watch(o) },
	}, func(err error) { failures <- err })
	expect(t, seen, "none → 1")
	cut.Store(true)
	source.DeleteDropWatch(object("one", "1"))
	source.ResetWatch() // ends the watch: what it has missed is not reported by the next
	<-failures
	cut.Store(false)
	expect(t, seen, "1 → none")
	if all := m.Store().ListKeys(); len(all) != 0 {
		t.Errorf("it has %q", all)
	}
}
