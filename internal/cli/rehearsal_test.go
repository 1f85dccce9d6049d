// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ui"
)

func TestRehearsalEndsInAReadyNodeAndIsGoneAgain(t *testing.T) {
	a := newAdm(t)
	watchAmbient(t, a.home)
	if r := a.ok(a.bootstrap()...); !strings.Contains(oneLine(r.err), "addons: stand-ins for the charts; --charts upstream uses the real ones") {
		t.Errorf("it does not say where charts come from:\n%s", r.err)
	}
	a.expectOneNode("v1.32.0")
	expectAddons(t, a, "dev-cluster", addonsSingle...)
	machine := a.expectOneMachine()
	a.expectStatusWithoutCredentials()
	if out := a.ok("talosconfig", "dev-cluster").out; !strings.Contains(out, "context: dev-cluster") {
		t.Errorf("talosconfig:\n%s", out)
	}

	if r := a.run("destroy", "other", "--yes", "--state-dir", filepath.Join(a.home, "rehearsals", "dev-cluster")); r.code != 2 || !strings.Contains(r.err, "holds the cluster dev-cluster, not other") {
		t.Errorf("destroy of another cluster: exit %d, %s", r.code, r.err)
	}

	// The power fails. The same command again finds the cluster as it was.
	a.ok("sim", "stop")
	r := a.ok(a.bootstrap("--output", "json")...)
	if last := lastEvent(t, r.out); last.Type != "ready" || last.Phase != v1alpha1.BootstrapReady {
		t.Errorf("last event %+v", last)
	}
	a.expectOneNode("v1.32.0")
	if again := a.expectOneMachine(); again != machine {
		t.Errorf("machine %s became %s", machine, again)
	}

	a.expectTenantsRefused(machine)
	r = a.ok("destroy", "dev-cluster", "--yes")
	if !strings.Contains(oneLine(r.err), "dev-cluster is destroyed; nothing is left on the platform") {
		t.Errorf("destroy said:\n%s", r.err)
	}
	a.expectNothingOnThePlatform("dev-cluster")
	if r := a.run("status", "dev-cluster"); r.code != 1 || !strings.Contains(r.err, "does not exist") {
		t.Errorf("status after destroy: exit %d, %s", r.code, r.err)
	}
	a.ok("destroy", "dev-cluster", "--yes")
	a.ok("sim", "stop", "dev-cluster")
	if out := a.ok("sim", "list").out; strings.Contains(out, "dev-cluster") {
		t.Errorf("still listed:\n%s", out)
	}
}

// expectTenantsRefused puts tenants on the cluster, has it destroyed in vain, and
// removes them again. Its own addons, whose ingress has a load balancer, are none.
func (a adm) expectTenantsRefused(machine string) {
	a.Helper()
	api, err := client.New(a.config([]byte(a.ok("kubeconfig", "dev-cluster").out)), client.Options{})
	if err != nil {
		a.Fatal(err)
	}
	tenant := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"infrastructureRef": map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1", "kind": "KubevirtCluster", "name": "prod"},
	}}}
	tenant.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta1", Kind: "Cluster"})
	service := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}}
	all := []client.Object{tenant, service}
	for _, o := range all {
		o.SetNamespace("default")
		o.SetName("prod")
		if err := api.Create(a.Context(), o); err != nil {
			a.Fatal(err)
		}
	}
	const want = "dev-cluster has tenants: Cluster default/prod, Service default/prod; nothing was deleted"
	a.run("destroy", "dev-cluster", "--yes").expect(a.T, 2, want, "Service default/prod (type LoadBalancer)", "butleradm destroy dev-cluster --even-if-tenants")
	r := a.run("destroy", "dev-cluster", "--dry-run")
	if r.expect(a.T, 2, want); !strings.Contains(r.out, "\n  Cluster default/prod (cluster.x-k8s.io)\n") {
		a.Errorf("shown:\n%s", r.out)
	}
	a.ok("destroy", "dev-cluster", "--dry-run", "--even-if-tenants")
	if again := a.expectOneMachine(); again != machine {
		a.Errorf("machine %s became %s", machine, again)
	}
	for _, o := range all {
		if err := api.Delete(a.Context(), o); err != nil {
			a.Fatal(err)
		}
		a.expectGone(api, o)
	}
}

// expectGone waits until an object is gone: Cluster API removes its finalizer first.
func (a adm) expectGone(api client.Client, o client.Object) {
	a.Helper()
	for ctx := a.Context(); !apierrors.IsNotFound(api.Get(ctx, client.ObjectKeyFromObject(o), o)); time.Sleep(100 * time.Millisecond) {
		if ctx.Err() != nil {
			a.Fatal(ctx.Err())
		}
	}
}

func TestWhatNoRetryFixesEndsInFailed(t *testing.T) {
	a := newAdm(t)
	conflicting := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "butler-system", Name: "dev-cluster-talos-secrets"}}
	a.withPlane(filepath.Join(a.home, "rehearsals", "dev-cluster", "plane"), func(api client.Client) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: conflicting.Namespace}}
		if err := errors.Join(api.Create(t.Context(), namespace), api.Create(t.Context(), conflicting)); err != nil {
			t.Fatal(err)
		}
	})
	r := a.run(a.bootstrap("--output", "json")...)
	last := lastEvent(t, r.out)
	if r.code != 1 || last.Type != ui.EventFailed || last.Code != 1 || !strings.Contains(r.out, "belongs to another cluster") {
		t.Errorf("exit %d, last event %+v\n%s%s", r.code, last, r.out, r.err)
	}
	if n := len(a.uids("dev-cluster", virtualMachines)); n != 0 {
		t.Errorf("%d machines", n)
	}
}

