// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clienttesting "k8s.io/client-go/testing"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestOnlyWhatHasItsPlaceIsOriginal(t *testing.T) {
	disk := func(name string) client.Object {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	for _, c := range []struct {
		object client.Object
		want   bool
	}{
		{&kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Name: "mgmt-cp-0"}}, true},
		{&kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Name: "forensic"}}, false},
		{&kubevirtv1.VirtualMachineInstance{ObjectMeta: metav1.ObjectMeta{Name: "forensic"}}, false},
		{&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "mgmt-cp-0-cloudinit"}}, true},
		{&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "mgmt-cp-0-root"}}, false},
		{disk("mgmt-cp-0-root"), true},
		{disk("mgmt-cp-0-disk-1"), true},
		{disk("mgmt-cp-0-disk-12"), true},
		{disk("mgmt-cp-0-disk-0"), false},
		{disk("mgmt-cp-0-disk-01"), false},
		{disk("mgmt-cp-0-disk-1-x7k2p"), false},
		{disk("restore-mgmt-cp-0-root"), false},
		{disk("mgmt-cp-0"), false},
	} {
		c.object.SetLabels(map[string]string{tag.Machine: "mgmt-cp-0"})
		if got := original(c.object); got != c.want {
			t.Errorf("%s: %t", describe(c.object), got)
		}
	}
}

// offline is a driver over objects in memory, and how often it has asked for them.
type offline struct {
	*machines
	calls map[string]int
	// refuse answers the deletion of an object; nil deletes it.
	refuse func(client.Object) error
	// blind forbids to list Secrets, as the documented permissions do.
	blind bool
}

func newOffline(t *testing.T) *offline {
	t.Helper()
	s, err := scheme()
	if err != nil {
		t.Fatal(err)
	}
	o := &offline{calls: map[string]int{}, blind: true}
	o.machines = &machines{config: "harvester-prod", spec: v1alpha1.HarvesterSpec{Namespace: "default", NetworkName: "default/workloads"}}
	// The default tracker does not know the unsigned numbers of KubeVirt's types.
	tracker := clienttesting.NewObjectTracker(s, serializer.NewCodecFactory(s).UniversalDecoder())
	o.api = interceptor.NewClient(fake.NewClientBuilder().WithScheme(s).WithRESTMapper(mapper()).WithObjectTracker(tracker).Build(), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
			o.calls["get"]++
			switch into.(type) {
			case *unstructured.Unstructured, *storagev1.StorageClass: // every image, network and class exists
				return nil
			}
			return c.Get(ctx, key, into, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, into client.ObjectList, opts ...client.ListOption) error {
			o.calls["list"]++
			if _, secrets := into.(*corev1.SecretList); secrets && o.blind {
				return apierrors.NewForbidden(corev1.Resource("secrets"), "", fmt.Errorf("not granted"))
			}
			return c.List(ctx, into, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
			o.calls["delete"]++
			if o.refuse != nil {
				if err := o.refuse(object); err != nil {
					return err
				}
			}
			return c.Delete(ctx, object)
		},
	})
	return o
}

