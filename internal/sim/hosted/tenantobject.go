// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ensureTenant has the TenantControlPlane say what the control plane does, as far as the
// admission of the operator allows.
func (p *provider) ensureTenant(ctx context.Context, c client.Client, cluster, cp *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	tcp := &unstructured.Unstructured{}
	tcp.SetGroupVersionKind(p.flavour.tenants())
	err := c.Get(ctx, client.ObjectKeyFromObject(cp), tcp)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	wanted, present := textOf(cp, "spec", "version"), textOf(tcp, "spec", "kubernetes", "version")
	if err := p.admit(cp.GetName(), present, wanted); err != nil {
		return tcp, err
	}
	if err := admitGateway(c, cp); err != nil {
		return tcp, err
	}
	before := tcp.DeepCopy()
	fill(tcp, cluster, cp)
	if before.GetName() == "" {
		tcp.SetNamespace(cp.GetNamespace())
		tcp.SetName(cp.GetName())
		tcp.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(cp, cp.GroupVersionKind())})
		return tcp, c.Create(ctx, tcp)
	}
	return tcp, c.Patch(ctx, tcp, client.MergeFrom(before))
}

// fill copies what a TenantControlPlane has from its control plane and Cluster.
func fill(tcp, cluster, cp *unstructured.Unstructured) {
	set := func(value any, path ...string) { _ = unstructured.SetNestedField(tcp.Object, value, path...) }
	set(textOf(cp, "spec", "version"), "spec", "kubernetes", "version")
	replicas, found, _ := unstructured.NestedInt64(cp.Object, "spec", "replicas")
	if !found {
		replicas = 2
	}
	set(replicas, "spec", "controlPlane", "deployment", "replicas")
	if kind := textOf(cp, "spec", "network", "serviceType"); kind != "" {
		set(kind, "spec", "controlPlane", "service", "serviceType")
	}
	if address := textOf(cp, "spec", "network", "serviceAddress"); address != "" {
		set(address, "spec", "networkProfile", "address")
	}
	if annotations, found, _ := unstructured.NestedStringMap(cp.Object, "spec", "network", "serviceAnnotations"); found {
		_ = unstructured.SetNestedStringMap(tcp.Object, annotations, "spec", "controlPlane", "service", "additionalMetadata", "annotations")
	}
	for from, to := range map[string][]string{
		"addons": {"spec", "addons"},
	} {
		if m, found, _ := unstructured.NestedMap(cp.Object, "spec", from); found {
			_ = unstructured.SetNestedMap(tcp.Object, m, to...)
		}
	}
	names, _, _ := unstructured.NestedStringSlice(cp.Object, "spec", "network", "certSANs")
	if host, _ := hostnameOf(cp, "spec", "network"); host != "" {
		names = append(names, host)
	}
	if len(names) > 0 {
		_ = unstructured.SetNestedStringSlice(tcp.Object, names, "spec", "networkProfile", "certSANs")
	}
	fillExposure(tcp, cp)
	services, _, _ := unstructured.NestedStringSlice(cluster.Object, "spec", "clusterNetwork", "services", "cidrBlocks")
	cidr := "10.96.0.0/16" // the operator's own default
	if len(services) > 0 {
		cidr = services[0]
	}
	set(cidr, "spec", "networkProfile", "serviceCidr")
}

// fillExposure copies how the control plane is exposed, and which kubeconfig is used inside.
func fillExposure(tcp, cp *unstructured.Unstructured) {
	if annotations := cp.GetAnnotations(); annotations != nil {
		tcp.SetAnnotations(annotations)
	}
	for kind, fields := range map[string]map[string]string{
		"ingress": {"hostname": "hostname", "className": "ingressClassName", "controllerType": "controllerType"},
		"gateway": {"hostname": "hostname", "parentRefs": "parentRefs"},
	} {
		block, found, _ := unstructured.NestedMap(cp.Object, "spec", "network", kind)
		unstructured.RemoveNestedField(tcp.Object, "spec", "controlPlane", kind)
		for from, to := range fields {
			if value := block[from]; found && value != nil {
				_ = unstructured.SetNestedField(tcp.Object, value, "spec", "controlPlane", kind, to)
			}
		}
	}
}

