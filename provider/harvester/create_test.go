// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// onObjects is a driver on an API server that holds these objects, an image and the
// network; creating a VirtualMachine passes by admit first.
func onObjects(t *testing.T, admit func(*kubevirtv1.VirtualMachine) error, backend string, classes ...client.Object) *machines {
	t.Helper()
	s, err := scheme()
	if err != nil {
		t.Fatal(err)
	}
	image := unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"backend": backend}, "status": map[string]any{"storageClassName": "lh-image"},
	}}
	image.SetGroupVersionKind(imageKind())
	image.SetNamespace("default")
	image.SetName("talos")
	network := unstructured.Unstructured{Object: map[string]any{}}
	network.SetGroupVersionKind(networkKind())
	network.SetNamespace("default")
	network.SetName("workloads")
	api := fake.NewClientBuilder().WithScheme(s).WithRESTMapper(mapper()).WithObjects(append(classes, &image, &network)...).
		WithInterceptorFuncs(interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if vm, ok := o.(*kubevirtv1.VirtualMachine); ok && admit != nil {
				if err := admit(vm); err != nil {
					return err
				}
			}
			return c.Create(ctx, o, opts...)
		}}).Build()
	return &machines{api: api, config: "harvester-prod", spec: v1alpha1.HarvesterSpec{
		Namespace: "default", NetworkName: "default/workloads", ImageName: "default/talos",
	}}
}

func storageClass(name, provisioner string, annotations map[string]string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}, Provisioner: provisioner}
}

func TestDisksGetTheAccessModeOfTheirClass(t *testing.T) {
	m := onObjects(t, nil, "backingimage",
		storageClass("lh-image", provisionerLonghorn, nil), storageClass("lvm", provisionerLVM, nil),
		storageClass("other", "csi.example.com", map[string]string{defaultAnnotation: "true", modesAnnotation: `{"Block":["ReadWriteOnce"]}`}))
	s := wanted("a", func(s *provider.MachineSpec) {
		s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 1, StorageClass: "lvm"}, {SizeGB: 1}}
	})
	if _, err := m.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	claims := &corev1.PersistentVolumeClaimList{}
	if err := m.api.List(t.Context(), claims); err != nil {
		t.Fatal(err)
	}
	got := map[string]corev1.PersistentVolumeAccessMode{}
	for _, c := range claims.Items {
		got[c.Name] = c.Spec.AccessModes[0]
	}
	want := map[string]corev1.PersistentVolumeAccessMode{
		"a-root": corev1.ReadWriteMany, "a-disk-1": corev1.ReadWriteOnce, "a-disk-2": corev1.ReadWriteOnce,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAnImageOfCDIIsRefusedAndNothingIsCreated(t *testing.T) {
	m := onObjects(t, nil, "cdi", storageClass("lh-image", provisionerLVM, nil))
	_, err := m.Create(t.Context(), wanted("a"))
	if provider.KindOf(err) != provider.Invalid || provider.ReasonOf(err) != "ImageBackendUnsupported" || !strings.Contains(err.Error(), `"cdi"`) {
		t.Errorf("%v", err)
	}
	claims := &corev1.PersistentVolumeClaimList{}
	if err := m.api.List(t.Context(), claims); err != nil || len(claims.Items) > 0 {
		t.Errorf("%d disks, %v", len(claims.Items), err)
	}
	findings, err := preflight{m}.images(t.Context(), nil)
	if err != nil || len(findings) != 1 || findings[0].Verdict != provider.Refused {
		t.Errorf("the preflight says %+v, %v", findings, err)
	}
}

// oldKubeVirt refuses what KubeVirt before 1.1 does not know.
func oldKubeVirt(vm *kubevirtv1.VirtualMachine) error {
	if e := vm.Spec.Template.Spec.EvictionStrategy; e == nil || *e == kubevirtv1.EvictionStrategyLiveMigrate {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 422, Reason: metav1.StatusReasonInvalid,
		Message: `admission webhook "virtualmachine-validator.kubevirt.io" denied the request: spec.template.spec.evictionStrategy is set with an unrecognized option: LiveMigrateIfPossible`,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{
			Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.template.spec.evictionStrategy",
			Message: "spec.template.spec.evictionStrategy is set with an unrecognized option: LiveMigrateIfPossible",
		}}},
	}}
}

func TestAnOldKubeVirtGetsAnEvictionStrategyThatItKnows(t *testing.T) {
	for provisioner, want := range map[string]*kubevirtv1.EvictionStrategy{
		provisionerLonghorn: new(kubevirtv1.EvictionStrategyLiveMigrate), provisionerLVM: nil,
	} {
		m := onObjects(t, oldKubeVirt, "", storageClass("lh-image", provisioner, nil))
		s := wanted("a")
		if _, err := m.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		vm := &kubevirtv1.VirtualMachine{}
		if err := m.api.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, vm); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, vm.Spec.Template.Spec.EvictionStrategy); diff != "" {
			t.Errorf("%s (-want +got)\n%s", provisioner, diff)
		}
	}
}

func TestAnotherRefusalOfAMachineIsNotTriedAgain(t *testing.T) {
	tries := 0
	m := onObjects(t, func(*kubevirtv1.VirtualMachine) error {
		tries++
		return denial(500, metav1.StatusReasonInternalError, "no")
	}, "",
		storageClass("lh-image", provisionerLonghorn, nil))
	_, err := m.Create(t.Context(), wanted("a"))
	if e, ok := errors.AsType[*provider.Error](err); !ok || e.Reason != "PlatformRefused" || tries != 1 {
		t.Errorf("%d tries: %v", tries, err)
	}
}