func TestTimedOutLeavesEverythingAndSaysSo(t *testing.T) {
	a := newAdm(t)
	dir := filepath.Join(a.home, "else where")
	r := a.run(a.bootstrap("--state-dir", dir, "--timeout", "1s")...)
	for _, want := range []string{
		"continue:   butleradm bootstrap harvester -c " + example + " --rehearse --state-dir '" + dir + "' --timeout 1s\n",
		"look at it: butleradm status dev-cluster\n",
		"remove it:  butleradm destroy dev-cluster\n",
	} {
		if r.code != 124 || !strings.Contains(r.err, want) {
			t.Errorf("exit %d without %q:\n%s", r.code, want, r.err)
		}
	}
	// The name alone points to a directory that lies elsewhere.
	a.ok("sim", "stop", "dev-cluster")
}

// nodes lists the nodes of a cluster with its administrator's kubeconfig.
func (a adm) nodes(cluster string) []corev1.Node {
	a.Helper()
	config := a.config([]byte(a.ok("kubeconfig", cluster).out))
	nodes, err := kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().List(a.Context(), metav1.ListOptions{})
	if err != nil {
		a.Fatal(err)
	}
	return nodes.Items
}

func (a adm) expectOneNode(version string) {
	a.Helper()
	nodes := a.nodes("dev-cluster")
	if len(nodes) != 1 {
		a.Fatalf("%d nodes", len(nodes))
	}
	n := nodes[0]
	if n.Name != "dev-cluster-cp-0" || n.Status.NodeInfo.KubeletVersion != version || !isReady(n) {
		a.Errorf("node %s %s, conditions %+v", n.Name, n.Status.NodeInfo.KubeletVersion, n.Status.Conditions)
	}
}

func isReady(n corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// platform asks the simulated platform, as its administrator.
func (a adm) platform(cluster string) dynamic.Interface {
	a.Helper()
	data, err := os.ReadFile(filepath.Join(a.home, "rehearsals", cluster, "sim", "admin.yaml"))
	if err != nil {
		a.Fatal(err)
	}
	return dynamic.NewForConfigOrDie(a.config(data))
}

func (a adm) config(kubeconfig []byte) *rest.Config {
	a.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		a.Fatal(err)
	}
	return config
}

func (a adm) uids(cluster string, gvr schema.GroupVersionResource) (out []string) {
	a.Helper()
	list, err := a.platform(cluster).Resource(gvr).List(a.Context(), metav1.ListOptions{})
	if err != nil {
		a.Fatal(err)
	}
	for _, item := range list.Items {
		out = append(out, string(item.GetUID()))
	}
	return out
}

var (
	virtualMachines      = schema.GroupVersionResource{Group: "kubevirt.io", Version: "v1", Resource: "virtualmachines"}
	virtualMachineImages = schema.GroupVersionResource{Group: "harvesterhci.io", Version: "v1beta1", Resource: "virtualmachineimages"}
	volumeClaims         = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
)

func (a adm) expectOneMachine() string {
	a.Helper()
	machines, volumes := a.uids("dev-cluster", virtualMachines), a.uids("dev-cluster", volumeClaims)
	if len(machines) != 1 || len(volumes) != 1 {
		a.Fatalf("%d machines, %d volumes", len(machines), len(volumes))
	}
	return machines[0]
}

func (a adm) expectNothingOnThePlatform(cluster string) {
	a.Helper()
	if m, v := a.uids(cluster, virtualMachines), a.uids(cluster, volumeClaims); len(m)+len(v) != 0 {
		a.Errorf("%d machines, %d volumes are left", len(m), len(v))
	}
}

func (a adm) expectStatusWithoutCredentials() {
	a.Helper()
	var cb v1alpha1.ClusterBootstrap
	if err := json.Unmarshal([]byte(a.ok("status", "dev-cluster", "-o", "json").out), &cb); err != nil {
		a.Fatal(err)
	}
	if cb.Kind != "ClusterBootstrap" || cb.Status.Phase != v1alpha1.BootstrapReady || cb.Status.ControlPlaneEndpoint != "10.40.0.100" {
		a.Errorf("%s in phase %s at %s", cb.Kind, cb.Status.Phase, cb.Status.ControlPlaneEndpoint)
	}
	if cb.Status.Kubeconfig != "" || cb.Status.Talosconfig != "" {
		a.Error("the status shows credentials")
	}
}

// oneLine is a text without its line breaks, which depend on its width.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// events are those of --output json.
func events(t *testing.T, out string) (all []ui.Event) {
	t.Helper()
	for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
		e := ui.Event{}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		all = append(all, e)
	}
	return all
}

func lastEvent(t *testing.T, out string) ui.Event {
	t.Helper()
	all := events(t, out)
	if len(all) == 0 {
		t.Fatal("no event was written")
	}
	return all[len(all)-1]
}
