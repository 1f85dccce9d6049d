// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

var (
	target *plane.Plane
	egress *router
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if egress, err = newRouter(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer egress.close()
	return planetest.Run(m, plane.Options{
		AdmissionOff: []string{"ServiceAccount"},
		Args:         []string{"--egress-selector-config-file=" + egress.config, "--allow-privileged"},
		Controllers: []string{
			"daemonset-controller", "deployment-controller", "garbage-collector-controller", "job-controller", "namespace-controller",
			"replicaset-controller", "statefulset-controller",
		},
	}, func(p *plane.Plane) { target = p })
}

// shelf is a source of charts and objects that a test fills.
type shelf struct {
	mu       sync.Mutex
	contents map[string]func() source.Content
	failure  error
	hang     bool
	fetched  int
}

func (s *shelf) Fetch(ctx context.Context, a addon.Addon, _ source.Variables) (source.Content, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetched++
	if s.hang {
		s.mu.Unlock()
		<-ctx.Done()
		s.mu.Lock()
		return source.Content{}, ctx.Err()
	}
	if s.failure != nil {
		return source.Content{}, s.failure
	}
	content, there := s.contents[a.Key+" "+a.Version]
	if !there {
		return source.Content{}, fmt.Errorf("%s %s is not on the shelf", a.Key, a.Version)
	}
	return content(), ctx.Err()
}

// stock puts a chart on the shelf.
func (s *shelf) stock(key, version string, files map[string]string) {
	s.put(key, version, func() source.Content {
		return source.Content{Chart: chartOf(key, version, files), Origin: "the shelf", Digest: "sha256:" + key + version}
	})
}

func (s *shelf) put(key, version string, content func() source.Content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.contents == nil {
		s.contents = map[string]func() source.Content{}
	}
	s.contents[key+" "+version] = content
}

func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
}

func (s *shelf) fetches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetched
}

func chartOf(name, version string, files map[string]string) *chart.Chart {
	all := []*archive.BufferedFile{{Name: "Chart.yaml", Data: fmt.Appendf(nil, "apiVersion: v2\nname: %s\nversion: %s\n", name, version)}}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		all = append(all, &archive.BufferedFile{Name: path, Data: []byte(files[path])})
	}
	c, err := loader.LoadFiles(all)
	if err != nil {
		panic(err)
	}
	return c
}

// lab is an installer and a cluster with a kubelet of sorts.
type lab struct {
	*testing.T
	*shelf
	*Installer
	client    kubernetes.Interface
	config    *rest.Config
	namespace string
	wakes     chan struct{}
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{T: t, shelf: &shelf{}, config: target.Config(), wakes: make(chan struct{}, 1)}
	l.config.QPS = -1
	l.client = kubernetes.NewForConfigOrDie(l.config)
	l.namespace = l.freshNamespace()
	l.Installer = l.installer()
	return l
}

// installer is another process.
func (l *lab) installer() *Installer {
	l.Helper()
	i := newInstaller(Options{Wake: func(string) {
		select {
		case l.wakes <- struct{}{}:
		default:
		}
	}}, l.shelf)
	l.Cleanup(i.Close)
	return i
}

func (l *lab) freshNamespace() string {
	l.Helper()
	n, err := l.client.CoreV1().Namespaces().Create(l.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "lab-"}}, metav1.CreateOptions{})
	if err != nil {
		l.Fatal(err)
	}
	return n.Name
}

func (l *lab) target() Target { return l.withToken(Target{ID: l.namespace, Config: l.config}) }

// key makes the key of an addon the test's own: records share a namespace.
func (l *lab) key(name string) string { return l.namespace + "-" + name }

// chart is an addon with a chart.
func (l *lab) chart(name, version string, change ...func(*addon.Addon)) addon.Addon {
	a := addon.Addon{
		Key: l.key(name), Version: version, Release: name, Namespace: addon.Namespace{Name: l.namespace},
		Source: addon.Source{Kind: addon.ChartRepository, URL: "https://charts.example.com", Chart: name},
	}
	for _, f := range change {
		f(&a)
	}
	return a
}

// await advances until the states are as wanted, and fails with the last ones
// when that takes too long.
func (l *lab) await(what string, addons []addon.Addon, wanted func([]State) bool) []State {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		states := l.Advance(l.target(), addons)
		if wanted(states) {
			return states
		}
		select {
		case <-ctx.Done():
			l.Fatalf("%s: still %+v", what, states)
		case <-l.wakes:
		case <-tick.C:
		}
	}
}

func (l *lab) awaitReady(addons ...addon.Addon) []State {
	l.Helper()
	return l.await("all are ready", addons, func(states []State) bool {
		return !slices.ContainsFunc(states, func(s State) bool { return s.Phase != v1alpha1.AddonReady })
	})
}

func (l *lab) awaitPhase(phase v1alpha1.AddonPhase, addons ...addon.Addon) State {
	l.Helper()
	states := l.await("the first is "+string(phase), addons, func(states []State) bool { return states[0].Phase == phase })
	return states[0]
}

// kubelet makes pods of the lab's namespace ready, or what behave does to them,
// until the test ends.
func (l *lab) kubelet(behave func(*corev1.Pod)) {
	l.Helper()
	pods := l.client.CoreV1().Pods(l.namespace)
	w, err := pods.Watch(l.Context(), metav1.ListOptions{})
	if err != nil {
		l.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for e := range w.ResultChan() {
			p, isPod := e.Object.(*corev1.Pod)
			if !isPod || e.Type == watch.Deleted || p.Status.Phase != corev1.PodPending || p.Annotations["seen"] != "" {
				continue
			}
			behave(p)
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"seen":"yes"}}}`)
			_, _ = pods.UpdateStatus(context.Background(), p, metav1.UpdateOptions{})
			_, _ = pods.Patch(context.Background(), p.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
	}()
	l.Cleanup(func() {
		w.Stop()
		<-ended
	})
}

// start is what a kubelet does when all goes well.
func start(p *corev1.Pod) {
	if owner := metav1.GetControllerOf(p); owner != nil && owner.Kind == jobKind {
		p.Status.Phase = corev1.PodSucceeded
		return
	}
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
}

// crash is what a kubelet reports of a pod that ends with an error.
func crash(p *corev1.Pod) {
	p.Status.Phase = corev1.PodFailed
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 7, Message: "out of tea"}},
	}}
}

const container = "containers: [{name: main, image: example.com/main:1}]"

// deploymentFile is a chart's file with a Deployment.
func deploymentFile(name string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, labels: {chart: "{{ .Chart.Version }}"}}
spec:
  replicas: {{ .Values.replicas | default 1 }}
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s, version: "{{ .Chart.Version }}"}}
    spec: {%[2]s}
`, name, container)
}

// hookFile is a chart's file with a hook.
func hookFile(name, events, policy string, backOffLimit int) string {
	return fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata:
  name: %s
  annotations: {helm.sh/hook: "%s"%s}
spec:
  backoffLimit: %d
  template:
    spec: {restartPolicy: Never, %s}
`, name, events, policy, backOffLimit, container)
}

// definitionFile defines a kind; more properties make another version of it.
func definitionFile(group string, properties string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: teas.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: teas, singular: tea, kind: Tea, listKind: TeaList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%[2]s}}}}}
`, group, properties)
}

func objectOf(text string) *unstructured.Unstructured {
	objects, err := parse([]byte(text))
	if err != nil || len(objects) != 1 {
		panic(errors.Join(errors.New("one object was expected"), err))
	}
	return objects[0]
}
