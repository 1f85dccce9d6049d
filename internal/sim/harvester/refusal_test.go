// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
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

const (
	deniedByHarvester = `admission webhook "mutator.harvesterhci.io" denied the request: `
	invalidHarvester  = `admission webhook "validator.harvesterhci.io" denied the request: `
	deniedByKubeVirt  = `admission webhook "virtualmachines-mutator.kubevirt.io" denied the request: `
	invalidKubeVirt   = `admission webhook "virtualmachine-validator.kubevirt.io" denied the request: `
)

// refused demands a refusal with exactly this code, reason and text; without a text,
// none.
func refused(t *testing.T, err error, code int32, reason metav1.StatusReason, message string) {
	t.Helper()
	status, answered := errors.AsType[*apierrors.StatusError](err)
	switch {
	case message == "" && err != nil:
		t.Errorf("refused: %v", err)
	case message != "" && !answered:
		t.Errorf("got %v, want a refusal", err)
	case message != "":
		got := status.Status()
		want := metav1.Status{Code: code, Reason: reason, Message: message}
		if diff := cmp.Diff(want, metav1.Status{Code: got.Code, Reason: got.Reason, Message: got.Message}); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestRefusedMachines(t *testing.T) {
	inline := func(vm *kubevirtv1.VirtualMachine) *kubevirtv1.CloudInitNoCloudSource {
		return vm.Spec.Template.Spec.Volumes[1].CloudInitNoCloud
	}
	devices := func(vm *kubevirtv1.VirtualMachine) *kubevirtv1.Devices { return &vm.Spec.Template.Spec.Domain.Devices }
	const (
		volume  = "spec.template.spec.volumes[1].cloudInitNoCloud"
		tooLong = volume + " userdata exceeds 2048 byte limit. Should use UserDataSecretRef for larger data."
	)
	tests := map[string]struct {
		spoil   func(*kubevirtv1.VirtualMachine)
		message string // of virtualmachine-validator.kubevirt.io; empty: accepted
	}{
		"as it should be":              {func(*kubevirtv1.VirtualMachine) {}, ""},
		"2,048 bytes of user data":     {func(vm *kubevirtv1.VirtualMachine) { inline(vm).UserData = strings.Repeat("x", 2048) }, ""},
		"2,049 bytes of user data":     {func(vm *kubevirtv1.VirtualMachine) { inline(vm).UserData = strings.Repeat("x", 2049) }, tooLong},
		"2,049 bytes in fewer letters": {func(vm *kubevirtv1.VirtualMachine) { inline(vm).UserData = strings.Repeat("é", 1025) }, tooLong},
		"2,048 bytes in base64":        {encoded(2048), ""},
		"2,049 bytes in base64":        {encoded(2049), tooLong},
		"2,049 bytes of network data": {func(vm *kubevirtv1.VirtualMachine) { inline(vm).NetworkData = strings.Repeat("x", 2049) },
			volume + " networkdata exceeds 2048 byte limit. Should use NetworkDataSecretRef for larger data."},
		"user data that is not base64": {func(vm *kubevirtv1.VirtualMachine) {
			inline(vm).UserData, inline(vm).UserDataBase64 = "", "#user-data"
		}, volume + ".userDataBase64.cloudInitNoCloud.userDataBase64 is not a valid base64 value."},
		"two sources of user data": {func(vm *kubevirtv1.VirtualMachine) { inline(vm).UserDataBase64 = "eA==" },
			volume + " must have only one userdatasource set."},
		"two sources of network data": {func(vm *kubevirtv1.VirtualMachine) {
			inline(vm).NetworkData, inline(vm).NetworkDataBase64 = "x", "eA=="
		}, volume + " must have only one networkdata source set."},
		"empty cloud-init": {func(vm *kubevirtv1.VirtualMachine) { inline(vm).UserData = "" },
			volume + " must have at least one userdatasource or one networkdatasource set."},
		"no run strategy": {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.RunStrategy = nil }, "RunStrategy must be specified"},
		"running and run strategy": {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Running = new(bool) },
			"Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy instead"},
		"unknown run strategy": {func(vm *kubevirtv1.VirtualMachine) { *vm.Spec.RunStrategy = "Often" }, "Invalid RunStrategy (Often)"},
		"disk without volume": {func(vm *kubevirtv1.VirtualMachine) { devices(vm).Disks[0].Name = "other" },
			"spec.template.spec.domain.devices.disks[0].Name 'other' not found."},
		"volume without disk": {func(vm *kubevirtv1.VirtualMachine) { devices(vm).Disks = devices(vm).Disks[:1] }, ""},
		"no network": {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template.Spec.Networks = nil },
			"spec.template.spec.domain.devices.interfaces[0].name 'nic-0' not found."},
		"network without interface": {func(vm *kubevirtv1.VirtualMachine) { devices(vm).Interfaces = nil },
			"spec.template.spec.networks[0].name 'nic-0' not found."},
		"malformed hardware address": {func(vm *kubevirtv1.VirtualMachine) { devices(vm).Interfaces[0].MacAddress = "zz" },
			"interface spec.template.spec.domain.devices.interfaces[0].name has malformed MAC address (zz)."},
		"hostname of 63 characters": {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template.Spec.Hostname = strings.Repeat("h", 63) }, ""},
		"hostname of 64 characters": {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template.Spec.Hostname = strings.Repeat("h", 64) },
			"spec.template.spec.hostname does not conform to the kubernetes DNS_LABEL rules : must be no more than 63 characters"},
		"two causes": {func(vm *kubevirtv1.VirtualMachine) { inline(vm).UserData, vm.Spec.RunStrategy = "", nil },
			volume + " must have at least one userdatasource or one networkdatasource set., RunStrategy must be specified"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			vm := machine("refused", "none")
			tt.spoil(vm)
			if tt.message != "" {
				tt.message = invalidKubeVirt + tt.message
			}
			refused(t, shared.limited.Create(t.Context(), vm, client.DryRunAll), 422, metav1.StatusReasonInvalid, tt.message)
		})
	}
}

