// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// restartable is a machine with strategies of its own.
func restartable(name string, run kubevirtv1.VirtualMachineRunStrategy, eviction kubevirtv1.EvictionStrategy) *kubevirtv1.VirtualMachine {
	vm := machine(name, name+"-root")
	vm.Spec.RunStrategy = &run
	if eviction != "" {
		vm.Spec.Template.Spec.EvictionStrategy = &eviction
	}
	return vm
}

// podOf is the pod of an instance.
func podOf(t *testing.T, w *fixture, vmi *kubevirtv1.VirtualMachineInstance) *corev1.Pod {
	t.Helper()
	pods := &corev1.PodList{}
	if err := w.admin.List(t.Context(), pods, client.MatchingLabels{kubevirtv1.CreatedByLabel: string(vmi.UID)}); err != nil || len(pods.Items) != 1 {
		t.Fatalf("%d pods, %v", len(pods.Items), err)
	}
	return &pods.Items[0]
}

const intercepted = `admission webhook "virt-launcher-eviction-interceptor.kubevirt.io" denied the request: `

// evict asks for the eviction of an instance's pod, as a drain does.
func evict(t *testing.T, vmi *kubevirtv1.VirtualMachineInstance, dryRun ...string) error {
	t.Helper()
	pod := podOf(t, shared, vmi)
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{DryRun: dryRun},
	}
	return shared.admin.SubResource("eviction").Create(t.Context(), pod, eviction)
}

