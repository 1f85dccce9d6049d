// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

func TestPlaneKeepsObjectsAndPortAcrossStarts(t *testing.T) {
	o := plane.Options{Dir: t.TempDir(), Executable: planetest.Executable(t), Controllers: []string{"namespace-controller"}}
	first := start(t, o)
	address := first.Address()
	client := kubernetes.NewForConfigOrDie(first.Config())
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), kept, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// A role that has lost its rules, and one that is gone, as after an interrupted first start.
	roles := client.RbacV1().ClusterRoles()
	discovery := expectDefaults(t, client)
	discovery.Rules = nil
	if _, err := roles.Update(t.Context(), discovery, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := roles.Delete(t.Context(), "edit", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	stop(t, first)

	second := start(t, o)
	defer stop(t, second)
	expectDefaults(t, kubernetes.NewForConfigOrDie(second.Config()))
	if second.Address() != address {
		t.Errorf("address changed from %s to %s", address, second.Address())
	}
	client = kubernetes.NewForConfigOrDie(second.Config())
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil || !strings.HasPrefix(version.GitVersion, "v1.") {
		t.Errorf("version %v, %v: the build must set the component version", version, err)
	}
}

// expectDefaults checks a few of the roles, bindings and classes that every cluster has, and returns
// one of them.
func expectDefaults(t *testing.T, client kubernetes.Interface) *rbacv1.ClusterRole {
	t.Helper()
	discovery, err := client.RbacV1().ClusterRoles().Get(t.Context(), "system:discovery", metav1.GetOptions{})
	if err != nil || len(discovery.Rules) == 0 {
		t.Errorf("system:discovery has %d rules, %v", len(discovery.Rules), err)
	}
	_, edit := client.RbacV1().ClusterRoles().Get(t.Context(), "edit", metav1.GetOptions{})
	_, binding := client.RbacV1().ClusterRoleBindings().Get(t.Context(), "system:controller:namespace-controller", metav1.GetOptions{})
	_, role := client.RbacV1().Roles("kube-public").Get(t.Context(), "system:controller:bootstrap-signer", metav1.GetOptions{})
	_, class := client.SchedulingV1().PriorityClasses().Get(t.Context(), "system-node-critical", metav1.GetOptions{})
	if err := errors.Join(edit, binding, role, class); err != nil {
		t.Error(err)
	}
	return discovery
}

func TestSecondStartIsRefusedAndNamesTheHolder(t *testing.T) {
	o := plane.Options{Dir: t.TempDir(), Executable: planetest.Executable(t), Holder: "the first one"}
	p := start(t, o)
	defer stop(t, p)
	_, err := plane.Start(t.Context(), o)
	if !errors.Is(err, lock.ErrHeld) {
		t.Fatalf("second start: %v", err)
	}
	if want := fmt.Sprintf("the first one (pid %d", os.Getpid()); !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not say %q", err, want)
	}
	if h, ok := lock.Held(o.Dir); !ok || h.PID != os.Getpid() {
		t.Errorf("InUse = %v, %v", h, ok)
	}
}

func TestPortInUseIsAClearError(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	_, err = plane.Start(t.Context(), plane.Options{Dir: t.TempDir(), Executable: "/does/not/run", Port: port})
	if want := fmt.Sprintf("port %d of 127.0.0.1 is taken", port); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v does not say %q", err, want)
	}
}

func TestDirectoryThatCannotBeMadeIsAClearError(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := plane.Start(t.Context(), plane.Options{Dir: file + "/below", Executable: "/does/not/run"})
	if err == nil || !strings.Contains(err.Error(), "choose a directory that you may write to") {
		t.Errorf("error %v does not say what to do", err)
	}
}

func TestComponentThatFailsIsNamedWithItsCause(t *testing.T) {
	o := plane.Options{Dir: t.TempDir(), Executable: planetest.Executable(t), Args: []string{"--no-such-flag"}}
	_, err := plane.Start(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver ended: unknown flag: --no-such-flag") {
		t.Errorf("error: %v", err)
	}
	if _, held := lock.Held(o.Dir); held {
		t.Error("the directory is still held after a failed start")
	}
}

func TestGarbageCollectionRuns(t *testing.T) {
	p := planetest.Start(t, plane.Options{Controllers: []string{"garbage-collector-controller", "namespace-controller"}, AdmissionOff: []string{"ServiceAccount"}})
	configMaps := kubernetes.NewForConfigOrDie(p.Config()).CoreV1().ConfigMaps("default")
	owner, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
	}}}
	if _, err := configMaps.Create(t.Context(), owned, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := configMaps.Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, err := configMaps.Get(t.Context(), "owned", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the owned object is still there: %v", err)
		}
	}
}

func start(t *testing.T, o plane.Options) *plane.Plane {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := plane.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func stop(t *testing.T, p *plane.Plane) {
	t.Helper()
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}
