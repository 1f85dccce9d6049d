// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// provider is the control plane provider of Cluster API for a flavour.
type provider struct {
	host    *Host
	flavour flavour
	gates   gates
}

// gates are the arguments of the provider's Deployment that change what it does.
type gates struct {
	skipPatch    bool
	dynamicPatch bool
	dynamicKinds []string
}

func parseGates(args []string) (g gates) {
	for i, a := range args {
		name, value, whole := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !whole && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "feature-gates":
			g.skipPatch = strings.Contains(value, "SkipInfraClusterPatch=true")
			g.dynamicPatch = strings.Contains(value, "DynamicInfrastructureClusterPatch=true")
		case "dynamic-infrastructure-clusters":
			g.dynamicKinds = strings.Split(value, ",")
		}
	}
	return g
}

func (h *Host) provider(f flavour, args []string) Program {
	p := &provider{host: h, flavour: f, gates: parseGates(args)}
	l := loop{kind: f.controlPlanes(), resource: f.name + "controlplanes", pass: p.pass, log: h.options.Log}
	return l.run
}

func (p *provider) finalizer() string { return p.flavour.name + "." + controlPlaneGroup }

// pass brings one control plane on. One without a Cluster is ignored in silence, as the real
// provider does.
func (p *provider) pass(ctx context.Context, c client.Client, cp *unstructured.Unstructured) (waits bool, err error) {
	cluster, err := ownerOf(ctx, c, cp)
	if err != nil || cluster == nil {
		return true, err
	}
	if _, paused := cp.GetAnnotations()["cluster.x-k8s.io/paused"]; paused || isPaused(cluster) {
		return true, nil
	}
	if !cp.GetDeletionTimestamp().IsZero() {
		return p.remove(ctx, c, cp)
	}
	before := cp.DeepCopy()
	if controllerutil.AddFinalizer(cp, p.finalizer()) {
		if err := c.Patch(ctx, cp, client.MergeFrom(before)); err != nil {
			return true, err
		}
		before = cp.DeepCopy()
	}
	waits, problem := p.converge(ctx, c, cluster, cp)
	return waits, joinErrors(problem, c.Status().Patch(ctx, cp, client.MergeFrom(before)))
}

func isPaused(cluster *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(cluster.Object, "spec", "paused")
	return paused
}

func joinErrors(first, second error) error {
	if first != nil {
		return first
	}
	return client.IgnoreNotFound(second)
}

// ownerOf is the first owner, which the provider takes for the Cluster.
func ownerOf(ctx context.Context, c client.Client, cp *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	refs := cp.GetOwnerReferences()
	if len(refs) == 0 || refs[0].Kind != "Cluster" {
		return nil, nil
	}
	cluster := &unstructured.Unstructured{}
	cluster.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	cluster.SetKind("Cluster")
	err := c.Get(ctx, client.ObjectKey{Namespace: cp.GetNamespace(), Name: refs[0].Name}, cluster)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return cluster, err
}

// converge goes through the steps of the provider in their order; the first that cannot be
// done ends the pass.
func (p *provider) converge(ctx context.Context, c client.Client, cluster, cp *unstructured.Unstructured) (waits bool, err error) {
	p.begin(cp)
	tcp, err := p.ensureTenant(ctx, c, cluster, cp)
	if note(cp, "TenantControlPlaneCreated", err) != nil {
		return true, err
	}
	host, port, err := endpointOf(cp, tcp)
	if note(cp, "TenantControlPlaneAddressReady", err) != nil {
		return true, nil //nolint:nilerr // the condition has the error, and the Service changes by itself
	}
	if err := note(cp, "ControlPlaneEndpointPatched", p.patchEndpoint(ctx, c, cp, host, port)); err != nil {
		return true, err
	}
	if err := note(cp, "InfrastructureClusterPatched", p.patchInfrastructure(ctx, c, cluster, host, port)); err != nil {
		return true, err
	}
	initialized := textOf(cluster, "spec", "controlPlaneEndpoint", "host") != "" && isTrue(cluster, "status", "initialization", "infrastructureProvisioned")
	if initialized {
		_ = unstructured.SetNestedField(cp.Object, true, "status", "initialized")
	}
	_ = note(cp, p.flavour.prefix+"ControlPlaneIsInitialized", unless(initialized, "waiting for the Cluster to have an endpoint and its infrastructure"))
	if !initialized {
		return true, nil
	}
	if err := note(cp, "KubeadmResourcesCreated", p.ensureSecrets(ctx, c, cluster, cp)); err != nil {
		return true, err
	}
	return p.report(cp, tcp), nil
}

// begin gives the status the fields that it has to have.
func (p *provider) begin(cp *unstructured.Unstructured) {
	for field, value := range map[string]any{
		"initialized": false, "ready": false, "replicas": int64(0), "readyReplicas": int64(0), "updatedReplicas": int64(0), "unavailableReplicas": int64(0),
		"version": "", "selector": labelName + "=" + cp.GetName(), "externalManagedControlPlane": true,
	} {
		if _, found, _ := unstructured.NestedFieldNoCopy(cp.Object, "status", field); !found {
			_ = unstructured.SetNestedField(cp.Object, value, "status", field)
		}
	}
}

