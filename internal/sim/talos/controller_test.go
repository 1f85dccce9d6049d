// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	ownNamespace  = "butler-system"
	ownController = "butler-provider-harvester"
)

// starter is a command that runs a real controller. It notes each process, and fails
// as long as the file "$0.broken" is there.
const starter = `shift
echo $$ >>"$0.pids"
echo "$POD_NAME" >"$0.name"
if [ -e "$0.broken" ]; then echo "no such luck"; exit 3; fi
exec "$real" "$@"
`

func newStarter(t *testing.T) string {
	t.Helper()
	controller, err := planetest.Build(t.Context(), "github.com/butlerdotdev/butler/cmd/"+ownController)
	check(t, err)
	file := filepath.Join(t.TempDir(), "starter")
	check(t, os.WriteFile(file, []byte("#!/bin/sh\nreal='"+controller+"'\n"+starter), 0o700))
	return file
}

// lastPID is that of the last process that was started.
func lastPID(t *testing.T, file string) (pid int) {
	t.Helper()
	content, err := os.ReadFile(file + ".pids")
	check(t, err)
	all := strings.Fields(string(content))
	pid, err = strconv.Atoi(all[len(all)-1])
	check(t, err)
	return pid
}

func ended(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestControllersRunForReal(t *testing.T) {
	command := newStarter(t)
	t.Parallel()
	s, client := oneNode(t, simtalos.Options{Executable: planetest.Executable(t), Controllers: func(string) []string { return []string{command} }})
	installCilium(t, client)
	define(t, s)
	createController(t, client)
	pods := awaitPods(t, client, ownController, 1, podReady)
	first := lastPID(t, command)
	if name, err := os.ReadFile(command + ".name"); err != nil || strings.TrimSpace(string(name)) != pods[0].Name {
		t.Errorf("the process of %s has the name %s, %v", pods[0].Name, name, err)
	}
	leads(t, s, client) // which it can only do with its service account's rights
	files(t, s)
	t.Run("it ends with its pod", func(t *testing.T) {
		check(t, client.CoreV1().Pods(ownNamespace).Delete(t.Context(), pods[0].Name, metav1.DeleteOptions{}))
		eventually(t, func(context.Context) bool { return ended(first) }, func() any { return "it continues" })
		awaitPods(t, client, ownController, 1, podReady)
		if lastPID(t, command) == first {
			t.Error("the next pod runs nothing")
		}
	})
	t.Run("one that fails is started again", func(t *testing.T) { crashes(t, client, command) })
	t.Run("it ends with its machine", func(t *testing.T) {
		before := lastPID(t, command)
		s.datacenter.Kill("cp-0")
		if !ended(before) {
			t.Error("it continues without its machine")
		}
		s.powerOn(t, "cp-0")
		awaitPods(t, client, ownController, 1, func(p *corev1.Pod) bool { return podReady(p) && lastPID(t, command) != before })
	})
	t.Run("it has ended when its pod is gone", func(t *testing.T) { scaledDown(t, client, command) })
	t.Run("another takes over when its machine dies", func(t *testing.T) { takenOver(t, s, client) })
}

// scaledDown: once there are no pods any more, no controller works.
func scaledDown(t *testing.T, client *kubernetes.Clientset, command string) {
	before := lastPID(t, command)
	none := []byte(`{"spec": {"replicas": 0}}`)
	_, err := client.AppsV1().Deployments(ownNamespace).Patch(t.Context(), ownController, types.MergePatchType, none, metav1.PatchOptions{})
	check(t, err)
	awaitPods(t, client, ownController, 0, podReady)
	if !ended(before) {
		t.Error("its pod is gone, and it continues")
	}
}

// takenOver: a second one, on another machine, waits for the lease of the first.
func takenOver(t *testing.T, s *site, client *kubernetes.Clientset) {
	s.join(t, talos.Node{Name: "w-0", Role: talos.Worker})
	awaitNode(t, client, "w-0")
	before := present(t.Context(), client)
	createProgram(t, client, "leader", "w-0")
	awaitPods(t, client, "leader", 1, podReady)
	leader := holder(t, client, before)
	createProgram(t, client, "standby", "cp-0")
	awaitPods(t, client, "standby", 1, podReady)
	if now := present(t.Context(), client); now != leader {
		t.Fatalf("%s leads, and nothing happened to %s", now, leader)
	}
	s.datacenter.Kill("w-0")
	holder(t, client, leader)
}

// holder waits until a pod leads, another than the one before.
func holder(t *testing.T, client *kubernetes.Clientset, before string) (name string) {
	t.Helper()
	eventually(t, func(ctx context.Context) bool {
		name = present(ctx, client)
		return name != "" && name != before
	}, func() any { return fmt.Sprintf("%q leads, as before", name) })
	return name
}

// present is the pod that leads now; empty if none does.
func present(ctx context.Context, client *kubernetes.Clientset) string {
	leases, err := client.CoordinationV1().Leases(ownNamespace).List(ctx, metav1.ListOptions{})
	if err != nil || len(leases.Items) != 1 || leases.Items[0].Spec.HolderIdentity == nil {
		return ""
	}
	return *leases.Items[0].Spec.HolderIdentity
}

// define creates the kinds that a controller cannot do without.
func define(t *testing.T, s *site) {
	t.Helper()
	m, _ := s.datacenter.Running("cp-0")
	client, err := apiextensions.NewForConfig(s.access(t, m.Address.Addr().String()))
	check(t, err)
	all, err := crd.All()
	check(t, err)
	for _, definition := range all {
		_, err := client.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), definition, metav1.CreateOptions{})
		check(t, err)
	}
}

