// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/standin"
)

const hostedControlPlane = `
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {namespace: plain, name: demo}
spec:
  clusterNetwork: {apiServerPort: 6443, pods: {cidrBlocks: [10.244.0.0/16]}, services: {cidrBlocks: [10.112.0.0/16]}}
  controlPlaneRef: {apiVersion: controlplane.cluster.x-k8s.io/v1alpha1, kind: StewardControlPlane, name: demo}
  infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1, kind: KubevirtCluster, name: demo}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: KubevirtCluster
metadata: {namespace: plain, name: demo, annotations: {cluster.x-k8s.io/managed-by: butler}}
spec: {infraClusterSecretRef: {apiVersion: v1, kind: Secret, name: harvester, namespace: plain}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1alpha1
kind: StewardControlPlane
metadata: {namespace: plain, name: demo}
spec:
  version: v1.32.0
  replicas: 2
  network: {serviceType: LoadBalancer}
  addons: {workerBootstrap: {provider: talos, talos: {port: 50001}, csrApproval: {autoApprove: true}}}
`

const hostedWorkers = `
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: KubevirtMachineTemplate
metadata: {namespace: plain, name: demo}
spec:
  template:
    spec:
      virtualMachineBootstrapCheck: {checkStrategy: none}
      virtualMachineTemplate:
        metadata: {namespace: default}
        spec:
          runStrategy: Always
          dataVolumeTemplates:
          - metadata: {name: root, annotations: {harvesterhci.io/imageId: default/talos-openstack-v1.9.2}}
            spec: {source: {blank: {}}, pvc: {accessModes: [ReadWriteMany], volumeMode: Block, storageClassName: %s, resources: {requests: {storage: 20Gi}}}}
          template:
            spec:
              domain: {cpu: {cores: 2}, memory: {guest: 4Gi}, devices: {disks: [{name: root, bootOrder: 1, disk: {bus: virtio}}], interfaces: [{name: default, model: virtio, bridge: {}}]}}
              networks: [{name: default, multus: {networkName: default/workloads}}]
              volumes: [{name: root, dataVolume: {name: root}}]
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {namespace: plain, name: demo}
spec:
  clusterName: demo
  replicas: 2
  selector: {matchLabels: {cluster.x-k8s.io/cluster-name: demo, pool: demo}}
  template:
    metadata: {labels: {cluster.x-k8s.io/cluster-name: demo, pool: demo}}
    spec: {clusterName: demo, version: v1.32.0, bootstrap: {dataSecretName: demo-workers}, infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1, kind: KubevirtMachineTemplate, name: demo}}
`

const hostedWorkerConfig = `version: v1alpha1
machine:
  type: worker
  token: %s
  ca: {crt: %s}
  install: {disk: /dev/vda, image: "ghcr.io/siderolabs/installer:v1.9.2"}
  kubelet: {image: "ghcr.io/siderolabs/kubelet:v1.32.0"}
cluster:
  controlPlane: {endpoint: "https://%s:6443"}
  clusterName: demo
  ca: {crt: %s}
  token: %s
  network: {dnsDomain: cluster.local, podSubnets: [10.244.0.0/16], serviceSubnets: [10.112.0.0/16]}
  discovery: {enabled: false}
`

// hostedTenant is a tenant that a test makes of plain objects of Cluster API.
type hostedTenant struct {
	adm
	management client.Client
	info       sim.Info
}

