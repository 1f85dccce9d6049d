// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/tenant"
)

var (
	clusterKind      = schema.GroupVersionKind{Group: coreGroup, Version: "v1beta1", Kind: "Cluster"}
	deploymentKind   = schema.GroupVersionKind{Group: coreGroup, Version: "v1beta1", Kind: "MachineDeployment"}
	machineKind      = schema.GroupVersionKind{Group: coreGroup, Version: "v1beta1", Kind: "Machine"}
	controlPlaneKind = schema.GroupVersionKind{Group: controlPlaneGroup, Version: "v1alpha1", Kind: "StewardControlPlane"}
	proxmoxKind      = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "ProxmoxCluster"}
	kubevirtKind     = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtCluster"}
	templateKind     = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1", Kind: "KubevirtMachineTemplate"}
)

// player plays the contracts of Cluster API: core, the hosted control plane and the machines
// of a platform. The tenant's API server is the management cluster's own.
type player struct {
	*fixture

	mu sync.Mutex
	// still are names of nodes that are not Ready.
	still map[string]bool
	// noControlPlane leaves control planes without an address.
	noControlPlane bool
	// noReplace keeps a rollout from finishing.
	noReplace bool
	// upgrades is off while control planes keep their version.
	noUpgrade bool
	// orphans lets Clusters go at once, and does nothing with their objects.
	orphans bool
	// held keeps machines from being deleted.
	held     bool
	recorded sync.Mutex
	// versions are those that machines were created with, in order.
	versions []string

	// reader is where objects of the management cluster are read.
	reader client.Reader
	// tenant is the API server of a cluster, kubeconfig how others reach it.
	tenant     func(cluster string) client.Client
	kubeconfig func(cluster string) ([]byte, error)
}

const machineFinalizer = "machine.cluster.x-k8s.io"

// playerOf plays without a loop.
func playerOf(f *fixture) *player {
	return &player{
		fixture: f, still: map[string]bool{}, reader: f, kubeconfig: func(string) ([]byte, error) { return managementKubeconfig() },
		tenant: func(string) client.Client { return f },
	}
}

func newPlayer(f *fixture) *player {
	p := playerOf(f)
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		last := ""
		for ctx.Err() == nil {
			if err := p.play(ctx); err != nil && ctx.Err() == nil && err.Error() != last {
				last = err.Error()
				f.Logf("player: %v", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(15 * time.Millisecond):
			}
		}
	})
	f.Cleanup(func() {
		cancel()
		ended.Wait()
	})
	return p
}

// set changes how it plays.
func (p *player) set(how func(*player)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	how(p)
}

func (p *player) play(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	clusters := p.all(ctx, clusterKind)
	var errs []error
	for i := range clusters {
		errs = append(errs, p.cluster(ctx, &clusters[i]))
	}
	return errors.Join(append(errs, p.workloads(ctx))...)
}

// all are the objects of a kind of this test's tenant.
func (p *player) all(ctx context.Context, kind schema.GroupVersionKind) (out []unstructured.Unstructured) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := p.reader.List(ctx, list); err != nil {
		return nil
	}
	for _, o := range list.Items {
		if len(o.GetNamespace()) > len(p.Namespace) && o.GetNamespace()[:len(p.Namespace)+1] == p.Namespace+"-" {
			out = append(out, o)
		}
	}
	return out
}

// of are the objects of a kind in the namespace of another.
func (p *player) of(ctx context.Context, kind schema.GroupVersionKind, like client.Object) []unstructured.Unstructured {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := p.reader.List(ctx, list, client.InNamespace(like.GetNamespace())); err != nil {
		return nil
	}
	return list.Items
}

func (p *player) get(ctx context.Context, kind schema.GroupVersionKind, like client.Object) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	if err := p.reader.Get(ctx, client.ObjectKeyFromObject(like), o); err != nil {
		return nil
	}
	return o
}