// report shows versions and replicas; it returns false when nothing is waited for.
func (p *provider) report(cp, tcp *unstructured.Unstructured) (waits bool) {
	ready := textOf(tcp, "status", "kubernetesResources", "version", "status") == "Ready"
	pods, _, _ := unstructured.NestedInt64(tcp.Object, "status", "kubernetesResources", "deployment", "readyReplicas")
	for field, value := range map[string]any{
		"ready": ready, "replicas": pods, "readyReplicas": pods, "updatedReplicas": pods, "unavailableReplicas": max(replicasOf(tcp)-pods, 0),
		"version": textOf(tcp, "status", "kubernetesResources", "version", "version"),
	} {
		_ = unstructured.SetNestedField(cp.Object, value, "status", field)
	}
	_ = note(cp, p.flavour.prefix+"ControlPlaneIsReady", unless(ready, "the TenantControlPlane is "+textOf(tcp, "status", "kubernetesResources", "version", "status")))
	// A new version is not Upgrading at once: until it is served, the old one is still Ready.
	return !ready || pods != replicasOf(tcp) || textOf(cp, "status", "version") != textOf(cp, "spec", "version")
}

func isTrue(o *unstructured.Unstructured, path ...string) bool {
	b, _, _ := unstructured.NestedBool(o.Object, path...)
	return b
}

func unless(ok bool, message string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%s", message)
}

// endpointOf is that of the TenantControlPlane, or the hostname of the control plane.
func endpointOf(cp, tcp *unstructured.Unstructured) (host string, port int64, err error) {
	h, text, err := net.SplitHostPort(textOf(tcp, "status", "controlPlaneEndpoint"))
	if err != nil {
		return "", 0, fmt.Errorf("the Service of the control plane has no address yet")
	}
	if name, port := hostnameOf(cp, "spec", "network"); name != "" {
		return name, port, nil
	}
	port, err = strconv.ParseInt(text, 10, 64)
	return h, port, err
}

func (p *provider) patchEndpoint(ctx context.Context, c client.Client, cp *unstructured.Unstructured, host string, port int64) error {
	if textOf(cp, "spec", "controlPlaneEndpoint", "host") == host {
		return nil
	}
	changed := cp.DeepCopy()
	_ = unstructured.SetNestedMap(changed.Object, map[string]any{"host": host, "port": port}, "spec", "controlPlaneEndpoint")
	if err := c.Patch(ctx, changed, client.MergeFrom(cp)); err != nil {
		return err
	}
	_ = unstructured.SetNestedMap(cp.Object, map[string]any{"host": host, "port": port}, "spec", "controlPlaneEndpoint")
	return nil
}

// patchInfrastructure gives the infrastructure cluster the endpoint, where the provider knows
// its kind.
func (p *provider) patchInfrastructure(ctx context.Context, c client.Client, cluster *unstructured.Unstructured, host string, port int64) error {
	if p.gates.skipPatch {
		return nil
	}
	kind := textOf(cluster, "spec", "infrastructureRef", "kind")
	own := slices.Contains([]string{"AWSCluster", "AzureCluster", "ProxmoxCluster", "KubevirtCluster", "NutanixCluster"}, kind)
	dynamic := p.gates.dynamicPatch && slices.Contains(p.gates.dynamicKinds, kind)
	if !own && !dynamic {
		return fmt.Errorf("unsupported infrastructure provider %s", kind)
	}
	infra, err := p.infrastructure(ctx, c, cluster, kind)
	if err != nil {
		return err
	}
	if textOf(infra, "spec", "controlPlaneEndpoint", "host") == "" || kind != "ProxmoxCluster" {
		before := infra.DeepCopy()
		_ = unstructured.SetNestedMap(infra.Object, map[string]any{"host": host, "port": port}, "spec", "controlPlaneEndpoint")
		if err := c.Patch(ctx, infra, client.MergeFrom(before)); err != nil {
			return err
		}
	}
	if kind != "KubevirtCluster" && kind != "NutanixCluster" || isTrue(infra, "status", "ready") {
		return nil
	}
	before := infra.DeepCopy()
	_ = unstructured.SetNestedField(infra.Object, true, "status", "ready")
	return c.Status().Patch(ctx, infra, client.MergeFrom(before))
}

func (p *provider) infrastructure(ctx context.Context, c client.Client, cluster *unstructured.Unstructured, kind string) (*unstructured.Unstructured, error) {
	versions := map[string]string{"AWSCluster": "v1beta2", "AzureCluster": "v1beta1", "NutanixCluster": "v1beta1", "GCPCluster": "v1beta1"}
	v := versions[kind]
	if v == "" {
		v = "v1alpha1"
	}
	infra := &unstructured.Unstructured{}
	infra.SetAPIVersion("infrastructure.cluster.x-k8s.io/" + v)
	infra.SetKind(kind)
	return infra, c.Get(ctx, client.ObjectKey{Namespace: cluster.GetNamespace(), Name: textOf(cluster, "spec", "infrastructureRef", "name")}, infra)
}

// remove deletes the TenantControlPlane, and lets go when it is gone.
func (p *provider) remove(ctx context.Context, c client.Client, cp *unstructured.Unstructured) (waits bool, err error) {
	tcp := &unstructured.Unstructured{}
	tcp.SetGroupVersionKind(p.flavour.tenants())
	err = c.Get(ctx, client.ObjectKeyFromObject(cp), tcp)
	if err == nil {
		if tcp.GetDeletionTimestamp().IsZero() {
			err = c.Delete(ctx, tcp)
		}
		return true, client.IgnoreNotFound(err)
	}
	if client.IgnoreNotFound(err) != nil {
		return true, err
	}
	before := cp.DeepCopy()
	controllerutil.RemoveFinalizer(cp, p.finalizer())
	return false, client.IgnoreNotFound(c.Patch(ctx, cp, client.MergeFrom(before)))
}

// checkName is a rule of the real admission.
func checkName(name string) error {
	if problems := validation.IsDNS1035Label(name); len(problems) > 0 {
		return fmt.Errorf("name %q is not valid: %s", name, strings.Join(problems, "; "))
	}
	return nil
}
