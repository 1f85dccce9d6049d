// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
)

// writeLimit lets so many writes through, and then nothing: to the cluster it is a
// process that was killed after its last write, before it learned of it.
type writeLimit struct {
	next http.RoundTripper
	left atomic.Int32
	dead chan struct{}
}

var errDead = errors.New("this process is dead")

func (m *writeLimit) RoundTrip(r *http.Request) (*http.Response, error) {
	left := m.left.Load()
	if r.Method != http.MethodGet {
		left = m.left.Add(-1)
	}
	if left < 0 {
		return nil, errDead
	}
	response, err := m.next.RoundTrip(r)
	if r.Method == http.MethodGet || left > 0 || err != nil {
		return response, err
	}
	_ = response.Body.Close()
	close(m.dead)
	return nil, errDead
}

// WrappedRoundTripper is what client-go asks for to find the transport.
func (m *writeLimit) WrappedRoundTripper() http.RoundTripper { return m.next }

// teahouse is an addon with all that one can have: a namespace with a level, a
// Secret, definitions, hooks before and after, a workload, and an object that
// follows. Version 0.9.0 goes without hooks.
func (l *lab) teahouse(version string) addon.Addon {
	const group = "teahouse.example.com"
	files := map[string]string{
		"crds/tea.yaml":         definitionFile(group, "kind: {type: string}"),
		"templates/before.yaml": hookFile("before", "pre-install,pre-upgrade", "", 0),
		"templates/house.yaml":  deploymentFile("house"),
		"templates/after.yaml":  hookFile("after", "post-install,post-upgrade", `, helm.sh/hook-delete-policy: hook-succeeded`, 0),
	}
	if version == "0.9.0" {
		delete(files, "templates/before.yaml")
		delete(files, "templates/after.yaml")
	}
	l.stock(l.key("teahouse"), version, files)
	return l.chart("teahouse", version, func(a *addon.Addon) {
		a.Namespace.PodSecurity = addon.Baseline
		a.Beside = []addon.Namespace{{Name: l.namespace + "-beside", PodSecurity: addon.Privileged}}
		a.Secret = &addon.Secret{Namespace: l.namespace, Name: "login", Copy: []string{"token"}}
		a.Ready.CRDs = []string{"teas." + group}
		a.Ready.Workloads = []addon.Ref{{APIVersion: "apps/v1", Kind: deploymentKind, Namespace: l.namespace, Name: "house"}}
		a.Objects = []*unstructured.Unstructured{objectOf(fmt.Sprintf(
			"{apiVersion: %s/v1, kind: Tea, metadata: {name: first, namespace: %s}, spec: {kind: green}}", group, l.namespace))}
	})
}

func (l *lab) withToken(t Target) Target {
	t.Platform.CredentialsRef = &v1alpha1.SecretReference{Name: "login"}
	t.Credentials = func(*v1alpha1.SecretReference) (map[string][]byte, error) {
		return map[string][]byte{"token": []byte("sesame")}, nil
	}
	return t
}

// TestKilledAtAnyWriteContinues kills an installation after each of its writes; the
// next process ends with the same cluster as one that was left alone.
func TestKilledAtAnyWriteContinues(t *testing.T) {
	killedAtEach(t, 19, func(*lab) {})
}

// TestKilledUpgradeContinues does the same with a change of the version.
func TestKilledUpgradeContinues(t *testing.T) {
	killedAtEach(t, 20, func(l *lab) {
		l.awaitReady(l.teahouse("0.9.0"))
		l.Close()
	})
}

// killedAtEach kills after each of at most so many writes. It makes sure that
// there are no more.
func killedAtEach(t *testing.T, most int32, before func(*lab)) {
	for writes := int32(1); writes <= most; writes++ {
		t.Run(fmt.Sprint("after write ", writes), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.kubelet(start)
			before(l)
			a := l.teahouse("1.0.0")
			if survived := l.killedAfter(writes, a); writes == most && !survived {
				t.Errorf("there are more than %d writes to kill after", writes)
			}
			l.awaitReady(a)
			l.wantTeahouse()
		})
	}
}

// killedAfter runs an installer that dies after so many writes, and reports
// whether it came through. The lab then has another one.
func (l *lab) killedAfter(writes int32, a addon.Addon) (survived bool) {
	l.Helper()
	m := &writeLimit{dead: make(chan struct{})}
	m.left.Store(writes)
	target := l.withToken(l.target())
	target.Config = rest.CopyConfig(l.config)
	target.Config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		m.next = next
		return m
	})
	victim := l.installer()
	ctx, cancel := context.WithTimeout(l.Context(), time.Minute)
	defer cancel()
	defer func() {
		victim.Close()
		l.Installer = l.installer()
	}()
	for {
		states := victim.Advance(target, []addon.Addon{a})
		if states[0].Phase == v1alpha1.AddonReady {
			return true
		}
		select {
		case <-m.dead:
			return false
		case <-l.wakes:
		case <-ctx.Done():
			l.Fatalf("it neither came through nor was killed: %+v", states)
		}
	}
}

// wantTeahouse expects all of the addon, once.
func (l *lab) wantTeahouse() {
	l.Helper()
	l.wantReleases("teahouse", 0)
	teas := dynamic.NewForConfigOrDie(l.config).Resource(schema.GroupVersionResource{Group: "teahouse.example.com", Version: "v1", Resource: "teas"})
	if _, err := teas.Namespace(l.namespace).Get(l.Context(), "first", metav1.GetOptions{}); err != nil {
		l.Error(err)
	}
	s, err := l.client.CoreV1().Secrets(l.namespace).Get(l.Context(), "login", metav1.GetOptions{})
	if err != nil || string(s.Data["token"]) != "sesame" {
		l.Errorf("the Secret is not as wanted: %v", err)
	}
	n, err := l.client.CoreV1().Namespaces().Get(l.Context(), l.namespace, metav1.GetOptions{})
	if err != nil || n.Labels["pod-security.kubernetes.io/enforce"] != "baseline" {
		l.Errorf("the namespace enforces %q: %v", n.Labels["pod-security.kubernetes.io/enforce"], err)
	}
	n, err = l.client.CoreV1().Namespaces().Get(l.Context(), l.namespace+"-beside", metav1.GetOptions{})
	if err != nil || n.Labels["pod-security.kubernetes.io/enforce"] != "privileged" {
		l.Errorf("the namespace beside it enforces %q: %v", n.Labels["pod-security.kubernetes.io/enforce"], err)
	}
	j, err := l.client.BatchV1().Jobs(l.namespace).Get(l.Context(), "before", metav1.GetOptions{})
	if err != nil || j.Status.Succeeded != 1 {
		l.Errorf("the hook before has not run: %v", err)
	}
	d, err := l.client.AppsV1().Deployments(l.namespace).Get(l.Context(), "house", metav1.GetOptions{})
	if err != nil || d.Labels["chart"] != "1.0.0" {
		l.Errorf("the Deployment is of chart %q: %v", d.Labels["chart"], err)
	}
	if _, err := l.client.BatchV1().Jobs(l.namespace).Get(l.Context(), "after", metav1.GetOptions{}); err == nil {
		l.Error("the hook after is still there, against its policy")
	}
}
