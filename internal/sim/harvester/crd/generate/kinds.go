// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// kinds are the resources to write, each with what its types do not say.
func kinds() map[string]func(*apiextensionsv1.CustomResourceDefinition) {
	return map[string]func(*apiextensionsv1.CustomResourceDefinition){
		"virtualmachineimages":    func(*apiextensionsv1.CustomResourceDefinition) {},
		"virtualmachines":         finishMachine,
		"virtualmachineinstances": finishInstance,
	}
}

func finishMachine(d *apiextensionsv1.CustomResourceDefinition) {
	setNames(d, "vm", "vms")
	v := &d.Spec.Versions[0]
	v.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	v.AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{
		{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
		{Name: "Status", Type: "string", JSONPath: ".status.printableStatus"},
		{Name: "Ready", Type: "string", JSONPath: ".status.conditions[?(@.type=='Ready')].status"},
	}
}

// finishInstance adds no status subresource: KubeVirt has none for instances.
func finishInstance(d *apiextensionsv1.CustomResourceDefinition) {
	setNames(d, "vmi", "vmis")
	d.Spec.Versions[0].AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{
		{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
		{Name: "Phase", Type: "string", JSONPath: ".status.phase"},
		{Name: "IP", Type: "string", JSONPath: ".status.interfaces[0].ipAddress"},
		{Name: "NodeName", Type: "string", JSONPath: ".status.nodeName"},
		{Name: "Ready", Type: "string", JSONPath: ".status.conditions[?(@.type=='Ready')].status"},
	}
}

func setNames(d *apiextensionsv1.CustomResourceDefinition, short ...string) {
	d.Spec.Names.ShortNames = short
	d.Spec.Names.Categories = []string{"all"}
}