// crashes kills the process while its starter is broken.
func crashes(t *testing.T, client *kubernetes.Clientset, command string) {
	check(t, os.WriteFile(command+".broken", nil, 0o600))
	check(t, syscall.Kill(lastPID(t, command), syscall.SIGKILL))
	awaitPods(t, client, ownController, 1, func(p *corev1.Pod) bool {
		w := p.Status.ContainerStatuses[0].State.Waiting
		return !podReady(p) && w != nil && w.Reason == "CrashLoopBackOff" && strings.Contains(w.Message, "exit status 3: no such luck")
	})
	check(t, os.Remove(command+".broken"))
	awaitPods(t, client, ownController, 1, podReady)
}

// leads waits until the controller holds its lease.
func leads(t *testing.T, s *site, client *kubernetes.Clientset) {
	t.Helper()
	var leases *coordinationv1.LeaseList
	var err error
	eventually(t, func(ctx context.Context) bool {
		leases, err = client.CoordinationV1().Leases(ownNamespace).List(ctx, metav1.ListOptions{})
		return err == nil && len(leases.Items) == 1 && leases.Items[0].Spec.HolderIdentity != nil
	}, func() any {
		said, _ := os.ReadFile(outputs(t, s, "*.log")[0])
		return fmt.Sprintf("%v, %v; it said %s", leases, err, said)
	})
}

func outputs(t *testing.T, s *site, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.dir, "machines", "cp-0", "pods", "*", pattern))
	check(t, err)
	return found
}

// files are for no other user to read.
func files(t *testing.T, s *site) {
	t.Helper()
	found := outputs(t, s, "*")
	if len(found) != 2 {
		t.Fatalf("files of the pod: %v, want a log and a kubeconfig", found)
	}
	for _, file := range found {
		for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
			info, err := os.Stat(path)
			check(t, err)
			if got := info.Mode().Perm(); got != want {
				t.Errorf("%s has mode %o, want %o", path, got, want)
			}
		}
	}
}

func createController(t *testing.T, client *kubernetes.Clientset) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: ownController, Namespace: ownNamespace}
	_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ownNamespace}}, metav1.CreateOptions{})
	check(t, err)
	_, err = client.CoreV1().ServiceAccounts(ownNamespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	check(t, err)
	global := metav1.ObjectMeta{Name: ownController}
	_, err = client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: global, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
		{APIGroups: []string{"", "butler.butlerlabs.dev"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
	}}, metav1.CreateOptions{})
	check(t, err)
	_, err = client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: global,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ownController},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ownNamespace, Name: ownController}},
	}, metav1.CreateOptions{})
	check(t, err)
	createProgram(t, client, ownController, "cp-0")
}

// createProgram has the controller run on a node.
func createProgram(t *testing.T, client *kubernetes.Clientset, name, node string) {
	t.Helper()
	template := podTemplate(name, "")
	template.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	template.Spec.ServiceAccountName = ownController
	template.Spec.Containers = []corev1.Container{{
		Name: "controller", Image: "ghcr.io/butlerdotdev/" + ownController + ":v0.0.0",
		Args: []string{"--leader-elect", "--health-probe-bind-address=:8081", "--metrics-bind-address", ":8080"},
		Env: []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"},
		}}},
	}}
	_, err := client.AppsV1().Deployments(ownNamespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ownNamespace},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
	}, metav1.CreateOptions{})
	check(t, err)
}