func (p *player) cluster(ctx context.Context, c *unstructured.Unstructured) error {
	if c.GetDeletionTimestamp() != nil {
		return p.deleteCluster(ctx, c)
	}
	if controllerutil.AddFinalizer(c, "cluster.cluster.x-k8s.io") {
		return p.Update(ctx, c)
	}
	if own := p.get(ctx, proxmoxKind, c); own != nil && !flag(own, "status", "ready") && text(own, "spec", "controlPlaneEndpoint", "host") != "" {
		return p.status(ctx, own, map[string]any{"ready": true}) // its own controller does
	}
	infrastructure := p.get(ctx, kubevirtKind, c)
	if infrastructure == nil {
		infrastructure = p.get(ctx, proxmoxKind, c)
	}
	if infrastructure != nil && flag(infrastructure, "status", "ready") && text(infrastructure, "spec", "controlPlaneEndpoint", "host") != "" && !flag(c, "status", "infrastructureReady") {
		return p.status(ctx, c, map[string]any{"infrastructureReady": true})
	}
	return errors.Join(p.controlPlane(ctx, c), p.workers(ctx, c))
}

// status merges fields into the status of an object.
func (p *player) status(ctx context.Context, o *unstructured.Unstructured, fields map[string]any) error {
	before := o.DeepCopy()
	for key, value := range fields {
		if err := unstructured.SetNestedField(o.Object, value, "status", key); err != nil {
			return err
		}
	}
	return p.Status().Patch(ctx, o, client.MergeFrom(before))
}

// controlPlane sets initialized only once the Cluster has infrastructure, as Steward does.
func (p *player) controlPlane(ctx context.Context, c *unstructured.Unstructured) error {
	cp := p.get(ctx, controlPlaneKind, c)
	if cp == nil || p.noControlPlane {
		return nil
	}
	if text(cp, "spec", "controlPlaneEndpoint", "host") == "" {
		before := cp.DeepCopy()
		u, err := url.Parse(api.Host)
		if err != nil {
			return err
		}
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			return err
		}
		endpoint := tenant.Endpoint{Host: u.Hostname(), Port: int32(port)}
		if host := text(cp, "spec", "network", "ingress", "hostname"); host != "" {
			endpoint = tenant.Endpoint{Host: host, Port: 443}
		}
		if host := text(cp, "spec", "network", "gateway", "hostname"); host != "" {
			endpoint = tenant.Endpoint{Host: host, Port: 6443}
		}
		_ = unstructured.SetNestedMap(cp.Object, map[string]any{"host": endpoint.Host, "port": int64(endpoint.Port)}, "spec", "controlPlaneEndpoint")
		return p.Patch(ctx, cp, client.MergeFrom(before))
	}
	if !flag(c, "status", "infrastructureReady") || text(cp, "status", "version") == text(cp, "spec", "version") && flag(cp, "status", "ready") {
		return nil
	}
	if p.noUpgrade && text(cp, "status", "version") != "" {
		return nil
	}
	if err := p.secrets(ctx, c); err != nil {
		return err
	}
	n := number(cp, "spec", "replicas")
	return p.status(ctx, cp, map[string]any{
		"ready": true, "initialized": true, "version": text(cp, "spec", "version"), "selector": "app=" + c.GetName(),
		"replicas": n, "readyReplicas": n, "updatedReplicas": n, "unavailableReplicas": int64(0),
	})
}

// managementKubeconfig is that of the administrator of the management cluster.
func managementKubeconfig() ([]byte, error) {
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: api.Host, CertificateAuthorityData: api.CAData}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: api.CertData, ClientKeyData: api.KeyData}
	k.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "x"
	return clientcmd.Write(*k)
}