// admitGateway is what the admission of the operator says to exposure by a Gateway.
func admitGateway(c client.Client, cp *unstructured.Unstructured) error {
	if textOf(cp, "spec", "network", "gateway", "hostname") == "" {
		return nil
	}
	if _, err := c.RESTMapper().RESTMapping(tlsRoute.GroupKind(), tlsRoute.Version); err != nil {
		return errors.New("TLSRoute resource is not available in this cluster")
	}
	return nil
}

// admit is what the admission of the operator says to a version.
func (p *provider) admit(name, present, wanted string) error {
	if err := checkName(name); err != nil {
		return err
	}
	next, err := version.ParseSemantic(wanted)
	if err != nil {
		return fmt.Errorf("unable to parse the desired Kubernetes version: %w", err)
	}
	if next.GreaterThan(version.MustParseSemantic(p.flavour.newest)) {
		return fmt.Errorf("unable to create a TenantControlPlane with a Kubernetes version greater than the supported one, actually %s", p.flavour.newest)
	}
	if present == "" {
		return nil
	}
	now, err := version.ParseSemantic(present)
	switch {
	case err != nil:
		return err
	case next.LessThan(now):
		return fmt.Errorf("unable to downgrade a TenantControlPlane from %s to %s", present, wanted)
	case next.Minor() > now.Minor()+1:
		return fmt.Errorf("unable to upgrade to a minor version in a non-sequential mode: from %s to %s", present, wanted)
	}
	return nil
}

// kubeconfigKey is which of the operator's kubeconfigs Cluster API gets.
func (p *provider) kubeconfigKey(cp *unstructured.Unstructured) string {
	return cmp.Or(cp.GetAnnotations()[p.flavour.group+"/kubeconfig-secret-key"], "admin.conf")
}

// ensureSecrets writes the Secrets that Cluster API reads, named after the Cluster.
func (p *provider) ensureSecrets(ctx context.Context, c client.Client, cluster, cp *unstructured.Unstructured) error {
	for to, from := range map[string]struct{ secret, key string }{
		cluster.GetName() + "-kubeconfig": {cp.GetName() + "-admin-kubeconfig", p.kubeconfigKey(cp)},
		cluster.GetName() + "-ca":         {cp.GetName() + "-ca", ""},
	} {
		source := &corev1.Secret{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: cp.GetNamespace(), Name: from.secret}, source); err != nil {
			return err
		}
		if to == from.secret {
			continue // of the same name: the operator's own has all keys
		}
		s := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: cp.GetNamespace(), Name: to, Labels: map[string]string{"cluster.x-k8s.io/cluster-name": cluster.GetName()},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cp, cp.GroupVersionKind())},
			},
			Type: "cluster.x-k8s.io/secret", Data: map[string][]byte{"value": source.Data[from.key]},
		}
		if from.key == "" {
			s.Data = map[string][]byte{"tls.crt": source.Data["ca.crt"], "tls.key": source.Data["ca.key"]}
		}
		if err := c.Create(ctx, s); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// note sets a condition by an error, and returns that.
func note(o *unstructured.Unstructured, kind string, problem error) error {
	next := map[string]any{"type": kind, "status": "True", "reason": "ReconciliationSucceeded", "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
	if problem != nil {
		next["status"], next["reason"], next["message"] = "False", "ReconciliationFailed", problem.Error()
	}
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for i, c := range all {
		old, _ := c.(map[string]any)
		if old["type"] == kind {
			if old["status"] == next["status"] {
				next["lastTransitionTime"] = old["lastTransitionTime"]
			}
			all[i] = next
			_ = unstructured.SetNestedSlice(o.Object, all, "status", "conditions")
			return problem
		}
	}
	_ = unstructured.SetNestedSlice(o.Object, append(all, next), "status", "conditions")
	return problem
}