// cordon lets hosts take no machine, or takes that back.
func cordon(t *testing.T, unschedulable bool, names ...string) {
	t.Helper()
	for _, name := range names {
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%v}}`, unschedulable))
		if err := shared.admin.Patch(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, patch); err != nil {
			t.Fatal(err)
		}
	}
}

// staysOff demands what KubeVirt shows of a machine that has ended for good.
func staysOff(t *testing.T, vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) {
	t.Helper()
	gone(t, shared.admin, vmi)
	eventually(t, "status of a machine that is off", func() error {
		if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil {
			return err
		}
		s := vm.Status
		if s.Created || s.RunStrategy != kubevirtv1.RunStrategyRerunOnFailure || len(s.StateChangeRequests) > 0 || s.PrintableStatus != kubevirtv1.VirtualMachineStatusStopped {
			return fmt.Errorf("status is %+v", s)
		}
		return nil
	})
	never(t, "it is started again", func() bool { _, on := shared.datacenter.Running(string(vm.UID)); return on })
}

func TestGuestThatShutsDownIsStartedAgainByAlwaysAlone(t *testing.T) {
	off := restartable("shut-once", kubevirtv1.RunStrategyRerunOnFailure, "")
	back := restartable("shut-always", kubevirtv1.RunStrategyAlways, "")
	create(t, shared.limited, rootClaim("shut-once-root"), rootClaim("shut-always-root"), off, back)
	ended, first := instance(t, shared.limited, "shut-once", isRunning), instance(t, shared.limited, "shut-always", isRunning)
	if got := ended.Spec.EvictionStrategy; got == nil || *got != kubevirtv1.EvictionStrategyNone {
		t.Errorf("eviction strategy of an instance whose machine has none: %v", got)
	}
	shared.shutDown("shut-once")
	shared.shutDown("shut-always")
	staysOff(t, off, ended)
	instance(t, shared.limited, "shut-always", func(vmi *kubevirtv1.VirtualMachineInstance) bool { return vmi.UID != first.UID && vmi.IsRunning() })
}

func TestGuestThatFailsIsStartedAgainOnRequest(t *testing.T) {
	create(t, shared.limited, rootClaim("rerun-root"), restartable("rerun", kubevirtv1.RunStrategyRerunOnFailure, ""))
	first := instance(t, shared.limited, "rerun", isRunning)
	shared.kill("rerun")
	instance(t, shared.limited, "rerun", func(vmi *kubevirtv1.VirtualMachineInstance) bool { return vmi.UID != first.UID && vmi.IsRunning() })
	vm := &kubevirtv1.VirtualMachine{}
	eventually(t, "the request is done", func() error {
		if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(first), vm); err != nil {
			return err
		}
		if len(vm.Status.StateChangeRequests) > 0 {
			return fmt.Errorf("requests %v", vm.Status.StateChangeRequests)
		}
		return nil
	})
}

func TestEvictedMachineMigratesOrEnds(t *testing.T) {
	const migrate = kubevirtv1.EvictionStrategyLiveMigrateIfPossible
	local := rootClaim("evict-local-root")
	local.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	create(t, shared.limited, rootClaim("evict-moves-root"), rootClaim("evict-ends-root"), local,
		restartable("evict-moves", kubevirtv1.RunStrategyRerunOnFailure, migrate),
		restartable("evict-ends", kubevirtv1.RunStrategyRerunOnFailure, ""),
		restartable("evict-local", kubevirtv1.RunStrategyAlways, migrate))
	moves, ends, returns := instance(t, shared.limited, "evict-moves", isRunning), instance(t, shared.limited, "evict-ends", isRunning), instance(t, shared.limited, "evict-local", isRunning)
	left := podOf(t, shared, moves)
	const evacuation = `Eviction triggered evacuation of VMI "default/evict-moves"`
	refused(t, evict(t, moves, metav1.DryRunAll), 429, "", intercepted+evacuation)
	never(t, "a dry run moves a machine", func() bool { return podOf(t, shared, moves).Spec.NodeName != moves.Status.NodeName })
	refused(t, evict(t, moves), 429, "", intercepted+evacuation)
	for _, vmi := range []*kubevirtv1.VirtualMachineInstance{ends, returns} {
		if err := evict(t, vmi); err != nil {
			t.Errorf("eviction of a machine that is shut down: %v", err)
		}
	}
	instance(t, shared.limited, "evict-moves", func(vmi *kubevirtv1.VirtualMachineInstance) bool {
		return vmi.UID == moves.UID && vmi.IsRunning() && vmi.Status.NodeName != moves.Status.NodeName
	})
	again := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: left.Namespace, Name: left.Name}}
	if err := shared.admin.SubResource("eviction").Create(t.Context(), left, again); !apierrors.IsNotFound(err) {
		t.Errorf("a drain that asks again for the pod on the old host: %v", err)
	}
	if _, boots := shared.booted("evict-moves"); boots != 1 {
		t.Errorf("a machine that migrates boots %d times", boots)
	}
	staysOff(t, restartable("evict-ends", "", ""), ends)
	instance(t, shared.limited, "evict-local", func(vmi *kubevirtv1.VirtualMachineInstance) bool {
		return vmi.UID != returns.UID && vmi.IsRunning()
	})
}

func TestMachineThatNoOtherHostTakesStaysUntilOneDoes(t *testing.T) {
	create(t, shared.limited, rootClaim("evict-waits-root"),
		restartable("evict-waits", kubevirtv1.RunStrategyRerunOnFailure, kubevirtv1.EvictionStrategyLiveMigrate))
	vmi := instance(t, shared.limited, "evict-waits", isRunning)
	hosts := []string{"harvester-0", "harvester-1", "harvester-2"}
	cordon(t, true, hosts...)
	defer cordon(t, false, hosts...)
	const evacuation = `Eviction triggered evacuation of VMI "default/evict-waits"`
	refused(t, evict(t, vmi), 429, "", intercepted+evacuation)
	refused(t, evict(t, vmi), 429, "", intercepted+"Evacuation in progress: "+evacuation)
	cordon(t, false, hosts...)
	moved := instance(t, shared.limited, "evict-waits", func(now *kubevirtv1.VirtualMachineInstance) bool {
		return now.UID == vmi.UID && now.IsRunning() && now.Status.NodeName != vmi.Status.NodeName && !now.IsMarkedForEviction()
	})
	if pod := podOf(t, shared, moved); pod.Spec.NodeName != moved.Status.NodeName {
		t.Errorf("pod on host %s, instance on %s", pod.Spec.NodeName, moved.Status.NodeName)
	}
}

func TestMachineThatMustMigrateAndCannotIsKept(t *testing.T) {
	local := rootClaim("evict-must-root")
	local.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	create(t, shared.limited, local, restartable("evict-must", kubevirtv1.RunStrategyAlways, kubevirtv1.EvictionStrategyLiveMigrate))
	vmi := instance(t, shared.limited, "evict-must", isRunning)
	refused(t, evict(t, vmi), 429, "", intercepted+"VMI evict-must is configured with an eviction strategy but is not live-migratable")
}

func TestMachinesThatAvoidEachOtherAreOnDifferentHosts(t *testing.T) {
	used := map[string]string{}
	for i := range 3 {
		name := fmt.Sprintf("apart-%d", i)
		vm := machine(name, name+"-root")
		vm.Spec.Template.ObjectMeta.Labels["group"] = "apart"
		vm.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: corev1.PodAffinityTerm{
				TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"group": "apart"}},
			}}},
		}}
		create(t, shared.limited, rootClaim(name+"-root"), vm)
		vmi := instance(t, shared.limited, name, isRunning)
		if other, taken := used[vmi.Status.NodeName]; taken || vmi.Status.NodeName == "" {
			t.Errorf("%s is on host %q as %s is", name, vmi.Status.NodeName, other)
		}
		used[vmi.Status.NodeName] = name
	}
}

func TestInterfacesOfTheGuestHaveNoName(t *testing.T) {
	create(t, shared.limited, rootClaim("many-nics-root"), machine("many-nics", "many-nics-root"))
	vmi := instance(t, shared.limited, "many-nics", isRunning)
	if n := len(vmi.Status.Interfaces); n != 2 {
		t.Fatalf("%d interfaces", n)
	}
	if own := vmi.Status.Interfaces[1]; own.Name != "" || own.InfoSource != "guest-agent" || own.IP == "" {
		t.Errorf("interface of the guest: %+v", own)
	}
}

// drained is a fault plan that drains the host of a machine.
func drained(t *testing.T, w *fixture) {
	create(t, w.limited, rootClaim("drained-root"), restartable("drained", kubevirtv1.RunStrategyRerunOnFailure, kubevirtv1.EvictionStrategyLiveMigrateIfPossible))
	first := instance(t, w.limited, "drained", isRunning)
	w.injector.Replace(fault.Plan{Faults: []fault.Fault{{Kind: fault.Drain, Machine: "drained"}}})
	instance(t, w.limited, "drained", func(vmi *kubevirtv1.VirtualMachineInstance) bool {
		return vmi.UID == first.UID && vmi.IsRunning() && vmi.Status.NodeName != first.Status.NodeName
	})
}
