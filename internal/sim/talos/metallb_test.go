// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// balanced expects a Service of type LoadBalancer to get an address once MetalLB's
// controller runs and has a pool.
func balanced(t *testing.T, access *rest.Config, client *kubernetes.Clientset) {
	services := client.CoreV1().Services("default")
	_, err := services.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "balanced"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 443}}},
	}, metav1.CreateOptions{})
	check(t, err)
	template := podTemplate("metallb", "")
	template.Spec.Containers[0].Image = "quay.io/metallb/controller:v0.14.9"
	_, err = client.CoreV1().Pods("default").Create(t.Context(),
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "metallb", Labels: template.Labels}, Spec: template.Spec}, metav1.CreateOptions{})
	check(t, err)
	createPool(t, access)
	var service *corev1.Service
	eventually(t, func(ctx context.Context) bool {
		service, err = services.Get(ctx, "balanced", metav1.GetOptions{})
		return err == nil && len(service.Status.LoadBalancer.Ingress) == 1
	}, func() any { return fmt.Sprint(service, err) })
	if got := service.Status.LoadBalancer.Ingress[0].IP; got != "10.40.0.210" {
		t.Errorf("address %s", got)
	}
}

func createPool(t *testing.T, access *rest.Config) {
	t.Helper()
	definitions, err := apiextensions.NewForConfig(access)
	check(t, err)
	_, err = definitions.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "ipaddresspools.metallb.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "metallb.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "ipaddresspools", Kind: "IPAddressPool"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1beta1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: new(true),
				}},
			}},
		},
	}, metav1.CreateOptions{})
	check(t, err)
	client, err := dynamic.NewForConfig(access)
	check(t, err)
	pools := client.Resource(schema.GroupVersionResource{Group: "metallb.io", Version: "v1beta1", Resource: "ipaddresspools"}).Namespace("default")
	pool := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "metallb.io/v1beta1", "kind": "IPAddressPool", "metadata": map[string]any{"name": "default"},
		"spec": map[string]any{"addresses": []any{"10.40.0.210-10.40.0.220"}},
	}}
	eventually(t, func(ctx context.Context) bool {
		_, err = pools.Create(ctx, pool, metav1.CreateOptions{})
		return err == nil
	}, func() any { return err })
}