func (p *player) secrets(ctx context.Context, c *unstructured.Unstructured) error {
	kubeconfig, err := p.kubeconfig(c.GetName())
	if err != nil {
		return err
	}
	authority, err := talos.NewAuthority("v1.9.3")
	if err != nil {
		return err
	}
	for name, data := range map[string]map[string][]byte{
		kubeconfigOf(c.GetName()): {"value": kubeconfig},
		authorityOf(c.GetName()):  {"tls.crt": api.CAData},
		trustdOf(c.GetName()):     {"os-ca.crt": authority.Certificate, "os-ca.key": authority.Key, "token": []byte("butler.0123456789abcdef")},
	} {
		err := p.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.GetNamespace(), Name: name}, Data: data})
		if client.IgnoreAlreadyExists(err) != nil {
			return err
		}
	}
	return nil
}

// workers keeps the machines of a MachineDeployment: outdated ones are replaced one by one.
func (p *player) workers(ctx context.Context, c *unstructured.Unstructured) error {
	for _, d := range p.of(ctx, deploymentKind, c) {
		if p.orphans || d.GetDeletionTimestamp() != nil {
			continue
		}
		if err := p.roll(ctx, &d); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) roll(ctx context.Context, d *unstructured.Unstructured) error {
	template, _, _ := unstructured.NestedMap(d.Object, "spec", "template", "spec")
	var current, old []unstructured.Unstructured
	for _, m := range p.of(ctx, machineKind, d) {
		switch spec, _, _ := unstructured.NestedMap(m.Object, "spec"); {
		case m.GetDeletionTimestamp() != nil:
			if err := p.deleteMachine(ctx, &m); err != nil {
				return err
			}
		case spec["version"] == template["version"] && fmt.Sprint(spec["bootstrap"], text(&m, "spec", "infrastructureRef", "name")) == fmt.Sprint(template["bootstrap"], text(d, "spec", "template", "spec", "infrastructureRef", "name")):
			current = append(current, m)
		default:
			old = append(old, m)
		}
	}
	want := int(number(d, "spec", "replicas"))
	switch {
	case len(current) < want && (len(old) == 0 || !p.noReplace):
		if err := p.newMachine(ctx, d, template); err != nil {
			return err
		}
	case len(current) > want:
		return p.Delete(ctx, &current[len(current)-1])
	case len(old) > 0 && !p.noReplace:
		return p.Delete(ctx, &old[0])
	}
	for i := range current {
		if err := p.join(ctx, &current[i]); err != nil {
			return err
		}
	}
	is := map[string]any{"observedGeneration": d.GetGeneration(), "replicas": int64(len(current) + len(old)), "updatedReplicas": int64(len(current))}
	for key, value := range is {
		if number(d, "status", key) != value.(int64) {
			return p.status(ctx, d, is)
		}
	}
	return nil
}

func (p *player) newMachine(ctx context.Context, d *unstructured.Unstructured, template map[string]any) error {
	m := &unstructured.Unstructured{Object: map[string]any{"spec": template}}
	m.SetGroupVersionKind(machineKind)
	m.SetNamespace(d.GetNamespace())
	m.SetGenerateName(d.GetName() + "-")
	m.SetLabels(map[string]string{coreGroup + "/cluster-name": text(d, "spec", "clusterName")})
	m.SetFinalizers([]string{machineFinalizer})
	if err := p.Create(ctx, m); err != nil {
		return err
	}
	p.recorded.Lock()
	defer p.recorded.Unlock()
	p.versions = append(p.versions, fmt.Sprint(template["version"]))
	return nil
}

// machineAddress is a loopback address that no other machine has: two machines with one address
// would wait for ever, as neither is certain to be the node.
func machineAddress(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	sum := h.Sum(nil)
	return fmt.Sprintf("127.%d.%d.%d", 1+sum[0]%250, sum[1], 1+sum[2]%250)
}

// join gives a machine an address, an ID and a node. Its node knows no provider ID.
func (p *player) join(ctx context.Context, m *unstructured.Unstructured) error {
	tenant := p.tenant(text(m, "spec", "clusterName"))
	address := machineAddress(m.GetName())
	if text(m, "spec", "providerID") == "" {
		before := m.DeepCopy()
		_ = unstructured.SetNestedField(m.Object, "kubevirt://"+m.GetName(), "spec", "providerID")
		if err := p.Patch(ctx, m, client.MergeFrom(before)); err != nil {
			return err
		}
		return p.status(ctx, m, map[string]any{"addresses": []any{map[string]any{"type": "InternalIP", "address": address}}, "phase": "Provisioned"})
	}
	node := &corev1.Node{}
	if err := tenant.Get(ctx, client.ObjectKey{Name: m.GetName()}, node); apierrors.IsNotFound(err) {
		node.Name = m.GetName()
		if err := tenant.Create(ctx, node); err != nil {
			return err
		}
	}
	ready := corev1.ConditionTrue
	if p.still[node.Name] {
		ready = corev1.ConditionFalse
	}
	if len(node.Status.Conditions) == 0 || node.Status.Conditions[0].Status != ready {
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, Reason: "Test"}}
		node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
		return tenant.Status().Update(ctx, node)
	}
	// Core finds the node of a machine by its provider ID alone.
	if node.Spec.ProviderID == text(m, "spec", "providerID") && text(m, "status", "nodeRef", "name") == "" {
		return p.status(ctx, m, map[string]any{"nodeRef": map[string]any{"kind": "Node", "apiVersion": "v1", "name": node.Name}, "phase": "Running"})
	}
	return nil
}

