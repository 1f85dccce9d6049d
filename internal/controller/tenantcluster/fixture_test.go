// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/config/clusterapi"
	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
	"github.com/butlerdotdev/butler/internal/controller/ipallocation"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

var api *rest.Config

// TestMain starts one API server. It is the management cluster, with the definitions of
// Cluster API and its providers as they were released, and the tenant of every test.
func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	definitions, err := allDefinitions()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(run(m, definitions))
}

func run(m *testing.M, definitions []*apiextensionsv1.CustomResourceDefinition) int {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args, err := recorded(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	o := plane.Options{AdmissionOff: []string{"ServiceAccount"}, Controllers: []string{"namespace-controller"}, Definitions: definitions, Args: args, Names: []string{"*." + v1alpha1.DefaultTenantsNamespace + ".k8s.example.com"}}
	return planetest.Run(m, o, func(p *plane.Plane) {
		api = p.Config()
		api.QPS = -1
	})
}

func allDefinitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	out, err := crd.All()
	for _, of := range [][2]string{
		{clusterapi.Core, "v1.9.4"}, {clusterapi.Kubevirt, "v0.1.10"}, {clusterapi.Proxmox, "v0.7.2"},
		{clusterapi.Steward, "v0.3.0"}, {clusterapi.Nutanix, "v1.7.0"},
	} {
		more, failed := clusterapi.Definitions(of[0], of[1])
		err = errors.Join(err, failed)
		for _, d := range more {
			if len(d.Spec.Versions) == 1 { // those with several want a webhook
				unrepeat(d.Spec.Versions[0].Schema.OpenAPIV3Schema)
				out = append(out, d)
			}
		}
	}
	return append(out, loose(gateways, "gateways"), loose(tlsRoutes, "tlsroutes")), err
}

// loose defines a kind whose objects may say anything.
func loose(kind schema.GroupVersionKind, plural string) *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: plural + "." + kind.Group, Annotations: map[string]string{"api-approved.kubernetes.io": "unapproved, for tests"},
	}}
	d.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: kind.Group, Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: strings.ToLower(kind.Kind), Kind: kind.Kind, ListKind: kind.Kind + "List"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: kind.Version, Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}},
		}},
	}
	return d
}

// unrepeat removes rules that a release has twice, which cannot be applied on the server.
func unrepeat(s *apiextensionsv1.JSONSchemaProps) {
	s.XValidations = slices.CompactFunc(s.XValidations, func(a, b apiextensionsv1.ValidationRule) bool { return a.Rule == b.Rule })
	for name, p := range s.Properties {
		unrepeat(&p)
		s.Properties[name] = p
	}
	if s.Items != nil && s.Items.Schema != nil {
		unrepeat(s.Items.Schema)
	}
}

// fixture is a management cluster with a reconciler, and a player of what others do.
type fixture struct {
	*controllertest.Fixture
	player *player
	charts string
	ahead  atomic.Int64 // of the reconciler's clock, in nanoseconds
	// asked counts the requests to the platform.
	asked *calls
	// requests counts those of the controller to the management cluster.
	requests calls
	// between, if set, is what all requests and connections of the controller go through.
	between *gate
}

// prepare creates what a reconciler finds.
func prepare(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{Fixture: newBare(t), charts: chartsOf(t), asked: &calls{}}
	f.rights()
	f.provider()
	return f
}

// now is the reconciler's clock.
func (f *fixture) now() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := prepare(t)
	f.Must(f.DeleteAllOf(t.Context(), &corev1.Node{})) // all tests have one tenant API server
	f.start()
	f.player = newPlayer(f)
	return f
}

// newBare has the namespaces of a management cluster, and no controller.
func newBare(t testing.TB) *controllertest.Fixture {
	t.Helper()
	f := controllertest.New(t, api)
	for _, name := range []string{v1alpha1.DefaultTenantsNamespace, platformNamespace} {
		f.Must(client.IgnoreAlreadyExists(f.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})))
	}
	return f
}

