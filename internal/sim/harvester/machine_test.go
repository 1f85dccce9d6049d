// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	harvesterv1beta1 "github.com/butlerdotdev/butler/internal/sim/harvester/harvesterhci/v1beta1"
)

func TestMachineLifeWithDocumentedVerbs(t *testing.T) {
	c := shared.limited
	pvc, vm := rootClaim("life-root"), machine("life", "life-root")
	const networkData = "version: 2\nethernets: {eth0: {addresses: [10.40.7.7/16]}}\n"
	vm.Spec.Template.Spec.Volumes[1].CloudInitNoCloud.NetworkData = networkData
	create(t, c, pvc, vm)
	vmi := instance(t, c, "life", isRunning)
	nic := vmi.Status.Interfaces[0]
	if nic.IP != "10.40.7.7" || nic.IPs[0] != nic.IP || nic.MAC == "" || nic.Name != "nic-0" {
		t.Errorf("interface: %+v", nic)
	}
	spec, _ := shared.booted("life")
	if spec.ID != string(vm.UID) || spec.CPU != 2 || spec.MemoryMB != 4096 || string(spec.UserData) != "#user-data" || string(spec.NetworkData) != networkData || spec.Network != "default/vlan40-workloads" {
		t.Errorf("machine: %+v", spec)
	}
	size := pvc.Spec.Resources.Requests[corev1.ResourceStorage]
	if root := (datacenter.Disk{Device: "/dev/vda", SizeBytes: uint64(size.Value()), Transport: "virtio", System: true}); len(spec.Disks) != 2 || !cmp.Equal(spec.Disks[0], root) || spec.Disks[1].Device != "/dev/vdb" {
		t.Errorf("disks: %+v, want %+v and that of cloud-init", spec.Disks, root)
	}
	if vmi.Labels["harvesterhci.io/vmName"] != "life" || !metav1.IsControlledBy(vmi, vm) {
		t.Errorf("instance: %+v", vmi.ObjectMeta)
	}
	printableStatus(t, "life", kubevirtv1.VirtualMachineStatusRunning)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil || !vm.Status.Created || !vm.Status.Ready {
		t.Errorf("status: %+v, %v", vm.Status, err)
	}

	for _, o := range []client.Object{vm, pvc} {
		if err := c.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	gone(t, c, vm, vmi, pvc)
	pods := &corev1.PodList{}
	if err := shared.admin.List(t.Context(), pods, client.MatchingLabels{kubevirtv1.CreatedByLabel: string(vmi.UID)}); err != nil || len(pods.Items) != 0 {
		t.Errorf("%d pods left, %v", len(pods.Items), err)
	}
	if _, on := shared.datacenter.Running(spec.ID); on {
		t.Error("the machine is still on")
	}
}

func TestClaimOfAMachineIsNotDeleted(t *testing.T) {
	pvc, vm := rootClaim("protected-root"), machine("protected", "protected-root")
	create(t, shared.limited, pvc, vm)
	instance(t, shared.limited, "protected", isRunning)
	refused(t, shared.limited.Delete(t.Context(), pvc), 409, metav1.StatusReasonConflict,
		invalidHarvester+"can not delete the volume protected-root which is currently attached to VM: default/protected")
	if err := shared.limited.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	if err := shared.limited.Delete(t.Context(), pvc); err != nil {
		t.Errorf("claim of a machine that is being deleted: %v", err)
	}
	gone(t, shared.limited, vm, pvc)
}

func TestClaimWaitsForClassAndImage(t *testing.T) {
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Provisioner: "driver.longhorn.io"}
	tests := map[string]struct {
		pvc *corev1.PersistentVolumeClaim
		fix client.Object
	}{
		"class": {claim("no-class", "late", ""), class},
		"image": {claim("no-image", "longhorn", "default/late"), image("late")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			create(t, shared.limited, tt.pvc)
			eventually(t, "event", func() error {
				events := &corev1.EventList{}
				if err := shared.admin.List(t.Context(), events, client.InNamespace("default")); err != nil {
					return err
				}
				for _, e := range events.Items {
					if e.InvolvedObject.Name == tt.pvc.Name && e.Reason == "ProvisioningFailed" {
						return nil
					}
				}
				return fmt.Errorf("none in %d", len(events.Items))
			})
			if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(tt.pvc), tt.pvc); err != nil || tt.pvc.Status.Phase != corev1.ClaimPending {
				t.Fatalf("claim is %q, %v", tt.pvc.Status.Phase, err)
			}
			create(t, shared.admin, tt.fix)
			bound(t, tt.pvc)
		})
	}
}

