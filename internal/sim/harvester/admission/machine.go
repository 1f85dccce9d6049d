// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubevirtv1 "kubevirt.io/api/core/v1"
)

const notFound = "%s '%s' not found."

// machineValidator refuses a VirtualMachine that virt-api refuses.
func machineValidator(v review) error {
	if v.vm.Spec.Template == nil {
		return nil // refused by the mutator
	}
	at, spec := field.NewPath("spec", "template", "spec"), &v.vm.Spec.Template.Spec
	return invalid(slices.Concat(
		hostnameCauses(at, spec), requestCauses(at, spec.Domain.Resources), diskCauses(at, spec),
		interfaceCauses(at, spec), networkCauses(at, spec), cloudInitCauses(at, spec.Volumes), strategyCauses(v.vm.Spec),
	)...)
}

func hostnameCauses(at *field.Path, spec *kubevirtv1.VirtualMachineInstanceSpec) []metav1.StatusCause {
	problems := validation.IsDNS1123Label(spec.Hostname)
	if spec.Hostname == "" || len(problems) == 0 {
		return nil
	}
	where := at.Child("hostname").String()
	return []metav1.StatusCause{wrong(where, fmt.Sprintf("%s does not conform to the kubernetes DNS_LABEL rules : %s", where, strings.Join(problems, ", ")))}
}

func requestCauses(at *field.Path, r kubevirtv1.ResourceRequirements) (causes []metav1.StatusCause) {
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceCPU} {
		request, limit := r.Requests[name], r.Limits[name]
		if limit.IsZero() || request.Cmp(limit) <= 0 {
			continue
		}
		where := at.Child("domain", "resources", "requests", string(name)).String()
		causes = append(causes, wrong(where, fmt.Sprintf("%s '%s' is greater than %s '%s'",
			where, &request, at.Child("domain", "resources", "limits", string(name)), &limit)))
	}
	return causes
}

func diskCauses(at *field.Path, spec *kubevirtv1.VirtualMachineInstanceSpec) (causes []metav1.StatusCause) {
	for i, d := range spec.Domain.Devices.Disks {
		if !slices.ContainsFunc(spec.Volumes, func(v kubevirtv1.Volume) bool { return v.Name == d.Name }) {
			disk := at.Child("domain", "devices", "disks").Index(i)
			causes = append(causes, wrong(disk.Child("name").String(), fmt.Sprintf(notFound, disk.Child("Name"), d.Name)))
		}
	}
	return causes
}

func interfaceCauses(at *field.Path, spec *kubevirtv1.VirtualMachineInstanceSpec) (causes []metav1.StatusCause) {
	for i, nic := range spec.Domain.Devices.Interfaces {
		at := at.Child("domain", "devices", "interfaces").Index(i)
		name := at.Child("name").String()
		if !slices.ContainsFunc(spec.Networks, func(n kubevirtv1.Network) bool { return n.Name == nic.Name }) {
			causes = append(causes, wrong(name, fmt.Sprintf(notFound, name, nic.Name)))
		}
		if _, err := net.ParseMAC(nic.MacAddress); err != nil && nic.MacAddress != "" {
			causes = append(causes, wrong(at.Child("macAddress").String(), fmt.Sprintf("interface %s has malformed MAC address (%s).", name, nic.MacAddress)))
		}
	}
	return causes
}

func networkCauses(at *field.Path, spec *kubevirtv1.VirtualMachineInstanceSpec) (causes []metav1.StatusCause) {
	for i, n := range spec.Networks {
		if !slices.ContainsFunc(spec.Domain.Devices.Interfaces, func(i kubevirtv1.Interface) bool { return i.Name == n.Name }) {
			where := at.Child("networks").Index(i).Child("name").String()
			causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeFieldValueRequired, Field: where, Message: fmt.Sprintf(notFound, where, n.Name)})
		}
	}
	return causes
}

func strategyCauses(spec kubevirtv1.VirtualMachineSpec) []metav1.StatusCause {
	known := []kubevirtv1.VirtualMachineRunStrategy{
		kubevirtv1.RunStrategyHalted, kubevirtv1.RunStrategyManual, kubevirtv1.RunStrategyAlways,
		kubevirtv1.RunStrategyRerunOnFailure, kubevirtv1.RunStrategyOnce,
	}
	switch {
	case spec.Running != nil && spec.RunStrategy != nil:
		return []metav1.StatusCause{wrong("spec.running",
			"Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy instead")}
	case spec.Running == nil && spec.RunStrategy == nil:
		return []metav1.StatusCause{wrong("spec.running", "RunStrategy must be specified")}
	case spec.RunStrategy != nil && !slices.Contains(known, *spec.RunStrategy):
		return []metav1.StatusCause{wrong("spec.runStrategy", fmt.Sprintf("Invalid RunStrategy (%s)", *spec.RunStrategy))}
	}
	return nil
}