// TestPlainObjectsOfClusterAPIMakeATenant drives the simulator without any controller of this
// project: what is played here is the far side of the wire.
func TestPlainObjectsOfClusterAPIMakeATenant(t *testing.T) {
	t.Parallel()
	a := newAdm(t)
	a.ok("bootstrap", "harvester", "-c", exampleHA, "--rehearse")
	h := hostedTenant{adm: a, management: a.within("butler-mgmt")}
	data, err := os.ReadFile(filepath.Join(a.home, "rehearsals", "butler-mgmt", "sim", "sim.json"))
	if err == nil {
		err = json.Unmarshal(data, &h.info)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := a.machineNames("butler-mgmt")
	class := h.prepare()
	h.apply(hostedControlPlane)
	h.manageInfrastructure()
	h.await("StewardControlPlane", func(o *unstructured.Unstructured) bool { return nestedBool(o, "status", "ready") })
	tenant := h.connect()
	h.writeConfig(tenant, "abcdef.0123456789abcdef", "ffffff.0123456789abcdef")
	h.apply(fmt.Sprintf(hostedWorkers, class))

	h.awaitMachines(2, "Provisioned")
	nodes := &corev1.NodeList{}
	if err := h.client(tenant).List(t.Context(), nodes); err != nil || len(nodes.Items) != 0 {
		t.Fatalf("with an unknown token %d nodes have joined: %v", len(nodes.Items), err)
	}
	h.allowToken(tenant, "ffffff", "0123456789abcdef")
	h.awaitMachines(2, "Running")
	h.expectVersion(tenant, "v1.32.0")

	h.patch("StewardControlPlane", `{"spec":{"version":"v1.34.0"}}`)
	h.await("StewardControlPlane", func(o *unstructured.Unstructured) bool {
		return strings.Contains(conditionMessage(o, "TenantControlPlaneCreated"), "non-sequential")
	})
	h.patch("StewardControlPlane", `{"spec":{"version":"v1.33.1"}}`)
	h.await("StewardControlPlane", func(o *unstructured.Unstructured) bool {
		v, _, _ := unstructured.NestedString(o.Object, "status", "version")
		return v == "v1.33.1" && nestedBool(o, "status", "ready")
	})
	h.expectVersion(tenant, "v1.33.1")
	h.patch("MachineDeployment", `{"spec":{"replicas":1}}`)
	h.awaitMachines(1, "Running")

	cluster := h.get("Cluster")
	if err := h.management.Delete(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return h.get("Cluster") == nil })
	if after := a.machineNames("butler-mgmt"); len(after) != len(before) {
		t.Errorf("machines %v, before %v", after, before)
	}
	if r := a.ok("sim", "check", "butler-mgmt"); !strings.Contains(r.out+r.err, "0 violations") {
		t.Errorf("%s%s", r.out, r.err)
	}
}

// prepare installs the provider, an image that reads a config drive, and credentials, and
// returns the storage class of the image.
func (h hostedTenant) prepare() (class string) {
	h.Helper()
	m, err := standin.NewManifest("capi", "kubernetes-sigs/cluster-api-provider-kubevirt", "infrastructure-components.yaml", "v0.1.10")
	if err != nil {
		h.Fatal(err)
	}
	provider, err := m.YAML()
	if err != nil {
		h.Fatal(err)
	}
	h.apply(string(provider))
	kubeconfig, err := os.ReadFile(h.info.Credentials["kubeconfig"])
	if err != nil {
		h.Fatal(err)
	}
	h.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "plain"}})
	h.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "plain", Name: "harvester"}, Data: map[string][]byte{"kubeconfig": kubeconfig}})
	images := h.platform("butler-mgmt").Resource(virtualMachineImages).Namespace("default")
	image, err := images.Get(h.Context(), "talos-v1.9.2", metav1.GetOptions{})
	if err != nil {
		h.Fatal(err)
	}
	const name = "talos-openstack-v1.9.2"
	copied := &unstructured.Unstructured{Object: map[string]any{"apiVersion": image.GetAPIVersion(), "kind": image.GetKind(), "metadata": map[string]any{"name": name}, "spec": image.Object["spec"]}}
	_ = unstructured.SetNestedField(copied.Object, name, "spec", "displayName")
	if _, err := images.Create(h.Context(), copied, metav1.CreateOptions{}); err != nil {
		h.Fatal(err)
	}
	waitFor(h.T, func() bool {
		image, err := images.Get(h.Context(), name, metav1.GetOptions{})
		if err != nil {
			h.Fatal(err)
		}
		class, _, _ = unstructured.NestedString(image.Object, "status", "storageClassName")
		return class != ""
	})
	return class
}

// manageInfrastructure does what the one owes who annotates an infrastructure cluster with
// managed-by: the gate of the control plane provider keeps that from doing it.
func (h hostedTenant) manageInfrastructure() {
	h.Helper()
	host := ""
	h.await("StewardControlPlane", func(o *unstructured.Unstructured) bool {
		host, _, _ = unstructured.NestedString(o.Object, "spec", "controlPlaneEndpoint", "host")
		return host != ""
	})
	h.patch("KubevirtCluster", fmt.Sprintf(`{"spec":{"controlPlaneEndpoint":{"host":%q,"port":6443}}}`, host))
	ready := client.RawPatch(types.MergePatchType, []byte(`{"status":{"ready":true}}`))
	if err := h.management.Status().Patch(h.Context(), h.get("KubevirtCluster"), ready); err != nil {
		h.Fatal(err)
	}
}

func (h hostedTenant) create(o client.Object) {
	h.Helper()
	if err := h.management.Create(h.Context(), o); err != nil && !apierrors.IsAlreadyExists(err) {
		h.Fatal(err)
	}
}

// apply waits for webhooks that do not answer yet.
func (h hostedTenant) apply(text string) {
	h.Helper()
	for doc := range strings.SplitSeq(text, "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			h.Fatal(err)
		}
		if len(u.Object) == 0 {
			continue
		}
		var last error
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
			if last = h.management.Create(h.Context(), u); last == nil || apierrors.IsAlreadyExists(last) {
				last = nil
				break
			}
		}
		if last != nil {
			h.Fatalf("create %s %s: %v", u.GetKind(), u.GetName(), last)
		}
	}
}