func bound(t *testing.T, pvc *corev1.PersistentVolumeClaim) {
	t.Helper()
	eventually(t, "claim "+pvc.Name, func() error {
		if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(pvc), pvc); err != nil {
			return err
		}
		if pvc.Status.Phase != corev1.ClaimBound || pvc.Status.Capacity.Storage().IsZero() {
			return fmt.Errorf("status is %+v", pvc.Status)
		}
		return nil
	})
}

func image(name string) *harvesterv1beta1.VirtualMachineImage {
	return &harvesterv1beta1.VirtualMachineImage{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       harvesterv1beta1.ImageSpec{DisplayName: name, SourceType: "download", URL: "https://images.example.com/" + name},
	}
}

func TestInstanceWaitsAndContinuesWhenFixed(t *testing.T) {
	big := resource.MustParse("1Gi")
	tests := map[string]struct {
		spoil  func(*kubevirtv1.VirtualMachine)
		reason string
		status kubevirtv1.VirtualMachinePrintableStatus
		fix    []client.Object
	}{
		"claim missing": {
			func(vm *kubevirtv1.VirtualMachine) {
				vm.Spec.Template.Spec.Volumes[0].PersistentVolumeClaim.ClaimName = "wait-later"
			},
			"FailedPvcNotFound", kubevirtv1.VirtualMachineStatusPvcNotFound, []client.Object{rootClaim("wait-later")},
		},
		"claim unbound": {
			func(vm *kubevirtv1.VirtualMachine) {
				vm.Spec.Template.Spec.Volumes[0].PersistentVolumeClaim.ClaimName = "wait-unbound"
			},
			"Unschedulable", kubevirtv1.VirtualMachineStatusUnschedulable,
			[]client.Object{&storagev1.StorageClass{
				ObjectMeta: metav1.ObjectMeta{Name: "wait-class"}, Provisioner: "driver.longhorn.io", Parameters: map[string]string{"backingImage": "x"},
			}},
		},
		"network without subnet": {
			func(vm *kubevirtv1.VirtualMachine) {
				vm.Spec.Template.Spec.Networks[0].Multus.NetworkName = "default/wait-network"
			},
			"FailedCreate", kubevirtv1.VirtualMachineStatusStarting, nil,
		},
		"secret missing": {
			func(vm *kubevirtv1.VirtualMachine) {
				vm.Spec.Template.Spec.Volumes[1].CloudInitNoCloud = &kubevirtv1.CloudInitNoCloudSource{UserDataSecretRef: &corev1.LocalObjectReference{Name: "wait-later"}}
			},
			"ContainersNotReady", kubevirtv1.VirtualMachineStatusStarting,
			[]client.Object{&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "wait-later"}, StringData: map[string]string{"userdata": "#user-data"}}},
		},
	}
	unbound := claim("wait-unbound", "wait-class", "")
	unbound.Spec.Resources.Requests[corev1.ResourceStorage] = big
	create(t, shared.limited, rootClaim("wait-root"), unbound)
	create(t, shared.admin, attachment("wait-network"))
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			vm := machine("wait-"+strings.ReplaceAll(name, " ", "-"), "wait-root")
			tt.spoil(vm)
			create(t, shared.limited, vm)
			vmi := instance(t, shared.limited, vm.Name, waitsFor(tt.reason))
			if len(vmi.Status.Interfaces) != 0 {
				t.Errorf("interfaces before it runs: %+v", vmi.Status.Interfaces)
			}
			printableStatus(t, vm.Name, tt.status)
			create(t, shared.admin, tt.fix...)
			if tt.fix == nil {
				spoilNetwork(t, vm.Name)
				return
			}
			instance(t, shared.limited, vm.Name, isRunning)
			if spec, _ := shared.booted(vm.Name); string(spec.UserData) != "#user-data" {
				t.Errorf("user data %q", spec.UserData)
			}
		})
	}
}

