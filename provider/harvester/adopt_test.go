// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// earlier puts a machine in place as butler-provider-harvester creates it: without an
// owner, and with a disk of its own naming.
func (o *offline) earlier(t *testing.T, name string) *kubevirtv1.VirtualMachine {
	t.Helper()
	by := map[string]string{"butler.butlerlabs.dev/managed-by": "butler-provider-harvester"}
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: o.meta(name), Spec: kubevirtv1.VirtualMachineSpec{Template: &kubevirtv1.VirtualMachineInstanceTemplateSpec{}}}
	vm.UID, vm.Labels, vm.Spec.Template.ObjectMeta.Labels = types.UID(uuid.NewString()), by, by
	attach(&vm.Spec.Template.Spec, "rootdisk", claimVolume(name+"-rootdisk"))
	vmi := &kubevirtv1.VirtualMachineInstance{ObjectMeta: o.meta(name)}
	vmi.Labels, vmi.Status.Phase = by, kubevirtv1.Running
	vmi.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(vm, kubevirtv1.VirtualMachineGroupVersionKind)}
	disk := &corev1.PersistentVolumeClaim{ObjectMeta: o.meta(name + "-rootdisk")}
	disk.Labels = by
	for _, object := range []client.Object{vm, vmi, disk} {
		o.must(t, o.api.Create(t.Context(), object))
	}
	return vm
}

func (o *offline) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnAdoptedMachineIsDeletedWithItsDisk(t *testing.T) {
	o := newOffline(t)
	vm, ref := o.earlier(t, "mgmt-cp-0"), wanted("mgmt-cp-0").MachineRef
	if seen, err := o.Observe(t.Context(), ref); err != nil || seen.State != provider.StateAbsent {
		t.Fatalf("before it is adopted: %+v, %v", seen, err)
	}
	for range 2 {
		o.must(t, o.adopt(t.Context(), ref, string(vm.UID)))
	}
	seen, err := o.Observe(t.Context(), ref)
	if err != nil || seen.ID != string(vm.UID) || !strings.Contains(seen.Message, "runs") {
		t.Errorf("%+v, %v", seen, err)
	}
	all, err := o.List(t.Context(), ref.Owner)
	if err != nil || len(all) != 1 || len(all[0].Parts) != 2 || len(all[0].Copies) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	remove(t, o, ref)
	disk := &corev1.PersistentVolumeClaim{}
	if err := o.api.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "mgmt-cp-0-rootdisk"}, disk); err == nil {
		t.Error("the disk is left")
	}
}

func TestOnlyTheMachineThatTheRequestHadIsAdopted(t *testing.T) {
	ref := wanted("mgmt-cp-0").MachineRef
	for reason, c := range map[string]struct {
		id     string // empty: the machine's own
		change func(*kubevirtv1.VirtualMachine)
		want   provider.Kind
	}{
		"another ID":            {uuid.NewString(), func(*kubevirtv1.VirtualMachine) {}, provider.Invalid},
		"of another owner":      {"", func(vm *kubevirtv1.VirtualMachine) { vm.Labels = map[string]string{tag.OwnerID: "another"} }, provider.Conflict},
		"there is no such name": {"", nil, provider.Invalid},
	} {
		t.Run(reason, func(t *testing.T) {
			o := newOffline(t)
			name := ref.Name
			if c.change == nil {
				name = "other"
			}
			vm := o.earlier(t, name)
			if c.change != nil {
				c.change(vm)
				o.must(t, o.api.Update(t.Context(), vm))
			}
			if c.id == "" {
				c.id = string(vm.UID)
			}
			err := o.adopt(t.Context(), ref, c.id)
			if provider.KindOf(err) != c.want {
				t.Errorf("%s: %v", provider.KindOf(err), err)
			}
			if left := o.labelledBy(t, ref.Owner.ID); left != 0 {
				t.Errorf("%d objects were labelled", left)
			}
		})
	}
}

// labelledBy counts what carries an owner id.
func (o *offline) labelledBy(t *testing.T, id string) int {
	t.Helper()
	all, err := o.List(t.Context(), provider.Owner{ID: id})
	o.must(t, err)
	return len(all)
}
