// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
)

func needs(keys ...string) func(*addon.Addon) {
	return func(a *addon.Addon) { a.Needs = append(a.Needs, keys...) }
}

func TestAddonWaitsForWhatItNeeds(t *testing.T) {
	l := newLab(t)
	l.stock(l.key("a"), "1.0.0", map[string]string{"templates/a.yaml": deploymentFile("a")})
	l.stock(l.key("b"), "1.0.0", map[string]string{"templates/b.yaml": deploymentFile("b")})
	addons := []addon.Addon{l.chart("a", "1.0.0"), l.chart("b", "1.0.0", needs(l.key("a")))}

	states := l.await("a waits for its pods", addons, func(s []State) bool {
		return s[0].Phase == v1alpha1.AddonWaiting && strings.Contains(s[0].Message, "a: 0 of 1 pods are ready")
	})
	if s := states[1]; s.Phase != v1alpha1.AddonPending || s.Message != "waits for "+l.key("a") {
		t.Errorf("b is %s, %q", s.Phase, s.Message)
	}
	l.kubelet(start)
	for _, s := range l.awaitReady(addons...) {
		if s.Message != "" || s.Digest != "sha256:"+s.Key+"1.0.0" || s.Version != "1.0.0" {
			t.Errorf("a ready addon is reported as %+v", s)
		}
	}
	l.wantReleases("a", 1)
	l.wantReleases("b", 1)
}

// wantReleases expects a number of revisions, of which one is deployed.
func (l *lab) wantReleases(name string, revisions int) {
	l.Helper()
	list, err := l.client.CoreV1().Secrets(l.namespace).List(l.Context(), metav1.ListOptions{LabelSelector: "owner=helm,name=" + name})
	if err != nil {
		l.Fatal(err)
	}
	deployed := 0
	var found []string
	for _, s := range list.Items {
		found = append(found, s.Labels["version"]+" "+s.Labels["status"])
		if s.Labels["status"] == "deployed" {
			deployed++
		}
	}
	if deployed != 1 || revisions > 0 && len(found) != revisions || len(found) > maxHistory {
		l.Errorf("release %s has the revisions %q; want %d, one of them deployed", name, found, revisions)
	}
}

func (l *lab) pods() []corev1.Pod {
	l.Helper()
	list, err := l.client.CoreV1().Pods(l.namespace).List(l.Context(), metav1.ListOptions{})
	if err != nil {
		l.Fatal(err)
	}
	return list.Items
}

func TestNewProcessFetchesNothingThatIsThere(t *testing.T) {
	l := newLab(t)
	l.kubelet(start)
	a := l.teahouse("1.0.0")
	l.awaitReady(a)
	l.Close()

	l.fail(errors.New("there is no network"))
	before := l.fetches()
	l.Installer = l.installer()
	states := l.awaitReady(a)
	if l.fetches() != before {
		t.Error("an addon was fetched again that the cluster has as it is wanted")
	}
	if states[0].Digest == "" {
		t.Error("the checksum is not known to a new process")
	}
	l.wantReleases("teahouse", 1)
}

// TestChangedChartOfThisProgramIsApplied has a build that differs from another
// one of the same version.
func TestChangedChartOfThisProgramIsApplied(t *testing.T) {
	l := newLab(t)
	l.kubelet(start)
	a := l.chart("tea", "1.0.0", func(a *addon.Addon) { a.Source = addon.Source{Kind: addon.ChartCarried, Chart: "tea"} })
	for revision, digest := range []string{"sha256:1", "sha256:1", "sha256:2"} {
		l.put(a.Key, a.Version, func() source.Content {
			return source.Content{Chart: chartOf("tea", "1.0.0", map[string]string{"templates/tea.yaml": deploymentFile("tea")}), Digest: digest}
		})
		if s := l.awaitReady(a)[0]; s.Digest != digest {
			t.Errorf("the checksum is %s; want %s", s.Digest, digest)
		}
		l.wantReleases("tea", max(1, revision))
		l.Close()
		l.Installer = l.installer()
	}
}

