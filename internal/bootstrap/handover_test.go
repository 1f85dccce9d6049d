// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// full reads a manifest that has every field of its kind.
func full(t *testing.T, name string, into client.Object) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "testdata", "full", name))
	if err == nil {
		err = yaml.UnmarshalStrict(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func clientOf(t *testing.T, p *plane.Plane) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(p.Config(), client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTheNewClusterGetsItsConfigurationComplete writes manifests with every
// field to one API server, has them handed over to another, and compares.
func TestTheNewClusterGetsItsConfigurationComplete(t *testing.T) {
	admission := plane.Options{AdmissionOff: []string{"ServiceAccount"}}
	here, there := planetest.Start(t, admission), planetest.Start(t, admission)
	from, to := clientOf(t, here), clientOf(t, there)
	create(t, from, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "butler-system"}})
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "butler-system", Name: "credentials", Labels: map[string]string{"team": "platform"}},
		Type:       "example.com/login", Data: map[string][]byte{"kubeconfig": []byte("a\x00b"), "extra": []byte("c")},
	}
	create(t, from, secret)
	s := sessionOn(t, there, from)
	full(t, "clusterbootstrap.yaml", s.ClusterBootstrap)
	for _, name := range []string{"harvester", "nutanix", "proxmox", "aws", "gcp", "azure"} {
		s.provider = &v1alpha1.ProviderConfig{}
		full(t, "providerconfig-"+name+".yaml", s.provider)
		s.provider.Namespace, s.provider.Name = "butler-system", name
		s.provider.Annotations = map[string]string{"example.com/note": "kept", corev1.LastAppliedConfigAnnotation: "{}"}
		s.Spec.ProviderRef.Name = name
		create(t, from, s.provider)
		for range 2 { // the second time changes nothing
			if o, err := handOver(t.Context(), s); o != nil || err != nil {
				t.Fatalf("%s: %+v, %v", name, o, err)
			}
		}
		got := &v1alpha1.ProviderConfig{}
		get(t, to, s.provider, got)
		if diff := cmp.Diff(s.provider.Spec, got.Spec); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if want := map[string]string{"example.com/note": "kept"}; !cmp.Equal(want, got.Annotations) {
			t.Errorf("%s: annotations %v", name, got.Annotations)
		}
		if got.Generation != 1 {
			t.Errorf("%s: was changed by the second time: generation %d", name, got.Generation)
		}
	}
	copied := &corev1.Secret{}
	get(t, to, secret, copied)
	if !cmp.Equal(secret.Data, copied.Data) || secret.Type != copied.Type || !cmp.Equal(secret.Labels, copied.Labels) {
		t.Error("the Secret is not the same")
	}
	config := &v1alpha1.ButlerConfig{}
	get(t, to, &v1alpha1.ButlerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ButlerConfigName}}, config)
	want := v1alpha1.ButlerConfigSpec{
		ControlPlaneExposure: s.Spec.ControlPlaneExposure, DefaultProviderConfigRef: &v1alpha1.LocalReference{Name: "azure"},
		// The defaults of the schema.
		MultiTenancy: &v1alpha1.MultiTenancySpec{Mode: v1alpha1.TenancyDisabled}, DefaultNamespace: v1alpha1.DefaultTenantsNamespace,
	}
	if diff := cmp.Diff(want, config.Spec); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutItsDefinitionsNothingIsHandedOver(t *testing.T) {
	s := &Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}}
	if o, err := handOver(t.Context(), s); o != nil || err != nil {
		t.Errorf("%+v, %v", o, err)
	}
}

// sessionOn is one whose new cluster is the plane.
func sessionOn(t *testing.T, p *plane.Plane, live client.Reader) *Session {
	t.Helper()
	kubeconfig, err := os.ReadFile(p.KubeconfigPath())
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}, Live: live, Dial: (&net.Dialer{}).DialContext, kubernetes: kubernetesResults{kubeconfig: kubeconfig}}
	s.Status.AddonsInstalled = map[string]bool{addon.ButlerCRDs: true}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	s.kubernetes.cluster = &newCluster{Interface: kubernetes.NewForConfigOrDie(config), config: config}
	return s
}

func create(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, c client.Client, named, into client.Object) {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(named), into); err != nil {
		t.Fatal(err)
	}
}