// rights are those of the chart: the reconciler has no others, in all tests.
func (f *fixture) rights() {
	f.Helper()
	data, err := os.ReadFile("../../../config/rbac/butler-controller.yaml")
	f.Must(err)
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		o := &unstructured.Unstructured{}
		f.Must(yaml.Unmarshal([]byte(document), &o.Object))
		if len(o.Object) > 0 {
			f.Must(f.Apply(f.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test"), client.ForceOwnership))
		}
	}
	// The value credentialsSecrets of the chart.
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: f.Namespace}}
	role.Rules = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{f.Namespace}, Verbs: []string{"get"}}}
	binding := &rbacv1.RoleBinding{ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}}
	binding.Subjects = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: platformNamespace, Name: Owner}}
	f.Must(errors.Join(f.Create(f.Context(), role), f.Create(f.Context(), binding)))
}

// start runs the controller until the test ends or the returned function is called.
func (f *fixture) start() (stop func()) {
	f.Helper()
	scheme, err := program.Scheme()
	f.Must(err)
	as := rest.CopyConfig(api)
	as.Impersonate = rest.ImpersonationConfig{UserName: account, Groups: []string{"system:serviceaccounts", "system:authenticated"}}
	as.Wrap(f.requests.of)
	dial := dialOnlyServers
	if g := f.between; g != nil {
		as.Wrap(g.before)
		dial = g.dial
	}
	m, err := manager.New(as, manager.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"}, NewCache: program.NewCache(f.Context()),
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	f.Must(err)
	from, err := source.New(source.Options{Charts: f.charts})
	f.Must(err)
	f.Must(Register(m, Options{Dial: dial, Lookup: noNames, Addons: from, TrustdTag: "v0.4.0", LoginTTL: time.Second, Clock: f.now}))
	f.Must(ipallocation.Register(m, ipallocation.Options{Name: Owner}))
	return controllertest.Run(f.TB, m)
}

// dialOnlyServers has no Talos nodes.
func dialOnlyServers(ctx context.Context, network, address string) (net.Conn, error) {
	if strings.HasSuffix(address, ":50000") {
		return nil, errors.New("connection refused")
	}
	if host, port, err := net.SplitHostPort(address); err == nil && host == proxyAddress && (port == "443" || port == "6443") {
		address = strings.TrimPrefix(api.Host, "https://")
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// proxyAddress is where a proxy for the API servers of tenants is.
const proxyAddress = "192.0.2.77"

// provider creates a ProviderConfig whose Harvester has one image.
func (f *fixture) provider() {
	f.Helper()
	harvester := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.asked.add(r)
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/apis/harvesterhci.io/v1beta1/namespaces/default/virtualmachineimages/talos" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
			return
		}
		fmt.Fprint(w, `{"apiVersion":"harvesterhci.io/v1beta1","kind":"VirtualMachineImage","metadata":{"name":"talos","namespace":"default"},"status":{"storageClassName":"longhorn-image-talos"}}`)
	}))
	f.Cleanup(harvester.Close)
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["h"] = &clientcmdapi.Cluster{Server: harvester.URL, InsecureSkipTLSVerify: true}
	kubeconfig.Contexts["h"] = &clientcmdapi.Context{Cluster: "h"}
	kubeconfig.CurrentContext = "h"
	data, err := clientcmd.Write(*kubeconfig)
	f.Must(err)
	name := f.Namespace
	f.Must(f.Create(f.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: name}, Data: map[string][]byte{"kubeconfig": data}}))
	p := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: name}}
	p.Spec = v1alpha1.ProviderConfigSpec{
		Provider: v1alpha1.ProviderHarvester, CredentialsRef: &v1alpha1.SecretReference{Name: name},
		Harvester: &v1alpha1.HarvesterSpec{Endpoint: harvester.URL, Namespace: "default", NetworkName: "default/net", ImageName: "default/talos"},
	}
	f.Must(f.Create(f.Context(), p))
}

// tenant is a cluster with two workers, which is not created yet.
func (f *fixture) tenant() *v1alpha1.TenantCluster {
	tc := &v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.DefaultTenantsNamespace, Name: f.Namespace}}
	tc.Spec.KubernetesVersion = "v1.31.0"
	tc.Spec.ProviderConfigRef = &v1alpha1.TenantProviderReference{Name: f.Namespace}
	tc.Spec.Workers.Replicas = 2
	tc.Spec.Workers.MachineTemplate = v1alpha1.TenantMachineTemplateSpec{CPU: 2, Memory: resource.MustParse("4Gi"), DiskSize: resource.MustParse("40Gi")}
	tc.Spec.Addons.CertManager.Enabled = new(false)
	return tc
}