// fleet is a number of machines of one cluster, each in one of the states that it goes
// through: only a Secret and disks, no instance yet, running, being deleted.
func (o *offline) fleet(t *testing.T, n int) provider.Owner {
	t.Helper()
	owner := provider.Owner{ClusterID: uuid.NewString(), Cluster: "mgmt"}
	for i := range n {
		s := wanted(fmt.Sprintf("mgmt-%d", i), func(s *provider.MachineSpec) {
			s.Owner.ClusterID, s.Owner.Cluster = owner.ClusterID, owner.Cluster
		})
		made := o.combination(s, true)
		if i%4 == 0 {
			made.parts = made.parts[:len(made.parts)-1]
		}
		if i%4 == 2 {
			vmi := &kubevirtv1.VirtualMachineInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: s.Name, Labels: o.labels(s)}}
			vmi.Status.Phase = kubevirtv1.Running
			made.parts = append(made.parts, vmi)
		}
		for _, object := range made.parts {
			if i%4 == 3 {
				object.SetFinalizers([]string{"example.com/hold"})
			}
			if err := o.api.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			if i%4 == 3 {
				if err := o.api.Delete(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	clear(o.calls)
	return owner
}

func TestListCostsTheSameForOneMachineAndForMany(t *testing.T) {
	for _, n := range []int{1, 40} {
		for _, blind := range []bool{true, false} {
			o := newOffline(t)
			o.blind = blind
			owner := o.fleet(t, n)
			all, err := o.List(t.Context(), owner)
			if err != nil || len(all) != n {
				t.Fatalf("%d machines, %v", len(all), err)
			}
			if diff := cmp.Diff(map[string]int{"list": 4}, o.calls); diff != "" {
				t.Errorf("%d machines, blind %t: %s", n, blind, diff)
			}
			for _, m := range all {
				if want := map[provider.State]int{provider.StatePartial: 3}[m.State]; want != 0 && len(m.Parts) != want || want == 0 && len(m.Parts) != 4 {
					t.Errorf("blind %t: %s is %s with %v", blind, m.Ref.Name, m.State, m.Parts)
				}
			}
		}
	}
}

func TestListReportsAMissingDiskAndOneThatWaits(t *testing.T) {
	o := newOffline(t)
	for _, name := range []string{"whole", "without"} {
		made := o.combination(wanted(name), false)
		for _, object := range made.parts {
			if c, ok := object.(*corev1.PersistentVolumeClaim); ok {
				if c.Status.Phase = corev1.ClaimPending; name == "without" && c.Name == rootName(name) {
					continue
				}
			}
			if err := o.api.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}
		seen, err := o.Observe(t.Context(), made.spec.MachineRef)
		if err != nil {
			t.Fatal(err)
		}
		all, err := o.List(t.Context(), made.spec.Owner)
		if err != nil || len(all) != 1 || all[0].State != seen.State {
			t.Errorf("%s: listed %+v, observed %s (%s): %v", name, all, seen.State, seen.Message, err)
		}
	}
}

// TestCopiesOfAMachine has what Harvester's clone and restore leave beside a machine,
// under its own labels.
func TestCopiesOfAMachineAreListedAndKept(t *testing.T) {
	o := newOffline(t)
	made := o.combination(wanted("mgmt-cp-0"), true)
	var copies []client.Object
	for _, object := range made.parts {
		switch object := object.(type) {
		case *kubevirtv1.VirtualMachine:
			copies = append(copies, cloned(object, "forensic"))
		case *corev1.PersistentVolumeClaim:
			c := clonedDisk(object, "forensic", "root")
			c.Name = "restore-" + object.Name
			copies = append(copies, c)
		}
	}
	for _, object := range append(made.parts, copies...) {
		if err := o.api.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	want := []provider.Part{{Kind: "machine", Name: "forensic"}, {Kind: "disk", Name: "restore-mgmt-cp-0-disk-1"}, {Kind: "disk", Name: "restore-mgmt-cp-0-root"}}
	for _, exists := range []bool{true, false} {
		if !exists {
			remove(t, o, made.spec.MachineRef)
		}
		all, err := o.List(t.Context(), made.spec.Owner)
		if err != nil || len(all) != 1 || all[0].Ref != made.spec.MachineRef || (all[0].State == provider.StateAbsent) == exists {
			t.Fatalf("%+v, %v", all, err)
		}
		if diff := cmp.Diff(want, all[0].Copies); diff != "" {
			t.Error(diff)
		}
		if exists && len(all[0].Parts) != 4 || !exists && len(all[0].Parts) != 0 {
			t.Errorf("the parts are %v", all[0].Parts)
		}
	}
	for _, c := range copies {
		if err := o.api.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			t.Error(err)
		}
	}
}

// TestWhatADeletionReads has the reconciler's calls for a machine without a Secret: one
// pass for the VirtualMachine, one for the disks, one that sees nothing left.
func TestWhatADeletionReads(t *testing.T) {
	o := newOffline(t)
	made := o.combination(wanted("mgmt-cp-0"), false)
	vmi := &kubevirtv1.VirtualMachineInstance{ObjectMeta: o.meta("mgmt-cp-0")}
	vmi.Labels, vmi.Status.Phase = o.labels(made.spec), kubevirtv1.Running
	for _, object := range append(made.parts, vmi) {
		if err := o.api.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	clear(o.calls)
	remove(t, o, made.spec.MachineRef)
	if diff := cmp.Diff(map[string]int{"get": 4, "list": 2, "delete": 3}, o.calls); diff != "" {
		t.Error(diff)
	}
}

// TestWhatACreationReads has the reconciler's calls for a machine: Create, and Observe
// once it runs.
func TestWhatACreationReads(t *testing.T) {
	o := newOffline(t)
	s := wanted("mgmt-cp-0", func(s *provider.MachineSpec) { s.Image = "default/talos" })
	if _, err := o.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: o.meta(s.Name)}
	o.must(t, o.api.Get(t.Context(), client.ObjectKeyFromObject(vm), vm))
	o.must(t, o.api.Create(t.Context(), runningInstance(vm)))
	o.calls["get"]-- // of this test
	if seen, err := o.Observe(t.Context(), s.MachineRef); err != nil || seen.State != provider.StateRunning || seen.ID != string(vm.UID) {
		t.Fatalf("%+v, %v", seen, err)
	}
	if diff := cmp.Diff(map[string]int{"get": 5}, o.calls); diff != "" {
		t.Error(diff)
	}
}

// runningInstance is an instance that runs, with an address.
func runningInstance(vm *kubevirtv1.VirtualMachine) *kubevirtv1.VirtualMachineInstance {
	vmi := &kubevirtv1.VirtualMachineInstance{ObjectMeta: metav1.ObjectMeta{Namespace: vm.Namespace, Name: vm.Name, Labels: vm.Spec.Template.ObjectMeta.Labels}}
	vmi.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(vm, kubevirtv1.VirtualMachineGroupVersionKind)}
	vmi.Spec = vm.Spec.Template.Spec
	vmi.Status.Phase = kubevirtv1.Running
	vmi.Status.Interfaces = []kubevirtv1.VirtualMachineInstanceNetworkInterface{{Name: networkLabel, IP: "10.40.0.7"}}
	return vmi
}

func TestADiskThatIsAttachedElsewhereKeepsNothingElse(t *testing.T) {
	const said = `admission webhook "validator.harvesterhci.io" denied the request: can not delete the volume mgmt-cp-0-root which is currently attached to VMs: default/forensic`
	claims := schema.GroupResource{Resource: "persistentvolumeclaims"}
	for code, refusal := range map[string]error{
		"409": apierrors.NewConflict(claims, "mgmt-cp-0-root", fmt.Errorf("%s", said)),
		"422": &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 422, Reason: metav1.StatusReasonInvalid, Message: said}},
		"500": &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500, Reason: metav1.StatusReasonInternalError, Message: said}},
	} {
		t.Run(code, func(t *testing.T) {
			o := newOffline(t)
			o.blind = false
			made := o.combination(wanted("mgmt-cp-0"), true)
			for _, object := range made.parts[:len(made.parts)-1] {
				if err := o.api.Create(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
			o.refuse = func(object client.Object) error {
				if object.GetName() == "mgmt-cp-0-root" {
					return refusal
				}
				return nil
			}
			_, err := o.Delete(t.Context(), made.spec.MachineRef)
			if provider.KindOf(err) != provider.InUse || provider.ReasonOf(err) != "DeletionRefused" || !strings.Contains(err.Error(), said) {
				t.Errorf("%s %s: %v", provider.KindOf(err), provider.ReasonOf(err), err)
			}
			all, err := o.List(t.Context(), made.spec.Owner)
			if err != nil || len(all) != 1 || !cmp.Equal(all[0].Parts, []provider.Part{{Kind: "disk", Name: "mgmt-cp-0-root"}}) {
				t.Errorf("left: %+v, %v", all, err)
			}
		})
	}
}
