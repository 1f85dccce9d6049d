// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func kubevirtKind() kind {
	return kind{
		name: "kubevirt", prefix: "Kubevirt", version: "v1alpha1", setsNode: true,
		cluster: func(context.Context, *scope) error {
			return errors.New("the provider would create a Service on the infrastructure cluster and take its address for the endpoint, " +
				"which the rehearsal does not play; annotate the KubevirtCluster with cluster.x-k8s.io/managed-by")
		},
		connect: connectKubevirt,
	}
}

// kubevirtPlatform has VirtualMachines on the cluster of a kubeconfig.
type kubevirtPlatform struct {
	client.Client
	namespace string
	// volume returns the cloud-init volume for a Secret of user data.
	volume func(secret string) map[string]any
}

func connectKubevirt(ctx context.Context, s *scope) (platform, error) {
	ref, _ := s.field("spec", "infraClusterSecretRef").(map[string]any)
	if ref == nil {
		return nil, errors.New("spec.infraClusterSecretRef is not set: the management cluster itself runs no KubeVirt")
	}
	data, err := s.secret(ctx, textOf(ref, "namespace"), textOf(ref, "name"))
	if err != nil {
		return nil, fmt.Errorf("credentials of the infrastructure cluster: %w", err)
	}
	c, err := clientFor(data["kubeconfig"])
	if err != nil {
		return nil, err
	}
	return &kubevirtPlatform{Client: c, namespace: string(data["namespace"]), volume: func(secret string) map[string]any {
		return map[string]any{"cloudInitConfigDrive": map[string]any{"secretRef": map[string]any{"name": secret}}}
	}}, nil
}

func clientFor(kubeconfig []byte) (client.Client, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the infrastructure cluster: %w", err)
	}
	config.UserAgent = "cluster-api-provider-kubevirt"
	config.ContentType = "application/json" // the simulated platform reads what is written
	return client.New(config, client.Options{})
}

const cloudInit = "cloudinitvolume"

func virtualMachine(what string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("kubevirt.io/v1")
	u.SetKind(what)
	return u
}

func (p *kubevirtPlatform) key(o order) client.ObjectKey {
	namespace := textOf(o.spec, "virtualMachineTemplate", "metadata", "namespace")
	if namespace == "" {
		namespace = p.namespace
	}
	if namespace == "" {
		namespace = o.object.GetNamespace()
	}
	return client.ObjectKey{Namespace: namespace, Name: o.name}
}

func (p *kubevirtPlatform) ensure(ctx context.Context, o order) (instance, error) {
	key := p.key(o)
	vm := virtualMachine("VirtualMachine")
	err := p.Get(ctx, key, vm)
	if apierrors.IsNotFound(err) {
		return instance{message: "the VirtualMachine is being created"}, p.create(ctx, key, o)
	}
	if err != nil {
		return instance{}, fmt.Errorf("get VirtualMachine %s: %w", key, err)
	}
	vmi := virtualMachine("VirtualMachineInstance")
	if err := p.Get(ctx, key, vmi); err != nil {
		return instance{message: "the VirtualMachine has no instance"}, client.IgnoreNotFound(err)
	}
	m := instance{providerID: "kubevirt://" + o.name, message: textOf(vmi.Object, "status", "phase")}
	for _, i := range nested(vmi.Object, "status", "interfaces") {
		if address := textOf(i, "ipAddress"); address != "" {
			m.addresses = append(m.addresses, address)
		}
	}
	m.running = m.message == "Running" && len(m.addresses) > 0
	return m, nil
}

func nested(o map[string]any, path ...string) (out []map[string]any) {
	all, _, _ := unstructured.NestedSlice(o, path...)
	for _, one := range all {
		if m, ok := one.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// create writes the user data, then the VirtualMachine, which owns them.
func (p *kubevirtPlatform) create(ctx context.Context, key client.ObjectKey, o order) error {
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name + "-userdata"},
		Data:       map[string][]byte{"userdata": o.userData},
	}
	if err := p.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create Secret %s: %w", secret.Name, err)
	}
	vm := p.build(key, o, secret.Name)
	if err := p.Create(ctx, vm); err != nil {
		return fmt.Errorf("create VirtualMachine %s: %w", key, err)
	}
	return nil
}

// build completes the template of a VirtualMachine: its volumes get the name of the machine
// as a prefix, and the user data come on a disk.
func (p *kubevirtPlatform) build(key client.ObjectKey, o order, secret string) *unstructured.Unstructured {
	template, _, _ := unstructured.NestedMap(o.spec, "virtualMachineTemplate")
	vm := virtualMachine("VirtualMachine")
	if spec, ok := template["spec"].(map[string]any); ok {
		vm.Object["spec"] = spec
	}
	vm.SetNamespace(key.Namespace)
	vm.SetName(key.Name)
	labels, _, _ := unstructured.NestedStringMap(template, "metadata", "labels")
	vm.SetLabels(labels)
	prefixVolumes(vm.Object, key.Name)
	instance := []string{"spec", "template", "spec"}
	volumes, _, _ := unstructured.NestedSlice(vm.Object, append(instance, "volumes")...)
	volume := p.volume(secret)
	volume["name"] = cloudInit
	_ = unstructured.SetNestedSlice(vm.Object, append(volumes, volume), append(instance, "volumes")...)
	disks, _, _ := unstructured.NestedSlice(vm.Object, append(instance, "domain", "devices", "disks")...)
	disk := map[string]any{"name": cloudInit, "disk": map[string]any{"bus": "virtio"}}
	_ = unstructured.SetNestedSlice(vm.Object, append(disks, disk), append(instance, "domain", "devices", "disks")...)
	return vm
}

func prefixVolumes(vm map[string]any, name string) {
	templates, _, _ := unstructured.NestedSlice(vm, "spec", "dataVolumeTemplates")
	for _, t := range templates {
		if m, ok := t.(map[string]any); ok {
			_ = unstructured.SetNestedField(m, name+"-"+textOf(m, "metadata", "name"), "metadata", "name")
		}
	}
	if templates != nil {
		_ = unstructured.SetNestedSlice(vm, templates, "spec", "dataVolumeTemplates")
	}
	volumes, _, _ := unstructured.NestedSlice(vm, "spec", "template", "spec", "volumes")
	for _, v := range volumes {
		if m, ok := v.(map[string]any); ok && textOf(m, "dataVolume", "name") != "" {
			_ = unstructured.SetNestedField(m, name+"-"+textOf(m, "dataVolume", "name"), "dataVolume", "name")
		}
	}
	_ = unstructured.SetNestedSlice(vm, volumes, "spec", "template", "spec", "volumes")
}

// remove deletes the VirtualMachine, and then its user data.
func (p *kubevirtPlatform) remove(ctx context.Context, o order) (bool, error) {
	key := p.key(o)
	vm := virtualMachine("VirtualMachine")
	err := p.Get(ctx, key, vm)
	if err == nil {
		if vm.GetDeletionTimestamp().IsZero() {
			err = p.Delete(ctx, vm)
		}
		return false, client.IgnoreNotFound(err)
	}
	if !apierrors.IsNotFound(err) {
		return false, err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name + "-userdata"}}
	return true, client.IgnoreNotFound(p.Delete(ctx, secret))
}
