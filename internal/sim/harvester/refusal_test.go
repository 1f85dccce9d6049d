// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"encoding/base64"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/harvester"
	harvesterv1beta1 "github.com/butlerdotdev/butler/internal/sim/harvester/harvesterhci/v1beta1"
)

func attachment(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"config": "{}"}}}
	u.SetAPIVersion("k8s.cni.cncf.io/v1")
	u.SetKind("NetworkAttachmentDefinition")
	u.SetNamespace("default")
	u.SetName(name)
	return u
}

func TestRefusedMachines(t *testing.T) {
	inline := func(vm *kubevirtv1.VirtualMachine) *kubevirtv1.CloudInitNoCloudSource {
		return vm.Spec.Template.Spec.Volumes[1].CloudInitNoCloud
	}
	tests := map[string]struct {
		spoil   func(*kubevirtv1.VirtualMachine)
		message string // empty: accepted
	}{
		"as it should be":              {func(*kubevirtv1.VirtualMachine) {}, ""},
		"2,048 bytes of user data":     {func(vm *kubevirtv1.VirtualMachine) { inline(vm).UserData = strings.Repeat("x", 2048) }, ""},
		"2,049 bytes of user data":     {func(vm *kubevirtv1.VirtualMachine) { inline(vm).UserData = strings.Repeat("x", 2049) }, "2048 bytes"},
		"2,049 bytes in fewer letters": {func(vm *kubevirtv1.VirtualMachine) { inline(vm).UserData = strings.Repeat("é", 1025) }, "2048 bytes"},
		"2,048 bytes in base64":        {encoded(2048), ""},
		"2,049 bytes in base64":        {encoded(2049), "2048 bytes"},
		"2,049 bytes of network data":  {func(vm *kubevirtv1.VirtualMachine) { inline(vm).NetworkData = strings.Repeat("x", 2049) }, "2048 bytes"},
		"user data that is not base64": {func(vm *kubevirtv1.VirtualMachine) {
			inline(vm).UserData, inline(vm).UserDataBase64 = "", "#user-data"
		}, "must be base64"},
		"two sources of user data":  {func(vm *kubevirtv1.VirtualMachine) { inline(vm).UserDataBase64 = "eA==" }, "one source"},
		"no data":                   {func(vm *kubevirtv1.VirtualMachine) { inline(vm).UserData = "" }, "needs user data"},
		"no memory":                 {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template.Spec.Domain.Memory = nil }, "memory.guest"},
		"no run strategy":           {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.RunStrategy = nil }, "runStrategy"},
		"running and run strategy":  {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Running = new(bool) }, "runStrategy"},
		"unknown run strategy":      {func(vm *kubevirtv1.VirtualMachine) { *vm.Spec.RunStrategy = "Often" }, "runStrategy"},
		"disk without volume":       {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template.Spec.Domain.Devices.Disks[0].Name = "other" }, "volume"},
		"volume without disk":       {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template.Spec.Domain.Devices.Disks = nil }, "volume"},
		"interface without network": {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template.Spec.Networks = nil }, "network"},
		"network without interface": {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template.Spec.Domain.Devices.Interfaces = nil }, "network"},
		"no template":               {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template = nil }, "spec.template"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			vm := machine("refused", "none")
			tt.spoil(vm)
			err := shared.limited.Create(t.Context(), vm, client.DryRunAll)
			switch {
			case tt.message == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.message != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tt.message)):
				t.Errorf("got %v, want Invalid with %q", err, tt.message)
			}
		})
	}
}

func encoded(bytes int) func(*kubevirtv1.VirtualMachine) {
	return func(vm *kubevirtv1.VirtualMachine) {
		vm.Spec.Template.Spec.Volumes[1].CloudInitNoCloud = &kubevirtv1.CloudInitNoCloudSource{
			UserDataBase64: base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", bytes))),
		}
	}
}