func TestChangedVersionUpgrades(t *testing.T) {
	l := newLab(t)
	l.kubelet(start)
	group := l.namespace + ".example.com"
	for version, properties := range map[string]string{"1.0.0": "kind: {type: string}", "2.0.0": "kind: {type: string}, sort: {type: string}"} {
		l.stock(l.key("tea"), version, map[string]string{
			"crds/tea.yaml": definitionFile(group, properties), "templates/tea.yaml": deploymentFile("tea"),
		})
	}
	l.awaitReady(l.chart("tea", "1.0.0"))
	l.wantProperties("teas."+group, 1)
	for range 5 {
		l.awaitReady(l.chart("tea", "2.0.0"))
		l.wantProperties("teas."+group, 2)
		l.awaitReady(l.chart("tea", "2.0.0", func(a *addon.Addon) { a.Values = map[string]any{"replicas": 2} }))
	}
	l.wantReleases("tea", maxHistory)
	d, err := l.client.AppsV1().Deployments(l.namespace).Get(t.Context(), "tea", metav1.GetOptions{})
	if err != nil || *d.Spec.Replicas != 2 || d.Labels["chart"] != "2.0.0" {
		t.Errorf("the Deployment is not as the last chart and values want it: %v", err)
	}
	for _, f := range d.ManagedFields {
		if f.Manager != manager && f.Operation == metav1.ManagedFieldsOperationApply {
			t.Errorf("fields are owned by %s", f.Manager)
		}
	}
}

// wantProperties expects so many fields in the schema of a kind.
func (l *lab) wantProperties(name string, number int) {
	l.Helper()
	d, err := dynamic.NewForConfigOrDie(l.config).Resource(definitions).Get(l.Context(), name, metav1.GetOptions{})
	if err != nil {
		l.Fatal(err)
	}
	versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
	fields, _, _ := unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties")
	if len(fields) != number {
		l.Errorf("%s has %d fields; want %d", name, len(fields), number)
	}
}

func TestNamespaceWithoutALevelIsMadeOrLeftAsItIs(t *testing.T) {
	l := newLab(t)
	kept, made := l.namespace+"-kept", l.namespace+"-made"
	mine := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: kept, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}}}
	if _, err := l.client.CoreV1().Namespaces().Create(t.Context(), mine, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	l.kubelet(start)
	l.stock(l.key("tea"), "1.0.0", map[string]string{"templates/tea.yaml": deploymentFile("tea")})
	l.awaitReady(l.chart("tea", "1.0.0", func(a *addon.Addon) { a.Beside = []addon.Namespace{{Name: kept}, {Name: made}} }))
	for name, want := range map[string]string{kept: "privileged", made: ""} {
		n, err := l.client.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Labels["pod-security.kubernetes.io/enforce"]; got != want {
			t.Errorf("%s has level %q", name, got)
		}
	}
}

func TestFetchThatFailsReportsWhyAndHeals(t *testing.T) {
	l := newLab(t)
	l.kubelet(start)
	l.stock(l.key("tea"), "1.0.0", map[string]string{"templates/tea.yaml": deploymentFile("tea")})
	l.fail(errors.New("chart tea cannot be fetched:\n  no route to host"))
	a := l.chart("tea", "1.0.0")
	if s := l.awaitPhase(v1alpha1.AddonFailing, a); s.Message != "chart tea cannot be fetched:; no route to host" {
		t.Errorf("the message is %q", s.Message)
	}
	failed := l.fetches()
	l.await("it is retried by itself", []addon.Addon{a}, func(s []State) bool {
		if s[0].Phase != v1alpha1.AddonFailing {
			t.Errorf("the cause is gone from sight: %+v", s[0])
		}
		return l.fetches() > failed
	})
	l.fail(nil)
	l.awaitReady(a)
}