// ready creates a tenant and waits until it is Ready.
func (f *fixture) ready(tc *v1alpha1.TenantCluster) *v1alpha1.TenantCluster {
	f.Helper()
	f.Must(f.Create(f.Context(), tc))
	return f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return tc.Status.Phase == v1alpha1.TenantReady })
}

// until waits until a tenant is as wanted.
func (f *fixture) until(tc *v1alpha1.TenantCluster, is func(*v1alpha1.TenantCluster) bool) *v1alpha1.TenantCluster {
	f.Helper()
	now := &v1alpha1.TenantCluster{}
	err := wait.PollUntilContextTimeout(f.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := f.Get(ctx, client.ObjectKeyFromObject(tc), now); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		return is(now), nil
	})
	if err != nil {
		f.Fatalf("%v: phase %s, %v", err, now.Status.Phase, conditionsOf(now))
	}
	return now
}

func conditionsOf(tc *v1alpha1.TenantCluster) (out []string) {
	for _, c := range tc.Status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return out
}

// change changes the spec of a tenant.
func (f *fixture) change(tc *v1alpha1.TenantCluster, how func(*v1alpha1.TenantCluster)) {
	f.Helper()
	f.Await(func() error {
		now := &v1alpha1.TenantCluster{}
		if err := f.Get(f.Context(), client.ObjectKeyFromObject(tc), now); err != nil {
			return err
		}
		how(now)
		return f.Update(f.Context(), now)
	})
}

// gone deletes a tenant and waits until nothing of it is left.
func (f *fixture) gone(tc *v1alpha1.TenantCluster) {
	f.Helper()
	now := f.until(tc, func(*v1alpha1.TenantCluster) bool { return true })
	f.Must(f.Delete(f.Context(), tc))
	err := wait.PollUntilContextTimeout(f.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return apierrors.IsNotFound(f.Get(ctx, client.ObjectKeyFromObject(tc), now)), nil
	})
	if err != nil {
		f.Fatalf("%v: %v", err, conditionsOf(now))
	}
	err = f.Get(f.Context(), client.ObjectKey{Name: now.Annotations[annotationNamespace]}, &corev1.Namespace{})
	if !apierrors.IsNotFound(err) {
		f.Errorf("the namespace is still there: %v", err)
	}
}

func isTrue(tc *v1alpha1.TenantCluster, kind string) bool {
	return meta.IsStatusConditionTrue(tc.Status.Conditions, kind)
}

func condition(tc *v1alpha1.TenantCluster, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(tc.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// chartsOf is a directory with charts of Cilium and MetalLB that have what is waited for and nothing else.
func chartsOf(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"cilium/Chart.yaml": "apiVersion: v2\nname: cilium\nversion: 1.17.0\n",
		"cilium/templates/all.yaml": workload("DaemonSet", "cilium") + workload("DaemonSet", "cilium-envoy") + workload("Deployment", "cilium-operator") +
			definition("cilium.io", "v2", "ciliumnetworkpolicies", "CiliumNetworkPolicy") + definition("cilium.io", "v2", "ciliumnodes", "CiliumNode"),
		"metallb/Chart.yaml": "apiVersion: v2\nname: metallb\nversion: 0.14.9\n",
		"metallb/templates/all.yaml": strings.ReplaceAll(workload("Deployment", "metallb-controller")+workload("DaemonSet", "metallb-speaker"), "kube-system", "metallb-system") +
			definition("metallb.io", "v1beta1", "ipaddresspools", "IPAddressPool") + definition("metallb.io", "v1beta1", "l2advertisements", "L2Advertisement") +
			"---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: metallb-webhook-configuration}\n",
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func workload(kind, name string) string {
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: %s
metadata: {name: %[2]s, namespace: kube-system}
spec:
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}}
    spec: {containers: [{name: c, image: "example.com/c:1"}]}
`, kind, name)
}

func definition(group, version, plural, kind string) string {
	return fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[4]s}
spec:
  group: %[4]s
  scope: %[6]s
  names: {plural: %[1]s, singular: %[3]s, kind: %[2]s}
  versions: [{name: %[5]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, plural, kind, strings.ToLower(kind), group, version, map[bool]string{true: "Cluster", false: "Namespaced"}[group == "cilium.io"])
}

// noNames is a name server without names.
func noNames(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such name") }
