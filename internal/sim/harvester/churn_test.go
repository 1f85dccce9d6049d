// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMachineDeletedAtOnceLeavesNothing(t *testing.T) {
	random := newRandom(t)
	var vms []*kubevirtv1.VirtualMachine
	for round := range 4 { // the first is slow, as connections and caches are new
		hasty := createAndDeleteAll(t, fmt.Sprintf("hasty-%d", round), random)
		for _, vm := range hasty {
			eventually(t, "nothing of "+vm.Name+" is left", func() error { return remains(t.Context(), vm) })
		}
		vms = append(vms, hasty...)
	}
	// A step that was under way must not bring anything back.
	never(t, "something is back", func() bool {
		for _, vm := range vms {
			if err := remains(t.Context(), vm); err != nil {
				t.Error(err)
				return true
			}
		}
		return false
	})
}

// createAndDeleteAll does so with 25 machines at the same time.
func createAndDeleteAll(t *testing.T, prefix string, random *rand.Rand) []*kubevirtv1.VirtualMachine {
	t.Helper()
	vms := make([]*kubevirtv1.VirtualMachine, 25)
	errs := make(chan error)
	for i := range vms {
		name := fmt.Sprintf("%s-%d", prefix, i)
		vms[i] = machine(name, name)
		delay := time.Duration(random.Int64N(int64(20 * time.Millisecond)))
		go func() { errs <- createAndDelete(t.Context(), rootClaim(name), vms[i], delay) }()
	}
	for range vms {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return vms
}

func TestInstanceOfAVanishedMachineEnds(t *testing.T) {
	vm := machine("vanished", "vanished")
	create(t, shared.limited, rootClaim("vanished"), vm)
	first := instance(t, shared.limited, "vanished", isRunning)
	vanish(t, vm)
	next := machine("vanished", "vanished")
	create(t, shared.limited, next)
	second := instance(t, shared.limited, "vanished", func(vmi *kubevirtv1.VirtualMachineInstance) bool {
		return vmi.UID != first.UID && vmi.IsRunning()
	})
	if !metav1.IsControlledBy(second, next) {
		t.Errorf("owner of the next instance: %+v", second.OwnerReferences)
	}
	if _, on := shared.datacenter.Running(string(vm.UID)); on {
		t.Error("the machine that vanished is on")
	}
	vanish(t, next)
	if err := shared.limited.Delete(t.Context(), rootClaim("vanished")); err != nil {
		t.Fatal(err)
	}
	for _, vm := range []*kubevirtv1.VirtualMachine{vm, next} {
		eventually(t, "nothing is left", func() error { return remains(t.Context(), vm) })
	}
}

// vanish deletes a VirtualMachine before the platform can see it coming.
func vanish(t *testing.T, vm *kubevirtv1.VirtualMachine) {
	t.Helper()
	freed := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	if err := shared.admin.Patch(t.Context(), vm, freed); err != nil {
		t.Fatal(err)
	}
	if err := shared.admin.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	gone(t, shared.admin, vm)
}

func TestDeletedPodNeedsNoKubelet(t *testing.T) {
	create(t, shared.limited, rootClaim("kubeletless"), machine("kubeletless", "kubeletless"))
	vmi := instance(t, shared.limited, "kubeletless", isRunning)
	pods := &corev1.PodList{}
	if err := shared.admin.List(t.Context(), pods, client.MatchingLabels{kubevirtv1.CreatedByLabel: string(vmi.UID)}); err != nil || len(pods.Items) != 1 {
		t.Fatalf("%d pods, %v", len(pods.Items), err)
	}
	// As the garbage collector does: without a grace period of its own.
	if err := shared.admin.Delete(t.Context(), &pods.Items[0]); err != nil {
		t.Fatal(err)
	}
	gone(t, shared.admin, &pods.Items[0])
}

// newRandom takes its seed from the environment to repeat a run.
func newRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := time.Now().UnixNano()
	if s := os.Getenv("BUTLER_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseInt(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("BUTLER_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(uint64(seed), 0))
}

func createAndDelete(ctx context.Context, pvc *corev1.PersistentVolumeClaim, vm *kubevirtv1.VirtualMachine, delay time.Duration) error {
	for _, o := range []client.Object{pvc, vm} {
		if err := shared.limited.Create(ctx, o); err != nil {
			return err
		}
	}
	time.Sleep(delay)
	for _, o := range []client.Object{vm, pvc} {
		if err := shared.limited.Delete(ctx, o, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			return err
		}
	}
	return nil
}

// remains complains of everything that is left of a machine. Its claim has its name.
func remains(ctx context.Context, vm *kubevirtv1.VirtualMachine) error {
	var left []error
	for _, o := range []client.Object{&kubevirtv1.VirtualMachine{}, &kubevirtv1.VirtualMachineInstance{}, &corev1.PersistentVolumeClaim{}} {
		if err := shared.admin.Get(ctx, client.ObjectKeyFromObject(vm), o); !apierrors.IsNotFound(err) {
			left = append(left, fmt.Errorf("%T %s is there, deletion asked for at %v: %w", o, vm.Name, o.GetDeletionTimestamp(), orStays(err)))
		}
	}
	if _, on := shared.datacenter.Running(string(vm.UID)); on {
		left = append(left, fmt.Errorf("machine %s is on", vm.Name))
	}
	for _, path := range []string{filepath.Join("leases", string(vm.UID)+".json"), filepath.Join("machines", string(vm.UID))} {
		if _, err := os.Stat(filepath.Join(shared.dir, "datacenter", path)); !errors.Is(err, fs.ErrNotExist) {
			left = append(left, fmt.Errorf("%s of %s is there: %w", path, vm.Name, orStays(err)))
		}
	}
	return errors.Join(append(left, podsOf(ctx, vm.Name))...)
}

func orStays(err error) error {
	if err == nil {
		return errors.New("it stays")
	}
	return err
}

// podsOf complains of pods that mount a claim.
func podsOf(ctx context.Context, claim string) error {
	pods := &corev1.PodList{}
	if err := shared.admin.List(ctx, pods, client.InNamespace("default")); err != nil {
		return err
	}
	for _, pod := range pods.Items {
		for _, v := range pod.Spec.Volumes {
			if v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim {
				return fmt.Errorf("pod %s is there, deletion asked for at %v", pod.Name, pod.DeletionTimestamp)
			}
		}
	}
	return nil
}
