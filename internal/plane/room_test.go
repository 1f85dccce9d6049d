// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

func configMaps(p *plane.Plane) typedcorev1.ConfigMapInterface {
	return kubernetes.NewForConfigOrDie(p.Config()).CoreV1().ConfigMaps("default")
}

// ended waits until a plane has ended by itself.
func ended(t *testing.T, p *plane.Plane) error {
	t.Helper()
	select {
	case <-p.Done():
		return p.Err()
	case <-time.After(time.Minute):
		t.Fatal("the plane continues")
		return nil
	}
}

// fill writes objects of 100 KiB until the store takes no more, and returns how many
// were acknowledged.
func fill(t *testing.T, p *plane.Plane, name func(i int) string) (acknowledged int) {
	t.Helper()
	load := map[string]string{"load": strings.Repeat("x", 100<<10)}
	for acknowledged < 1000 {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name(acknowledged)}, Data: load}
		_, err := configMaps(p).Update(t.Context(), o, metav1.UpdateOptions{})
		if err != nil {
			_, err = configMaps(p).Create(t.Context(), o, metav1.CreateOptions{})
		}
		if err != nil {
			return acknowledged
		}
		load["count"] = fmt.Sprint(acknowledged)
		acknowledged++
	}
	t.Fatal("the store is never full")
	return 0
}

const smallQuota = 12 << 20

func TestFullStoreEndsThePlaneWithAClearErrorAndLosesNothing(t *testing.T) {
	o := plane.Options{Dir: t.TempDir(), Executable: planetest.Executable(t), Quota: smallQuota}
	first := start(t, o)
	n := fill(t, first, func(i int) string { return fmt.Sprintf("object-%d", i) })
	err := ended(t, first)
	stop(t, first)
	for _, part := range []string{"the store is full", fmt.Sprintf("of %d KiB", smallQuota>>10), "nothing in it is lost", "start again"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}

	o.Quota = 0
	second := start(t, o)
	defer stop(t, second)
	all, err := configMaps(second).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(all.Items) < n {
		t.Errorf("of %d objects %d are left, %v", n, len(all.Items), err)
	}
	if _, err := configMaps(second).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{}); err != nil {
		t.Errorf("the store with room takes no write: %v", err)
	}
}

// TestStoreFullOfHistoryMakesRoomByItself: what fills a store in practice are the old
// revisions of few objects.
func TestStoreFullOfHistoryMakesRoomByItself(t *testing.T) {
	o := plane.Options{Dir: t.TempDir(), Executable: planetest.Executable(t), Quota: smallQuota}
	first := start(t, o)
	n := fill(t, first, func(int) string { return "one" })
	_ = ended(t, first)
	stop(t, first)

	second := start(t, o)
	defer stop(t, second)
	one, err := configMaps(second).Get(t.Context(), "one", metav1.GetOptions{})
	// The write that met the full store may have taken effect, unanswered.
	if answered, last := fmt.Sprint(n-2), fmt.Sprint(n-1); err != nil || one.Data["count"] != answered && one.Data["count"] != last {
		t.Fatalf("the last write is lost: %s, want %s, %v", one.Data["count"], answered, err)
	}
	for i := range n / 2 { // there is room for as much again
		one.Data["count"] = fmt.Sprint("again-", i)
		if one, err = configMaps(second).Update(t.Context(), one, metav1.UpdateOptions{}); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
	}
}

func TestKilledStoreIsNamedAndTheNextStartContinues(t *testing.T) {
	o := plane.Options{Dir: t.TempDir(), Executable: planetest.Executable(t)}
	first := start(t, o)
	if _, err := configMaps(first).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	first.Kill("etcd")
	if err := ended(t, first); err == nil || !strings.Contains(err.Error(), "etcd ended: it was killed, signal: killed") {
		t.Errorf("error %v does not say that it was etcd", err)
	}
	stop(t, first)

	second := start(t, o)
	defer stop(t, second)
	if _, err := configMaps(second).Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}
