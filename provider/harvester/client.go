// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kinds that are read without their Go types.
func imageKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "harvesterhci.io", Version: "v1beta1", Kind: "VirtualMachineImage"}
}

func networkKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "NetworkAttachmentDefinition"}
}

// newClient returns a client and a function that gives its connections up.
func newClient(config *rest.Config) (client.WithWatch, func(), error) {
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, err
	}
	s, err := scheme()
	if err != nil {
		return nil, nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{HTTPClient: h, Scheme: s, Mapper: mapper()})
	return c, func() { utilnet.CloseIdleConnectionsFor(h.Transport) }, err
}

func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		authorizationv1.AddToScheme, corev1.AddToScheme, storagev1.AddToScheme, kubevirtv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// mapper knows the few resources that are used, so that nothing is discovered.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"VirtualMachine", "VirtualMachineInstance"} {
		m.Add(kubevirtv1.GroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	for _, kind := range []string{"PersistentVolumeClaim", "Pod", "Secret"} {
		m.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	m.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	m.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	m.Add(authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"), meta.RESTScopeRoot)
	m.Add(storagev1.SchemeGroupVersion.WithKind("StorageClass"), meta.RESTScopeRoot)
	m.Add(imageKind(), meta.RESTScopeNamespace)
	n := networkKind().GroupVersion()
	m.AddSpecific(networkKind(), n.WithResource("network-attachment-definitions"),
		n.WithResource("network-attachment-definition"), meta.RESTScopeNamespace)
	return m
}