func (p *player) deleteMachine(ctx context.Context, m *unstructured.Unstructured) error {
	if p.held {
		return nil
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.GetName()}}
	if err := p.tenant(text(m, "spec", "clusterName")).Delete(ctx, node); client.IgnoreNotFound(err) != nil {
		return err
	}
	m.SetFinalizers(nil)
	return client.IgnoreNotFound(p.Update(ctx, m))
}

// deleteCluster deletes as core does: machines, control plane, infrastructure.
func (p *player) deleteCluster(ctx context.Context, c *unstructured.Unstructured) error {
	for _, kind := range p.deletedWithClusters() {
		left := p.of(ctx, kind, c)
		for i := range left {
			if left[i].GetDeletionTimestamp() == nil {
				return p.Delete(ctx, &left[i])
			}
			if kind == machineKind {
				if err := p.deleteMachine(ctx, &left[i]); err != nil {
					return err
				}
			}
		}
		if len(left) > 0 {
			return nil
		}
	}
	c.SetFinalizers(nil)
	return p.Update(ctx, c)
}

func (p *player) deletedWithClusters() []schema.GroupVersionKind {
	if p.orphans {
		return nil
	}
	return []schema.GroupVersionKind{deploymentKind, machineKind, controlPlaneKind, kubevirtKind, proxmoxKind}
}

// workloads makes those of addons ready.
func (p *player) workloads(ctx context.Context) error {
	var sets appsv1.DaemonSetList
	var deployments appsv1.DeploymentList
	if err := errors.Join(p.List(ctx, &sets), p.List(ctx, &deployments)); err != nil {
		return err
	}
	for i := range sets.Items {
		s := &sets.Items[i]
		if s.Status.ObservedGeneration != s.Generation || s.Status.NumberReady == 0 {
			s.Status = appsv1.DaemonSetStatus{ObservedGeneration: s.Generation, DesiredNumberScheduled: 1, CurrentNumberScheduled: 1, NumberReady: 1, NumberAvailable: 1, UpdatedNumberScheduled: 1}
			if err := p.Status().Update(ctx, s); err != nil {
				return err
			}
		}
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		if d.Status.ObservedGeneration != d.Generation || d.Status.ReadyReplicas == 0 {
			n := *d.Spec.Replicas
			d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
				Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "Test"}}}
			if err := p.Status().Update(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}
