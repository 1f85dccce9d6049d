// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	harvesterv1beta1 "github.com/butlerdotdev/butler/internal/sim/harvester/harvesterhci/v1beta1"
)

// follow has a plan of one fault hold.
func (w *fixture) follow(t *testing.T, k fault.Kind) {
	t.Helper()
	p := fault.Plan{Faults: []fault.Fault{{Kind: k}}}
	if err := w.harvester.Prepare(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	w.injector.Replace(p)
	t.Cleanup(func() { w.injector.Replace(fault.Plan{}) })
}

// marks are the UIDs that a platform is identified by.
func (w *fixture) marks(t *testing.T) (out [2]types.UID) {
	t.Helper()
	for i, name := range []string{"kube-system", "default"} {
		ns := &corev1.Namespace{}
		eventually(t, "the namespace "+name, func() error { return w.limited.Get(t.Context(), client.ObjectKey{Name: name}, ns) })
		out[i] = ns.UID
	}
	return out
}

// secondPlatform: it accepts the user, is another one, and has machines of its own.
func secondPlatform(t *testing.T, w *fixture) {
	vm := machine("on-the-first", "x")
	create(t, w.limited, vm)
	first := w.marks(t)
	machines, err := w.limited.Watch(t.Context(), &kubevirtv1.VirtualMachineList{})
	if err != nil {
		t.Fatal(err)
	}
	defer machines.Stop()
	w.follow(t, fault.SecondPlatform)
	expectEnd(t, machines.ResultChan())
	if second := w.marks(t); second[0] == first[0] || second[1] == first[1] {
		t.Errorf("it is the same platform: %v", second)
	}
	gone(t, w.limited, vm.DeepCopy())
	if err := w.limited.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "talos-v1.9.2"}, &harvesterv1beta1.VirtualMachineImage{}); err != nil {
		t.Errorf("an image that manifests name: %v", err)
	}
	if err := w.limited.List(t.Context(), &corev1.SecretList{}); !apierrors.IsForbidden(err) {
		t.Errorf("the user has other rights there: %v", err)
	}
	w.machineOnTheSecond(t)
	w.injector.Replace(fault.Plan{})
	if again := w.marks(t); again != first {
		t.Errorf("the first one does not return: %v", again)
	}
	eventually(t, "the machine", func() error { return w.limited.Get(t.Context(), client.ObjectKeyFromObject(vm), vm) })
	gone(t, w.limited, machine("on-the-second", "x"))
}

// machineOnTheSecond: what is created there counts, and never runs.
func (w *fixture) machineOnTheSecond(t *testing.T) {
	t.Helper()
	vm := machine("on-the-second", "on-the-second")
	vm.Labels = map[string]string{audit.TagOwnerID: "owner-on-the-second", audit.TagClusterID: "c", audit.TagCluster: "second"}
	create(t, w.limited, rootClaim("on-the-second"), vm)
	left := func() error {
		for _, o := range w.auditor.Left() {
			if o.OwnerID == "owner-on-the-second" {
				return nil
			}
		}
		return errors.New("it does not count")
	}
	eventually(t, "the audit", left)
	instance(t, w.limited, "on-the-second", waitsFor(corev1.PodReasonUnschedulable))
	if err := w.limited.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	gone(t, w.limited, vm)
}

func expectEnd[T any](t *testing.T, events <-chan T) {
	t.Helper()
	timeout := time.After(15 * time.Second)
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-timeout:
			t.Fatal("the watch continues")
		}
	}
}

func hangs(t *testing.T, w *fixture) {
	w.follow(t, fault.Hang)
	impatient, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := w.limited.List(impatient, &kubevirtv1.VirtualMachineList{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the platform answers: %v", err)
	}
	if err := w.admin.List(t.Context(), &kubevirtv1.VirtualMachineList{}); err != nil {
		t.Errorf("the administrator: %v", err)
	}
	w.injector.Replace(fault.Plan{})
	if err := w.limited.List(t.Context(), &kubevirtv1.VirtualMachineList{}); err != nil {
		t.Errorf("once it is over: %v", err)
	}
}