func (h hostedTenant) get(kind string) *unstructured.Unstructured {
	h.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(map[string]string{
		"StewardControlPlane": "controlplane.cluster.x-k8s.io/v1alpha1", "KubevirtCluster": "infrastructure.cluster.x-k8s.io/v1alpha1",
	}[kind])
	if u.GetAPIVersion() == "" {
		u.SetAPIVersion("cluster.x-k8s.io/v1beta1")
	}
	u.SetKind(kind)
	err := h.management.Get(h.Context(), client.ObjectKey{Namespace: "plain", Name: "demo"}, u)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		h.Fatal(err)
	}
	return u
}

func (h hostedTenant) await(kind string, done func(*unstructured.Unstructured) bool) {
	h.Helper()
	waitFor(h.T, func() bool { o := h.get(kind); return o != nil && done(o) })
}

func (h hostedTenant) patch(kind, text string) {
	h.Helper()
	if err := h.management.Patch(h.Context(), h.get(kind), client.RawPatch(types.MergePatchType, []byte(text))); err != nil {
		h.Fatal(err)
	}
}

// awaitMachines waits for that many Machines, all in a phase.
func (h hostedTenant) awaitMachines(count int, phase string) {
	h.Helper()
	waitFor(h.T, func() bool {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("cluster.x-k8s.io/v1beta2")
		list.SetKind("MachineList")
		if err := h.management.List(h.Context(), list, client.InNamespace("plain")); err != nil {
			h.Fatal(err)
		}
		there := 0
		for _, m := range list.Items {
			if p, _, _ := unstructured.NestedString(m.Object, "status", "phase"); p == phase {
				there++
			}
		}
		return there == count && len(list.Items) == count
	})
}

func (h hostedTenant) secret(name string) map[string][]byte {
	h.Helper()
	s := &corev1.Secret{}
	if err := h.management.Get(h.Context(), client.ObjectKey{Namespace: "plain", Name: name}, s); err != nil {
		h.Fatal(err)
	}
	return s.Data
}

// connect reaches the tenant's API server over the simulated network.
func (h hostedTenant) connect() *rest.Config {
	h.Helper()
	config := h.config(h.secret("demo-kubeconfig")["value"])
	config.Proxy = func(*http.Request) (*url.URL, error) { return &url.URL{Scheme: "socks5", Host: h.info.Proxy}, nil }
	return config
}

func (h hostedTenant) client(config *rest.Config) client.Client {
	h.Helper()
	c, err := client.New(config, client.Options{})
	if err != nil {
		h.Fatal(err)
	}
	return c
}

// writeConfig has the workers join with a token that the tenant does not know, beside one that
// it does.
func (h hostedTenant) writeConfig(tenant *rest.Config, known, used string) {
	h.Helper()
	id, secret, _ := strings.Cut(known, ".")
	h.allowToken(tenant, id, secret)
	trust, ca := h.secret("demo-trustd-creds"), h.secret("demo-ca")
	host, _, _ := unstructured.NestedString(h.get("StewardControlPlane").Object, "spec", "controlPlaneEndpoint", "host")
	encode := base64.StdEncoding.EncodeToString
	config := fmt.Sprintf(hostedWorkerConfig, trust["token"], encode(trust["os-ca.crt"]), host, encode(ca["tls.crt"]), used)
	h.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "plain", Name: "demo-workers"}, Data: map[string][]byte{"value": []byte(config)}})
}

func (h hostedTenant) allowToken(tenant *rest.Config, id, secret string) {
	h.Helper()
	err := h.client(tenant).Create(h.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id}, Type: corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{
			"token-id": id, "token-secret": secret, "usage-bootstrap-authentication": "true",
			"auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token", "expiration": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		},
	})
	if err != nil {
		h.Fatal(err)
	}
}

func (h hostedTenant) expectVersion(tenant *rest.Config, want string) {
	h.Helper()
	api, err := discovery.NewDiscoveryClientForConfig(tenant)
	if err != nil {
		h.Fatal(err)
	}
	got, err := api.ServerVersion()
	if err != nil || got.GitVersion != want {
		h.Errorf("the tenant reports %v, want %s: %v", got, want, err)
	}
}

func nestedBool(o *unstructured.Unstructured, path ...string) bool {
	b, _, _ := unstructured.NestedBool(o.Object, path...)
	return b
}

func conditionMessage(o *unstructured.Unstructured, kind string) string {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range all {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			text, _ := m["message"].(string)
			return text
		}
	}
	return ""
}