func TestMachinesThatOtherWebhooksRefuse(t *testing.T) {
	on := func(network string) func(*kubevirtv1.VirtualMachine) {
		return func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template.Spec.Networks[0].Multus.NetworkName = network }
	}
	const missing = deniedByHarvester + `network-attachment-definitions.k8s.cni.cncf.io "nope" not found`
	for name, tt := range map[string]struct {
		spoil   func(*kubevirtv1.VirtualMachine)
		code    int32
		reason  metav1.StatusReason
		message string
	}{
		"network of another namespace": {on("team/vlan-77"), 0, "", ""},
		"network that does not exist":  {on("default/nope"), 500, metav1.StatusReasonInternalError, missing},
		"nor in the own namespace":     {on("nope"), 500, metav1.StatusReasonInternalError, missing},
		"name of three words":          {on("a/b/c"), 500, metav1.StatusReasonInternalError, deniedByHarvester + "invalid network name a/b/c"},
		"no template": {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template = nil }, 422, metav1.StatusReasonInvalid,
			deniedByKubeVirt + "spec.template in body is required"},
		"no memory": {func(vm *kubevirtv1.VirtualMachine) { vm.Spec.Template.Spec.Domain.Memory = nil }, 422, metav1.StatusReasonInvalid,
			invalidHarvester + "either memory.guest or resources.limits.memory must be set"},
	} {
		t.Run(name, func(t *testing.T) {
			vm := machine("refused", "none")
			tt.spoil(vm)
			refused(t, shared.limited.Create(t.Context(), vm, client.DryRunAll), tt.code, tt.reason, tt.message)
		})
	}
}