// TestOtherCredentialsAreHandedOver replaces an immutable Secret, as
// an operator does who changes such credentials.
func TestOtherCredentialsAreHandedOver(t *testing.T) {
	admission := plane.Options{AdmissionOff: []string{"ServiceAccount"}}
	here, there := planetest.Start(t, admission), planetest.Start(t, admission)
	from, to := clientOf(t, here), clientOf(t, there)
	s := sessionOn(t, there, from)
	s.provider = &v1alpha1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cloud"},
		Spec: v1alpha1.ProviderConfigSpec{
			Provider: v1alpha1.ProviderGCP, GCP: &v1alpha1.GCPSpec{ProjectID: "project", Region: "region"},
			CredentialsRef: &v1alpha1.SecretReference{Name: "credentials"},
		},
	}
	login := func(key string) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "credentials"}, Immutable: new(true), Data: map[string][]byte{"key": []byte(key)},
		}
	}
	revisions := map[string]bool{}
	for _, key := range []string{"one", "two", "two"} {
		if err := client.IgnoreNotFound(from.Delete(t.Context(), login(""))); err != nil {
			t.Fatal(err)
		}
		create(t, from, login(key))
		revisions[s.credentialsRevision(t.Context(), nil)] = true
		if o, err := handOver(t.Context(), s); o != nil || err != nil {
			t.Fatalf("%s: %+v, %v", key, o, err)
		}
		copied := &corev1.Secret{}
		if get(t, to, login(""), copied); string(copied.Data["key"]) != key {
			t.Errorf("the new cluster has another key than %s", key)
		}
	}
	if len(revisions) != 2 || revisions[""] {
		t.Errorf("%d revisions of two credentials", len(revisions))
	}
	config := &v1alpha1.ButlerConfig{}
	get(t, to, &v1alpha1.ButlerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ButlerConfigName}}, config)
	if config.Spec.DefaultProviderConfigRef != nil {
		t.Error("a ProviderConfig is the default that is not where defaults are looked for")
	}
	if err := from.Delete(t.Context(), login("")); err != nil {
		t.Fatal(err)
	}
	if got := s.credentialsRevision(t.Context(), nil); got != "" {
		t.Errorf("credentials that are away have revision %s", got)
	}
}

// TestARefusalDeletesNoSecret has an admission policy of the new cluster deny what
// is handed over: the Secret that is there stays, whether or not it would have to be
// replaced.
func TestARefusalDeletesNoSecret(t *testing.T) {
	there := planetest.Start(t, plane.Options{AdmissionOff: []string{"ServiceAccount"}})
	to := clientOf(t, there)
	denySecrets(t, to)
	for reason, immutable := range map[string]*bool{"can be updated": nil, "immutable": new(true)} {
		old := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: strings.ReplaceAll(reason, " ", "-"), Labels: map[string]string{"owner": "platform"}},
			Data:       map[string][]byte{"key": []byte("one")}, Immutable: immutable,
		}
		create(t, to, old)
		rotated := old.DeepCopy()
		rotated.ResourceVersion, rotated.Labels, rotated.Data = "", map[string]string{"owner": ""}, map[string][]byte{"key": []byte("two")}
		s := sessionOn(t, there, fake.NewClientBuilder().WithObjects(rotated).Build())
		s.provider = &v1alpha1.ProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cloud"},
			Spec:       v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderGCP, CredentialsRef: &v1alpha1.SecretReference{Name: old.Name}},
		}
		o, err := handOver(t.Context(), s)
		if err != nil || o == nil || !strings.Contains(o.Message, "'owned-secrets'") {
			t.Errorf("%s: %+v, %v", reason, o, err)
		}
		if got := (&corev1.Secret{}); to.Get(t.Context(), client.ObjectKeyFromObject(old), got) != nil || string(got.Data["key"]) != "one" {
			t.Errorf("%s: the Secret is lost: %v", reason, got.Data)
		}
	}
}

// denySecrets makes the API server refuse Secrets that have no owner, as Invalid.
func denySecrets(t *testing.T, c client.Client) {
	t.Helper()
	for _, text := range []string{
		`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: owned-secrets}, spec: {
			matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [secrets], operations: [CREATE, UPDATE]}]},
			validations: [{expression: "has(object.metadata.labels) && object.metadata.labels[?'owner'].orValue('') != ''", message: "a Secret needs an owner"}]}}`,
		`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: owned-secrets}, spec: {
			policyName: owned-secrets, validationActions: [Deny]}}`,
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "\t", "")), &o.Object); err != nil {
			t.Fatal(err)
		}
		create(t, c, o)
	}
	probe := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "probe"}}
	for deadline := time.Now().Add(time.Minute); c.Create(t.Context(), probe.DeepCopy(), client.DryRunAll) == nil; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the policy is not enforced")
		}
	}
}
