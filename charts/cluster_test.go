// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

var api *rest.Config

// TestMain starts a cluster that knows none of the kinds: the chart brings them.
func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	none := plane.Options{Definitions: []*apiextensionsv1.CustomResourceDefinition{}}
	os.Exit(planetest.Run(m, none, func(p *plane.Plane) { api = p.Config() }))
}

// installed is a client of the cluster on which all charts are installed, with
// the values of a highly available cluster.
func installed(t *testing.T) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme} {
		must(t, add(s))
	}
	c, err := client.New(api, client.Options{Scheme: s})
	must(t, err)
	apply(t, c, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": namespace, "labels": map[string]any{"pod-security.kubernetes.io/enforce": "restricted"}},
	}})
	for _, a := range ha(t) {
		for _, o := range objects(t, a.Source.Chart, a.Values) {
			apply(t, c, o)
		}
	}
	return c
}

func apply(t *testing.T, c client.Client, o *unstructured.Unstructured) {
	t.Helper()
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test")); err != nil {
		t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
}

func TestTheDefinitionsArriveAsTheyAre(t *testing.T) {
	c := installed(t)
	all, err := crd.All()
	must(t, err)
	for _, want := range all {
		got := &apiextensionsv1.CustomResourceDefinition{}
		await(t, nil, func() error {
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(want), got))
			for _, condition := range got.Status.Conditions {
				if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
					return nil
				}
			}
			return fmt.Errorf("%s is not established: %+v", want.Name, got.Status)
		})
		if diff := cmp.Diff(want.Spec.Versions, got.Spec.Versions); diff != "" {
			t.Errorf("%s: %s", want.Name, diff)
		}
		if got.Annotations["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s goes with the release", want.Name)
		}
	}
}

func TestPodsMeetTheRestrictedLevel(t *testing.T) {
	c := installed(t)
	for _, name := range controllers {
		d := &appsv1.Deployment{}
		must(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, d))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: d.Spec.Template.Labels}, Spec: d.Spec.Template.Spec}
		must(t, c.Create(t.Context(), pod.DeepCopy(), client.DryRunAll))
		if *d.Spec.Replicas != 2 || pod.Spec.Containers[0].Image != "ghcr.io/butlerdotdev/"+name+":"+version {
			t.Errorf("%d of %s", *d.Spec.Replicas, pod.Spec.Containers[0].Image)
		}
		pod.Spec.SecurityContext.SeccompProfile = nil
		if err := c.Create(t.Context(), pod, client.DryRunAll); !apierrors.IsForbidden(err) {
			t.Errorf("the level is not enforced: %v", err)
		}
	}
}

func TestAControllerMayDoNoMoreThanItMust(t *testing.T) {
	c := installed(t)
	const group = v1alpha1.Group
	cases := []struct {
		account, verb, group, resource, name, namespace string
		allowed                                         bool
	}{
		{"butler-controller", "patch", group, "butlerconfigs/status", "", "", true},
		{"butler-controller", "patch", group, "butlerconfigs", "", "", false},
		{"butler-controller", "get", "", "secrets", "", namespace, false},
		{"butler-controller", "patch", group, "providerconfigs", "", namespace, false},
		{"butler-controller", "update", "coordination.k8s.io", "leases", "butler-controller." + group, namespace, true},
		{"butler-controller", "update", "coordination.k8s.io", "leases", "butler-bootstrap." + group, namespace, false},
		{"butler-bootstrap", "create", "", "secrets", "", namespace, true},
		{"butler-bootstrap", "get", "", "secrets", "", "kube-system", false},
		{"butler-bootstrap", "update", "", "secrets", "", namespace, false},
		{"butler-bootstrap", "watch", "", "secrets", "", namespace, false},
		{"butler-bootstrap", "create", group, "machinerequests", "", namespace, true},
		{"butler-bootstrap", "delete", group, "clusterbootstraps", "", namespace, false},
		{"butler-provider-harvester", "patch", group, "machinerequests/status", "", namespace, true},
		{"butler-provider-harvester", "create", group, "machinerequests", "", namespace, false},
		{"butler-provider-harvester", "create", "", "secrets", "", namespace, false},
	}
	for _, x := range cases {
		resource, sub, _ := strings.Cut(x.resource, "/")
		r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + namespace + ":" + x.account,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: x.verb, Group: x.group, Resource: resource, Subresource: sub, Name: x.name, Namespace: x.namespace,
			},
		}}
		must(t, c.Create(t.Context(), r))
		if r.Status.Allowed != x.allowed {
			t.Errorf("%s may %s %s %s in %q: %v", x.account, x.verb, x.resource, x.name, x.namespace, r.Status.Allowed)
		}
	}
}