func TestRequestsAboveTheLimitAreReplacedAndLaterRefused(t *testing.T) {
	vm := machine("greedy", "none")
	halted := kubevirtv1.RunStrategyHalted
	vm.Spec.RunStrategy = &halted
	vm.Spec.Template.Spec.Domain.Resources = kubevirtv1.ResourceRequirements{
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi")},
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5"), corev1.ResourceMemory: resource.MustParse("9Gi")},
	}
	create(t, shared.limited, vm)
	const at = invalidKubeVirt + "spec.template.spec.domain.resources."
	for request, message := range map[string]string{
		`{"cpu":"5"}`:      at + "requests.cpu '5' is greater than spec.template.spec.domain.resources.limits.cpu '4'",
		`{"memory":"9Gi"}`: at + "requests.memory '9Gi' is greater than spec.template.spec.domain.resources.limits.memory '8Gi'",
		`{"cpu":"1"}`:      "",
	} {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"template":{"spec":{"domain":{"resources":{"requests":`+request+`}}}}}}`))
		refused(t, shared.admin.Patch(t.Context(), vm.DeepCopy(), patch, client.DryRunAll), 422, metav1.StatusReasonInvalid, message)
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
	refused(t, shared.admin.Create(t.Context(), object(map[string]any{"domain": domain("two")}), client.DryRunAll), 500, metav1.StatusReasonInternalError,
		deniedByHarvester+"json: cannot unmarshal string into Go struct field VirtualMachineInstanceTemplateSpec.spec.template.spec.domain.cpu.cores of type uint32")
	// A patch of Harvester's webhook has no place in it.
	if err := shared.admin.Create(t.Context(), object(map[string]any{"volumes": []any{}}), client.DryRunAll); !apierrors.IsInternalError(err) {
		t.Errorf("no domain: %v", err)
	}
	for name, template := range map[string]map[string]any{
		"no devices":        {"domain": map[string]any{"memory": map[string]any{"guest": "1Gi"}}},
		"volume of no name": {"domain": domain(int64(2)), "volumes": []any{map[string]any{"persistentVolumeClaim": map[string]any{"claimName": "x"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := shared.admin.Create(t.Context(), object(template), client.DryRunAll); !apierrors.IsInvalid(err) {
				t.Errorf("got %v", err)
			}
		})
	}
	coloured := map[string]any{"domain": domain(int64(2)), "colour": "red"}
	refused(t, shared.admin.Create(t.Context(), object(coloured), client.DryRunAll, client.FieldValidation("Strict")), 400, metav1.StatusReasonBadRequest,
		`VirtualMachine in version "v1" cannot be handled as a VirtualMachine: strict decoding error: unknown field "spec.template.spec.colour"`)
	vm := object(coloured)
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

func TestImageOfCDIHasTheClassOfItsTargetAndKeepsIt(t *testing.T) {
	i := image("kept-by-cdi")
	i.Spec.Backend, i.Spec.TargetStorageClassName = "cdi", "fast"
	create(t, shared.admin, i)
	eventually(t, "import", func() error {
		if err := shared.limited.Get(t.Context(), client.ObjectKeyFromObject(i), i); err != nil {
			return err
		}
		if i.Status.StorageClassName != "fast" || i.Status.Progress != 100 {
			return fmt.Errorf("status %+v", i.Status)
		}
		return nil
	})
	vm := machine("from-cdi", "from-cdi-root")
	create(t, shared.limited, claim("from-cdi-root", "fast", "default/kept-by-cdi"), vm)
	instance(t, shared.limited, "from-cdi", isRunning)
	if _, boots := shared.booted("from-cdi"); boots != 0 {
		t.Error("a plain claim has the content of an image that CDI keeps")
	}
	if err := shared.admin.Delete(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	gone(t, shared.admin, i)
	if err := shared.limited.Get(t.Context(), client.ObjectKey{Name: "fast"}, &storagev1.StorageClass{}); err != nil {
		t.Errorf("class of other volumes: %v", err)
	}
}