func TestSchemaRefusesWrongTypesAndPrunesUnknownFields(t *testing.T) {
	object := func(template map[string]any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"runStrategy": "Halted", "template": map[string]any{"spec": template}}}}
		u.SetAPIVersion("kubevirt.io/v1")
		u.SetKind("VirtualMachine")
		u.SetNamespace("default")
		u.SetName("schema")
		return u
	}
	domain := func(cores any) map[string]any {
		return map[string]any{"cpu": map[string]any{"cores": cores}, "devices": map[string]any{}, "memory": map[string]any{"guest": "1Gi"}}
	}
	for name, template := range map[string]map[string]any{
		"text for a number": {"domain": domain("two")},
		"no domain":         {"volumes": []any{}},
		"no devices":        {"domain": map[string]any{"memory": map[string]any{"guest": "1Gi"}}},
		"volume of no name": {"domain": domain(int64(2)), "volumes": []any{map[string]any{"persistentVolumeClaim": map[string]any{"claimName": "x"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := shared.admin.Create(t.Context(), object(template), client.DryRunAll); !apierrors.IsInvalid(err) {
				t.Errorf("got %v", err)
			}
		})
	}
	vm := object(map[string]any{"domain": domain(int64(2)), "colour": "red"})
	if err := shared.admin.Create(t.Context(), vm, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	if colour, found, _ := unstructured.NestedString(vm.Object, "spec", "template", "spec", "colour"); found {
		t.Errorf("an unknown field was kept: %s", colour)
	}
}

func TestLimitedUserMayDoWhatIsDocumented(t *testing.T) {
	type access struct{ group, resource, verbs string }
	documented := []access{
		{"kubevirt.io", "virtualmachines", "create get list watch delete"},
		{"kubevirt.io", "virtualmachineinstances", "get list watch"},
		{"", "persistentvolumeclaims", "create get list watch delete"},
		{"", "secrets", "get"},
	}
	recommended := []access{
		{"harvesterhci.io", "virtualmachineimages", "get list watch"},
		{"k8s.cni.cncf.io", "network-attachment-definitions", "get list watch"},
		{"storage.k8s.io", "storageclasses", "get list watch"},
		{"", "secrets", "create delete"},
	}
	forbidden := []access{
		{"kubevirt.io", "virtualmachines", "update patch deletecollection"},
		{"kubevirt.io", "virtualmachineinstances", "create update patch delete"},
		{"", "persistentvolumeclaims", "update patch"},
		{"", "secrets", "list watch update patch"},
		{"", "pods", "get list"},
		{"", "nodes", "get list"},
		{"harvesterhci.io", "virtualmachineimages", "create delete"},
	}
	check := func(t *testing.T, want bool, all []access) {
		t.Helper()
		for _, a := range all {
			for verb := range strings.FieldsSeq(a.verbs) {
				if got := allowed(t, a.group, a.resource, verb); got != want {
					t.Errorf("%s %s.%s: %v", verb, a.resource, a.group, got)
				}
			}
		}
	}
	check(t, true, documented)
	check(t, true, recommended)
	check(t, false, forbidden)

	withdrawn := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: harvester.RecommendedRole}}
	if err := shared.admin.Get(t.Context(), client.ObjectKeyFromObject(withdrawn), withdrawn); err != nil {
		t.Fatal(err)
	}
	if err := shared.admin.Delete(t.Context(), withdrawn.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		withdrawn.ResourceVersion = ""
		if err := shared.admin.Create(t.Context(), withdrawn); err != nil {
			t.Error(err)
		}
		// The tests that follow have these rights.
		eventually(t, "return of the rights", func() error { return shared.limited.List(t.Context(), &storagev1.StorageClassList{}) })
	}()
	eventually(t, "withdrawal", func() error {
		err := shared.limited.List(t.Context(), &storagev1.StorageClassList{})
		if !apierrors.IsForbidden(err) {
			return apierrors.NewBadRequest("still allowed")
		}
		return nil
	})
	check(t, true, documented)
	check(t, false, recommended)
}

func allowed(t *testing.T, group, resource, verb string) bool {
	t.Helper()
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Group: group, Resource: resource, Verb: verb},
	}}
	if err := shared.limited.Create(t.Context(), review); err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}

func TestForbiddenVerbIsForbidden(t *testing.T) {
	if err := shared.limited.List(t.Context(), &corev1.PodList{}); !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}

func TestSeeds(t *testing.T) {
	for name, class := range map[string]string{"default/image-5rs6d": "longhorn-image-5rs6d", "default/talos-v1.9.2": "lh-", "team/custom": "lh-"} {
		ns, n, _ := strings.Cut(name, "/")
		i := &harvesterv1beta1.VirtualMachineImage{}
		if err := shared.limited.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: n}, i); err != nil {
			t.Fatal(err)
		}
		if i.Status.Progress != 100 || !strings.HasPrefix(i.Status.StorageClassName, class) {
			t.Errorf("%s: %+v", name, i.Status)
		}
		sc := &storagev1.StorageClass{}
		if err := shared.limited.Get(t.Context(), client.ObjectKey{Name: i.Status.StorageClassName}, sc); err != nil || sc.Parameters["backingImage"] == "" {
			t.Errorf("%s: %+v, %v", name, sc, err)
		}
	}
	for name, vlan := range map[string]string{"default/workloads": "1", "default/vlan40-workloads": "40", "team/vlan-77": "77"} {
		ns, n, _ := strings.Cut(name, "/")
		u := attachment(n)
		if err := shared.limited.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: n}, u); err != nil {
			t.Fatal(err)
		}
		config, _, _ := unstructured.NestedString(u.Object, "spec", "config")
		if !strings.Contains(config, `"vlan":`+vlan+`}`) && !strings.Contains(config, `"vlan":`+vlan+`,`) {
			t.Errorf("%s: %s", name, config)
		}
	}
	for _, name := range []string{"longhorn", "harvester-longhorn", "fast"} {
		if err := shared.limited.Get(t.Context(), client.ObjectKey{Name: name}, &storagev1.StorageClass{}); err != nil {
			t.Error(err)
		}
	}
}

func TestClaimWithoutClassGetsTheDefault(t *testing.T) {
	pvc := claim("default-class", "", "")
	pvc.Spec.StorageClassName = nil
	create(t, shared.limited, pvc)
	bound(t, pvc)
	if *pvc.Spec.StorageClassName != "harvester-longhorn" {
		t.Errorf("class %s", *pvc.Spec.StorageClassName)
	}
}

func TestImageOfTheAdministratorGetsItsClassAndLosesIt(t *testing.T) {
	i := image("uploaded")
	create(t, shared.admin, i)
	eventually(t, "import", func() error {
		if err := shared.limited.Get(t.Context(), client.ObjectKeyFromObject(i), i); err != nil {
			return err
		}
		if i.Status.StorageClassName != "lh-"+string(i.UID) {
			return apierrors.NewBadRequest(i.Status.StorageClassName)
		}
		return nil
	})
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: i.Status.StorageClassName}}
	if err := shared.limited.Get(t.Context(), client.ObjectKeyFromObject(class), class); err != nil {
		t.Fatal(err)
	}
	if err := shared.admin.Delete(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	gone(t, shared.admin, i, class)
}
