// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hasTrustd says whether the control plane signs the certificates of Talos workers.
func (o *operator) hasTrustd(tcp *unstructured.Unstructured) bool {
	return o.flavour.trustd && textOf(tcp, "spec", "addons", "workerBootstrap", "provider") == "talos"
}

func (o *operator) ensureService(ctx context.Context, c client.Client, tcp *unstructured.Unstructured) (*corev1.Service, error) {
	s := &corev1.Service{ObjectMeta: metaOf(tcp, tcp.GetName())}
	err := c.Get(ctx, client.ObjectKeyFromObject(s), s)
	if err == nil || !apierrors.IsNotFound(err) {
		return s, err
	}
	kind := corev1.ServiceType(textOf(tcp, "spec", "controlPlane", "service", "serviceType"))
	if kind == "" {
		kind = corev1.ServiceTypeLoadBalancer
	}
	port := func(name string, n int32) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Port: n, TargetPort: intstr.FromInt32(n)}
	}
	s.Spec = corev1.ServiceSpec{
		Type: kind, Selector: map[string]string{labelName: tcp.GetName()},
		Ports: []corev1.ServicePort{port("kube-apiserver", apiServerPort), port("konnectivity-server", konnectivityPort)},
	}
	if o.hasTrustd(tcp) {
		s.Spec.Ports = append(s.Spec.Ports, port("trustd", trustdPort))
	}
	s.Annotations, _, _ = unstructured.NestedStringMap(tcp.Object, "spec", "controlPlane", "service", "additionalMetadata", "annotations")
	return s, c.Create(ctx, s)
}

func deploymentOf(tcp *unstructured.Unstructured) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metaOf(tcp, tcp.GetName())}
}

// ensureDeployment has the pods of the control plane run in the wanted version and number.
func (o *operator) ensureDeployment(ctx context.Context, c client.Client, tcp *unstructured.Unstructured) error {
	labels := map[string]string{labelName: tcp.GetName(), labelUID: string(tcp.GetUID())}
	d := deploymentOf(tcp)
	spec := appsv1.DeploymentSpec{
		Replicas: new(int32(replicasOf(tcp))), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(labels)}, Spec: corev1.PodSpec{Containers: o.containers(tcp)}},
	}
	err := c.Get(ctx, client.ObjectKeyFromObject(d), d)
	if apierrors.IsNotFound(err) {
		d.Spec = spec
		return c.Create(ctx, d)
	}
	if err != nil || *d.Spec.Replicas == *spec.Replicas && d.Spec.Template.Spec.Containers[0].Image == spec.Template.Spec.Containers[0].Image {
		return err
	}
	before := d.DeepCopy()
	d.Spec.Replicas = spec.Replicas
	for i := range d.Spec.Template.Spec.Containers {
		d.Spec.Template.Spec.Containers[i].Image = spec.Template.Spec.Containers[i].Image
	}
	return c.Patch(ctx, d, client.MergeFrom(before))
}

func (o *operator) containers(tcp *unstructured.Unstructured) (all []corev1.Container) {
	v := textOf(tcp, "spec", "kubernetes", "version")
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		all = append(all, corev1.Container{Name: name, Image: "registry.k8s.io/" + name + ":" + v})
	}
	if o.hasTrustd(tcp) {
		all = append(all, corev1.Container{Name: "steward-trustd", Image: "ghcr.io/butlerdotdev/steward-trustd:" + textOf(tcp, "spec", "addons", "workerBootstrap", "talos", "imageTag")})
	}
	return all
}
