// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// operator is the program that makes control planes of TenantControlPlanes.
type operator struct {
	host    *Host
	flavour flavour
}

func (h *Host) operator(f flavour) Program {
	o := &operator{host: h, flavour: f}
	l := loop{kind: f.tenants(), resource: "tenantcontrolplanes", pass: o.pass, log: h.options.Log}
	return l.run
}

func (o *operator) finalizer() string { return "finalizer." + o.flavour.group }

// pass brings one control plane on, in the order of the real program: Service, certificates,
// kubeconfig, Deployment.
func (o *operator) pass(ctx context.Context, c client.Client, tcp *unstructured.Unstructured) (waits bool, err error) {
	if !tcp.GetDeletionTimestamp().IsZero() {
		return o.remove(ctx, c, tcp)
	}
	before := tcp.DeepCopy()
	if controllerutil.AddFinalizer(tcp, o.finalizer()) {
		if err := c.Patch(ctx, tcp, client.MergeFrom(before)); err != nil {
			return true, err
		}
		before = tcp.DeepCopy()
	}
	status, ready, err := o.converge(ctx, c, tcp)
	if err != nil {
		return true, err
	}
	late := o.ensureRoutes(ctx, c, tcp, status)
	if err := unstructured.SetNestedMap(tcp.Object, status, "status"); err != nil {
		return true, err
	}
	return !ready, errors.Join(c.Status().Patch(ctx, tcp, client.MergeFrom(before)), late)
}

func (o *operator) converge(ctx context.Context, c client.Client, tcp *unstructured.Unstructured) (status map[string]any, ready bool, err error) {
	t := o.host.tenant(tcp.GetUID(), tcp.GetNamespace()+"/"+tcp.GetName())
	wanted := textOf(tcp, "spec", "kubernetes", "version")
	status = map[string]any{"kubernetesResources": map[string]any{"version": map[string]any{"status": "Provisioning"}}}
	service, err := o.ensureService(ctx, c, tcp)
	if err != nil {
		return status, false, err
	}
	address, ok := addressOf(tcp, service)
	if !ok {
		return status, false, nil
	}
	endpoint := net.JoinHostPort(address.String(), strconv.Itoa(apiServerPort))
	if host, port := hostnameOf(tcp, "spec", "controlPlane"); host != "" {
		endpoint = net.JoinHostPort(host, strconv.FormatInt(port, 10))
	}
	d, err := o.ensureSecrets(ctx, c, tcp, address, endpoint)
	if err != nil {
		return status, false, err
	}
	d.inside = service.Spec.Type == corev1.ServiceTypeClusterIP
	t.set(d)
	if err := o.ensureDeployment(ctx, c, tcp); err != nil {
		return status, false, err
	}
	running, pods := t.running()
	state := "Ready"
	switch {
	case running == "" && textOf(tcp, "status", "kubernetesResources", "version", "version") == "":
		state = "Provisioning"
	case running == "":
		state = "NotReady"
	case running != wanted:
		state = "Upgrading"
	}
	version := map[string]any{"status": state}
	if running != "" {
		version["version"] = running
	} else if last := textOf(tcp, "status", "kubernetesResources", "version", "version"); last != "" {
		version["version"] = last
	}
	status = map[string]any{
		"controlPlaneEndpoint": endpoint,
		"kubernetesResources": map[string]any{
			"version":    version,
			"deployment": map[string]any{"name": tcp.GetName(), "namespace": tcp.GetNamespace(), "replicas": int64(pods), "readyReplicas": int64(pods)},
			"service":    map[string]any{"name": tcp.GetName(), "namespace": tcp.GetNamespace(), "port": int64(apiServerPort)},
		},
	}
	return status, state == "Ready" && int64(pods) == replicasOf(tcp), nil
}

// addressOf is that of the spec, or of the Service. The real program takes no name of a load
// balancer: such a control plane has no address.
func addressOf(tcp *unstructured.Unstructured, s *corev1.Service) (netip.Addr, bool) {
	text := s.Spec.ClusterIP
	own := textOf(tcp, "spec", "networkProfile", "address")
	switch {
	case own != "":
		text = own
	case s.Spec.Type == corev1.ServiceTypeLoadBalancer:
		if len(s.Status.LoadBalancer.Ingress) == 0 {
			return netip.Addr{}, false
		}
		text = s.Status.LoadBalancer.Ingress[0].IP
	}
	a, err := netip.ParseAddr(text)
	return a, err == nil
}

// remove deletes what the control plane consists of, and lets it go when its pods are gone.
// Everything else is owned by it and goes with it.
func (o *operator) remove(ctx context.Context, c client.Client, tcp *unstructured.Unstructured) (waits bool, err error) {
	for _, owned := range []client.Object{deploymentOf(tcp), &corev1.Service{ObjectMeta: metaOf(tcp, tcp.GetName())}} {
		err := c.Delete(ctx, owned, client.PropagationPolicy(metav1.DeletePropagationForeground))
		if err != nil && !apierrors.IsNotFound(err) {
			return true, err
		}
	}
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.InNamespace(tcp.GetNamespace()), client.MatchingLabels{labelUID: string(tcp.GetUID())}); err != nil || len(pods.Items) > 0 {
		return true, err
	}
	if gone, err := o.host.forget(tcp.GetUID()); err != nil || !gone {
		return true, err
	}
	before := tcp.DeepCopy()
	controllerutil.RemoveFinalizer(tcp, o.finalizer())
	return false, client.IgnoreNotFound(c.Patch(ctx, tcp, client.MergeFrom(before)))
}

func textOf(o *unstructured.Unstructured, path ...string) string {
	t, _, _ := unstructured.NestedString(o.Object, path...)
	return t
}

func replicasOf(tcp *unstructured.Unstructured) int64 {
	n, found, _ := unstructured.NestedInt64(tcp.Object, "spec", "controlPlane", "deployment", "replicas")
	if !found {
		return 2
	}
	return n
}

// metaOf is that of an object that the control plane owns.
func metaOf(tcp *unstructured.Unstructured, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: tcp.GetNamespace(), Name: name,
		Labels:          map[string]string{labelName: tcp.GetName()},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(tcp, tcp.GroupVersionKind())},
	}
}