func TestLostAddonIsReportedAndDeletedOneIsAppliedAgain(t *testing.T) {
	l := newLab(t)
	l.kubelet(start)
	l.stock(l.key("tea"), "1.0.0", map[string]string{"templates/tea.yaml": deploymentFile("tea")})
	a := l.chart("tea", "1.0.0")
	l.awaitReady(a)

	for _, p := range l.pods() {
		p.Status.Conditions[0].Status = corev1.ConditionFalse
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "example.com/main:1", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image"},
		}}}
		if _, err := l.client.CoreV1().Pods(l.namespace).UpdateStatus(t.Context(), &p, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s := l.awaitPhase(v1alpha1.AddonWaiting, a)
	if want := "Deployment " + l.namespace + "/tea: 0 of 1 pods are ready: ErrImagePull of example.com/main:1"; s.Message != want {
		t.Errorf("the message is %q; want %q", s.Message, want)
	}

	before, err := l.client.AppsV1().Deployments(l.namespace).Get(t.Context(), "tea", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.client.AppsV1().Deployments(l.namespace).Delete(t.Context(), "tea", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	l.awaitReady(a)
	after, err := l.client.AppsV1().Deployments(l.namespace).Get(t.Context(), "tea", metav1.GetOptions{})
	if err != nil || before.UID == after.UID {
		t.Errorf("the Deployment was not made again: %v", err)
	}
}

func TestManifestIsAppliedKindsFirst(t *testing.T) {
	l := newLab(t)
	group := l.namespace + ".example.com"
	a := addon.Addon{Key: l.key("manifest"), Version: "v1", Source: addon.Source{Kind: addon.Manifest, URL: "https://example.com/%s.yaml"}}
	a.Ready.CRDs = []string{"teas." + group}
	l.put(a.Key, a.Version, func() source.Content {
		return source.Content{Objects: []*unstructured.Unstructured{
			objectOf("{apiVersion: " + group + "/v1, kind: Tea, metadata: {name: first, namespace: " + l.namespace + "-inner}}"),
			objectOf(definitionFile(group, "kind: {type: string}")),
			objectOf("{apiVersion: v1, kind: Namespace, metadata: {name: " + l.namespace + "-inner}}"),
		}}
	})
	l.awaitReady(a)
	teas := dynamic.NewForConfigOrDie(l.config).Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "teas"})
	if _, err := teas.Namespace(l.namespace+"-inner").Get(t.Context(), "first", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if err := dynamic.NewForConfigOrDie(l.config).Resource(definitions).Delete(t.Context(), "teas."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	fetched := l.fetches()
	l.await("what was deleted is applied again", []addon.Addon{a}, func(s []State) bool {
		return l.fetches() > fetched && s[0].Phase == v1alpha1.AddonReady
	})
}

func TestMissingCredentialIsNamedAndItsAddonTriedAgain(t *testing.T) {
	l := newLab(t)
	l.kubelet(start)
	a := l.teahouse("1.0.0")
	a.Secret.Copy = []string{"password"}
	s := l.awaitPhase(v1alpha1.AddonFailing, a)
	for _, want := range []string{"password", l.namespace + "/login"} {
		if !strings.Contains(s.Message, want) {
			t.Errorf("%q does not name %s", s.Message, want)
		}
	}
	a.Secret = &addon.Secret{Namespace: l.namespace, Name: "login", Copy: []string{"token"}}
	l.awaitReady(a)
}

func TestAddonOfOthersIsOnlyLookedAt(t *testing.T) {
	l := newLab(t)
	a := addon.Addon{Key: l.key("vip"), Version: "v1", Source: addon.Source{Kind: addon.Objects}}
	a.Ready.Workloads = []addon.Ref{{APIVersion: "apps/v1", Kind: daemonSetKind, Namespace: l.namespace, Name: "vip"}}
	s := l.awaitPhase(v1alpha1.AddonWaiting, a)
	if want := "DaemonSet " + l.namespace + "/vip is not there"; s.Message != want {
		t.Errorf("the message is %q; want %q", s.Message, want)
	}
	if l.fetches() != 0 {
		t.Error("it was fetched")
	}
}

func TestForgetEndsWorkThatHangs(t *testing.T) {
	for name, hang := range map[string]func(*lab, addon.Addon){
		"in a hook": func(l *lab, a addon.Addon) {
			l.stock(a.Key, a.Version, map[string]string{"templates/hook.yaml": hookFile("hook", "pre-install", "", 0)})
		},
		"in a fetch": func(l *lab, a addon.Addon) {
			l.put(a.Key, a.Version, nil)
			l.hang = true
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			a := l.chart("tea", "1.0.0")
			hang(l, a)
			l.await("it is at work", []addon.Addon{a}, func(s []State) bool {
				return l.fetches() > 0 && (name == "in a fetch" || strings.Contains(s[0].Message, "hook Job "+l.namespace+"/hook has not ended"))
			})
			l.Forget(l.namespace)
		})
	}
}