// spoilNetwork deletes the network of a machine that waits for it.
func spoilNetwork(t *testing.T, name string) {
	t.Helper()
	if err := shared.admin.Delete(t.Context(), attachment("wait-network")); err != nil {
		t.Fatal(err)
	}
	instance(t, shared.limited, name, func(vmi *kubevirtv1.VirtualMachineInstance) bool {
		return slices.ContainsFunc(vmi.Status.Conditions, func(c kubevirtv1.VirtualMachineInstanceCondition) bool {
			return strings.HasSuffix(c.Message, "network attachment definition default/wait-network not found")
		})
	})
}

func TestRunStrategies(t *testing.T) {
	create(t, shared.limited, rootClaim("strategy-root"))
	vm := machine("strategy", "strategy-root")
	halted, always := kubevirtv1.RunStrategyHalted, kubevirtv1.RunStrategyAlways
	vm.Spec.RunStrategy = &halted
	create(t, shared.limited, vm)
	printableStatus(t, "strategy", kubevirtv1.VirtualMachineStatusStopped)

	var address string
	for range 2 {
		setStrategy(t, vm, func() { vm.Spec.RunStrategy = &always })
		vmi := instance(t, shared.limited, "strategy", isRunning)
		if address != "" && vmi.Status.Interfaces[0].IP != address {
			t.Errorf("address %s, before %s", vmi.Status.Interfaces[0].IP, address)
		}
		address = vmi.Status.Interfaces[0].IP
		setStrategy(t, vm, func() { vm.Spec.RunStrategy = &halted })
		gone(t, shared.limited, vmi)
		printableStatus(t, "strategy", kubevirtv1.VirtualMachineStatusStopped)
		if _, on := shared.datacenter.Running(string(vm.UID)); on {
			t.Error("halted and on")
		}
	}
	running := true
	setStrategy(t, vm, func() { vm.Spec.RunStrategy, vm.Spec.Running = nil, &running })
	instance(t, shared.limited, "strategy", isRunning)
}

func setStrategy(t *testing.T, vm *kubevirtv1.VirtualMachine, change func()) {
	t.Helper()
	eventually(t, "update", func() error {
		if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil {
			return err
		}
		change()
		return shared.admin.Update(t.Context(), vm)
	})
}

func TestDeadMachineIsStartedAgain(t *testing.T) {
	_, before := shared.booted("crashed")
	create(t, shared.limited, rootClaim("crashed-root"), machine("crashed", "crashed-root"))
	first := instance(t, shared.limited, "crashed", isRunning)
	time.Sleep(1100 * time.Millisecond) // a death before that counts as a failed start
	shared.kill("crashed")
	second := instance(t, shared.limited, "crashed", func(vmi *kubevirtv1.VirtualMachineInstance) bool {
		return vmi.UID != first.UID && vmi.IsRunning()
	})
	if first.Status.Interfaces[0].IP != second.Status.Interfaces[0].IP {
		t.Errorf("address %s, before %s", second.Status.Interfaces[0].IP, first.Status.Interfaces[0].IP)
	}
	if _, boots := shared.booted("crashed"); boots-before != 2 {
		t.Errorf("%d boots", boots-before)
	}
}

func TestFailedStartIsHeldBack(t *testing.T) {
	_, before := shared.booted("stillborn")
	vm := machine("stillborn", "stillborn-root")
	create(t, shared.limited, rootClaim("stillborn-root"), vm)
	printableStatus(t, "stillborn", kubevirtv1.VirtualMachineStatusCrashLoopBackOff)
	if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil || vm.Status.StartFailure == nil {
		t.Fatalf("status: %+v, %v", vm.Status, err)
	}
	if wait := time.Until(vm.Status.StartFailure.RetryAfterTimestamp.Time); wait < 5*time.Second {
		t.Errorf("next start in %v", wait)
	}
	never(t, "started again at once", func() bool { _, boots := shared.booted("stillborn"); return boots-before > 1 })
}

func TestDiskWithoutImageDoesNotBoot(t *testing.T) {
	create(t, shared.limited, claim("empty-root", "longhorn", "default/image-5rs6d"), machine("empty", "empty-root"))
	vmi := instance(t, shared.limited, "empty", isRunning)
	if nic := vmi.Status.Interfaces[0]; nic.IP != "" {
		t.Errorf("an empty disk has the address %s", nic.IP)
	}
	if _, boots := shared.booted("empty"); boots != 0 {
		t.Errorf("%d boots", boots)
	}
}
