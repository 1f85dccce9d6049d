// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// tag puts an owner's marks on an object.
func tag[T client.Object](o T, owner string) T {
	o.SetLabels(map[string]string{audit.TagOwnerID: owner, audit.TagClusterID: "c1", audit.TagCluster: "audited"})
	return o
}

// as is a client of the limited user that calls itself something.
func as(t *testing.T, w *fixture, agent string) client.Client {
	t.Helper()
	config := limitedConfig(t, w)
	config.UserAgent = agent
	c, err := client.New(config, client.Options{Scheme: w.limited.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// violated waits until the auditor has found this, n times in all.
func violated(t *testing.T, w *fixture, i audit.Invariant, n int) {
	t.Helper()
	eventually(t, string(i), func() error {
		all, err := audit.Violations(w.dir)
		if err != nil || len(all) != n || n > 0 && all[n-1].Invariant != i {
			return errors.Join(err, fmt.Errorf("found so far: %v", all))
		}
		return nil
	})
}

func auditOfUse(t *testing.T, w *fixture) {
	first, second := as(t, w, "first"), as(t, w, "second")
	one := tag(machine("audited-1", "x"), "o1")
	create(t, first, one, tag(rootClaim("audited-1-root"), "o1"))
	eventually(t, "what is there", func() error {
		if left := w.auditor.Left(); len(left) != 2 || left[0].Name != "audited-1-root" || left[1].Name != "audited-1" || left[1].OwnerID != "o1" {
			return fmt.Errorf("%+v", left)
		}
		return nil
	})
	violated(t, w, "", 0)
	create(t, second, tag(machine("audited-2", "x"), "o1"))
	violated(t, w, audit.OneOwner, 1)
	// It brings no marks, but what it names has them.
	if err := first.Delete(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	violated(t, w, audit.OneWriter, 2)
	create(t, second, tag(machine("audited-3", "x"), "o3"), tag(machine("audited-4", "x"), "o4"))
	violated(t, w, audit.WithinDesired, 3)
	key := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: []byte("der")})
	create(t, second, tag(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "audited-2-cloudinit"}, Data: map[string][]byte{"userdata": key},
	}, "o1"))
	violated(t, w, audit.NoSecret, 4)
	if err := w.admin.Delete(t.Context(), tag(machine("audited-3", "x"), "o3")); err != nil {
		t.Fatal(err)
	}
	violated(t, w, audit.NoSecret, 4) // the administrator is no writer
}

// staleReads: another plan makes the platform report what was there.
func staleReads(t *testing.T, w *fixture) {
	create(t, w.limited, machine("old", "x"))
	parsed, err := fault.Parse([]byte("faults: [{kind: staleList, for: 4m}]"))
	if err != nil {
		t.Fatal(err)
	}
	w.injector.Replace(parsed)
	defer w.injector.Replace(fault.Plan{})
	create(t, w.limited, machine("young", "x"), rootClaim("young-disk"))
	if err := w.limited.Delete(t.Context(), machine("old", "x")); err != nil {
		t.Fatal(err)
	}
	gone(t, w.admin, machine("old", "x"))
	names := map[string]bool{}
	all := &kubevirtv1.VirtualMachineList{}
	if err := w.limited.List(t.Context(), all, client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	for _, vm := range all.Items {
		names[vm.Name] = true
	}
	if !names["old"] || names["young"] {
		t.Errorf("listed: %v", names)
	}
	for o, there := range map[client.Object]bool{machine("old", "x"): true, machine("young", "x"): false, rootClaim("young-disk"): false} {
		err := w.limited.Get(t.Context(), client.ObjectKeyFromObject(o), o)
		if there && err != nil || !there && !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", o.GetName(), err)
		}
	}
	if err := w.limited.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "x"}, &corev1.ServiceAccount{}); !apierrors.IsForbidden(err) {
		t.Errorf("in the past everything may be read: %v", err)
	}
	watch, err := w.limited.Watch(t.Context(), all, client.InNamespace("default"), client.MatchingFields{"metadata.name": "young"})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	select {
	case e := <-watch.ResultChan():
		t.Errorf("the watch reports %v", e)
	case <-time.After(200 * time.Millisecond):
	}
	w.injector.Replace(fault.Plan{})
	expectEvent(t, watch, "young")
	if err := w.limited.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "old"}, machine("old", "x")); !apierrors.IsNotFound(err) {
		t.Errorf("after it all: %v", err)
	}
}

// plansChange: what an earlier plan held back continues when it is lifted.
func plansChange(t *testing.T, w *fixture) {
	parsed, err := fault.Parse([]byte("faults: [{kind: noCapacity, machine: held-back}, {kind: conflictingMachine, machine: newcomer}]"))
	if err != nil {
		t.Fatal(err)
	}
	w.injector.Replace(parsed)
	defer w.injector.Replace(fault.Plan{})
	create(t, w.limited, rootClaim("held-back"), machine("held-back", "held-back"))
	instance(t, w.limited, "held-back", waitsFor(corev1.PodReasonUnschedulable))
	vm := &kubevirtv1.VirtualMachine{}
	eventually(t, "the conflicting VM of another plan", func() error {
		return w.limited.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "newcomer"}, vm)
	})
	w.injector.Replace(fault.Plan{})
	instance(t, w.limited, "held-back", isRunning)
}