// TestTheControllerTakesUpAButlerConfigWithItsOwnRights runs the binary as the
// ServiceAccount of its chart.
func TestTheControllerTakesUpAButlerConfigWithItsOwnRights(t *testing.T) {
	c := installed(t)
	logs := started(t, c, "butler-controller")
	config := &v1alpha1.ButlerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ButlerConfigName}}
	config.Spec.ControlPlaneExposure = &v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureIngress, Hostname: "*.k8s.example.com"}
	must(t, c.Create(t.Context(), config))
	ready := func(reason string) {
		t.Helper()
		await(t, logs, func() error {
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(config), config))
			if r := meta.FindStatusCondition(config.Status.Conditions, v1alpha1.ConditionReady); r == nil || r.Reason != reason {
				return fmt.Errorf("no %s: %+v", reason, config.Status)
			}
			return nil
		})
	}
	ready("IngressClassMissing")
	config.Spec.ControlPlaneExposure.Mode, config.Spec.ControlPlaneExposure.GatewayRef = v1alpha1.ExposureGateway, namespace+"/tenants"
	must(t, c.Update(t.Context(), config))
	ready("GatewayAPIMissing")
	config.Spec.ControlPlaneExposure = nil
	must(t, c.Update(t.Context(), config))
	ready("InForce")
	awaitEvents(t, c, logs, "IngressClassMissing", "GatewayAPIMissing", "InForce")
	content(t, logs)
}

// TestTheBootstrapMakesAndRemovesRequestsWithItsOwnRights does not get further
// than to requests, as there is no platform.
func TestTheBootstrapMakesAndRemovesRequestsWithItsOwnRights(t *testing.T) {
	c := installed(t)
	logs := started(t, c, "butler-bootstrap")
	provider := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "prod"}}
	provider.Spec.Provider = v1alpha1.ProviderHarvester
	provider.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "credentials"}
	provider.Spec.Harvester = &v1alpha1.HarvesterSpec{NetworkName: "default/workloads"}
	must(t, c.Create(t.Context(), provider))
	cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dev"}}
	cb.Spec.Provider, cb.Spec.ProviderRef = v1alpha1.ProviderHarvester, v1alpha1.ProviderReference{Name: "prod"}
	cb.Spec.Cluster = v1alpha1.ClusterSpec{
		Name: "dev", Topology: v1alpha1.TopologySingleNode,
		ControlPlane: v1alpha1.NodePool{Replicas: 1, CPU: 4, MemoryMB: 8192, DiskGB: 50},
	}
	cb.Spec.Network = v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", VIP: "10.40.0.100"}
	cb.Spec.Talos = v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: strings.Repeat("0a", 32)}
	must(t, c.Create(t.Context(), cb))
	awaitEvents(t, c, logs, "ProvisioningMachines")
	counts(t, c, logs, 1)
	must(t, c.Delete(t.Context(), cb))
	await(t, logs, func() error {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(cb), cb)
		if err == nil {
			return fmt.Errorf("still there: %+v", cb.Status)
		}
		return client.IgnoreNotFound(err)
	})
	counts(t, c, logs, 0)
	content(t, logs)
}

// counts waits until there are so many requests and keys of clusters.
func counts(t *testing.T, c client.Client, logs *output, want int) {
	t.Helper()
	await(t, logs, func() error {
		var requests v1alpha1.MachineRequestList
		var secrets corev1.SecretList
		must(t, c.List(t.Context(), &requests))
		must(t, c.List(t.Context(), &secrets, client.InNamespace(namespace)))
		if len(requests.Items) != want || len(secrets.Items) != want {
			return fmt.Errorf("%d requests and %d Secrets, not %d", len(requests.Items), len(secrets.Items), want)
		}
		return nil
	})
}

// awaitEvents waits until there is an event of each reason.
func awaitEvents(t *testing.T, c client.Client, logs *output, reasons ...string) {
	t.Helper()
	await(t, logs, func() error {
		var list corev1.EventList
		must(t, c.List(t.Context(), &list))
		seen := map[string]bool{}
		for _, e := range list.Items {
			seen[e.Reason] = true
		}
		for _, r := range reasons {
			if !seen[r] {
				return fmt.Errorf("no event %s among %v", r, seen)
			}
		}
		return nil
	})
}

// content fails if the log has errors.
func content(t *testing.T, logs *output) {
	t.Helper()
	if text := logs.String(); strings.Contains(text, "forbidden") || strings.Contains(text, `"level":"ERROR"`) {
		t.Errorf("the log has errors:\n%s", text)
	}
}

// output collects what a binary writes.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// started runs a binary of this project until the test ends, as its
// ServiceAccount and with the arguments of its chart, but for the ports.
func started(t *testing.T, c client.Client, name string) *output {
	t.Helper()
	path, err := planetest.Build(t.Context(), "github.com/butlerdotdev/butler/cmd/"+name)
	must(t, err)
	d := &appsv1.Deployment{}
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, d))
	var args []string
	for _, arg := range d.Spec.Template.Spec.Containers[0].Args {
		args = append(args, strings.ReplaceAll(strings.ReplaceAll(arg, ":8081", "127.0.0.1:0"), ":8080", "0"))
	}
	out := &output{}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig(t, c, d.Spec.Template.Spec.ServiceAccountName))
	cmd.Stdout, cmd.Stderr = out, out
	must(t, cmd.Start())
	t.Cleanup(func() {
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s ended with %v:\n%s", name, err, out)
		}
	})
	return out
}

// kubeconfig of a ServiceAccount, with a token.
func kubeconfig(t *testing.T, c client.Client, account string) string {
	t.Helper()
	token := &authenticationv1.TokenRequest{}
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	must(t, c.SubResource("token").Create(t.Context(), sa, token))
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: api.Host, CertificateAuthorityData: api.CAData}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	k.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "x"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*k, path))
	return path
}

func await(t *testing.T, logs *output, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	if logs != nil {
		t.Logf("log of the binary:\n%s", logs)
	}
	t.Fatal(err)
}
