// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

// ha is a site with three control planes and three workers, configured to share an
// address that no node holds so far.
type ha struct {
	*site
	address map[string]string // by name
	faults  *fault.Injector
	auditor *audit.Auditor
}

var (
	haControlPlanes = []string{"cp-0", "cp-1", "cp-2"}
	haWorkers       = []string{"w-0", "w-1", "w-2"}
	haNodes         = slices.Concat(haControlPlanes, haWorkers)
)

func newHA(t *testing.T) *ha {
	t.Helper()
	h := &ha{address: map[string]string{}, faults: plan()}
	var err error
	h.auditor, err = audit.Open(audit.Options{Dir: t.TempDir()})
	check(t, err)
	h.site = newSite(t, simtalos.Options{Executable: planetest.Executable(t), Faults: h.faults, Auditor: h.auditor})
	for _, name := range haNodes {
		h.add(t, name)
	}
	return h
}

// add powers a machine on and pushes its configuration.
func (h *ha) add(t *testing.T, name string) {
	t.Helper()
	h.address[name] = h.powerOn(t, name).Address.Addr().String()
	h.awaitState(t, h.address[name], talos.StateMaintenance)
	cluster := testCluster()
	cluster.SharedIP = talos.SharedIP{}
	role := talos.Worker
	if strings.HasPrefix(name, "cp") {
		role = talos.ControlPlane
	}
	config, err := talos.Config(h.secrets, cluster, talos.Node{Name: name, Role: role})
	check(t, err)
	check(t, h.client.Apply(t.Context(), h.address[name], config))
}

// through is a client that reaches the cluster at one address, whatever its
// kubeconfig says.
func (h *ha) through(t *testing.T, name string) *kubernetes.Clientset {
	t.Helper()
	kubeconfig, err := h.client.Kubeconfig(t.Context(), h.address["cp-1"])
	check(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	check(t, err)
	config.QPS = -1
	config.Dial = h.network.Dial
	if name != "" {
		config.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return h.network.Dial(ctx, network, h.address[name]+":6443")
		}
	}
	client, err := kubernetes.NewForConfig(config)
	check(t, err)
	return client
}

// at is a client that has a control plane's own address, in TLS too.
func (h *ha) at(t *testing.T, name string) *kubernetes.Clientset {
	t.Helper()
	kubeconfig, err := h.client.Kubeconfig(t.Context(), h.address[name])
	check(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	check(t, err)
	config.Host, config.Dial = "https://"+h.address[name]+":6443", h.network.Dial
	client, err := kubernetes.NewForConfig(config)
	check(t, err)
	return client
}

func (h *ha) answers(t *testing.T, hostport string) bool {
	t.Helper()
	conn, err := h.network.Dial(t.Context(), "tcp", hostport)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

func (h *ha) bootstrap(t *testing.T, name string) {
	t.Helper()
	h.site.bootstrap(t, h.address[name])
	check(t, h.network.Await(t.Context(), h.address[name]+":6443"))
}

func (s *site) bootstraps(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.options.Dir, "*", "bootstraps"))
	check(t, err)
	var lines []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		check(t, err)
		lines = append(lines, strings.Split(strings.TrimSpace(string(content)), "\n")...)
	}
	return lines
}

func (h *ha) members(t *testing.T, name string) (names []string) {
	t.Helper()
	members, err := h.client.Members(t.Context(), h.address[name])
	check(t, err)
	for _, m := range members {
		if m.Learner {
			t.Errorf("%s does not vote", m.Hostname)
		}
		names = append(names, m.Hostname)
	}
	return names
}

// awaitVote waits until a member of etcd votes: a learner refuses to list the members.
func (h *ha) awaitVote(t *testing.T, name string) {
	t.Helper()
	var err error
	eventually(t, func(ctx context.Context) bool {
		_, err = h.client.Members(ctx, h.address[name])
		return err == nil
	}, func() any { return err })
}

func TestHighAvailability(t *testing.T) {
	t.Parallel()
	h := newHA(t)
	h.bootstrap(t, "cp-0")
	t.Run("no node joins without the endpoint", func(t *testing.T) { alone(t, h) })
	t.Run("kube-vip needs its rights", func(t *testing.T) { kubeVIPWithoutRights(t, h) })
	start := time.Now()
	t.Run("all join once kube-vip answers", func(t *testing.T) { formed(t, h) })
	t.Logf("six nodes Ready %v after kube-vip had its rights", time.Since(start))
	uid := clusterUID(t, h.through(t, ""))
	t.Run("another cluster shares nothing", func(t *testing.T) { otherCluster(t, h, uid) })
	t.Run("one API server dies, the others answer", func(t *testing.T) { oneSilent(t, h) })
	t.Run("any quorum answers, whichever it is", func(t *testing.T) { quorum(t, h, uid) })
	t.Run("a replaced control plane is a new member", func(t *testing.T) { replaced(t, h, uid) })
	t.Run("one of the same name takes its place", func(t *testing.T) { renewed(t, h) })
	t.Run("all of it survives a restart of the simulator", func(t *testing.T) { restarted(t, h, uid) })
	if lines := h.bootstraps(t); len(lines) != 1 || strings.Fields(lines[0])[1] != "cp-0" {
		t.Errorf("bootstraps: %q, want that of cp-0 alone", lines)
	}
	t.Run("the address goes with kube-vip", func(t *testing.T) { withoutKubeVIP(t, h) })
	t.Run("the data go with the last member", func(t *testing.T) { removed(t, h) })
}

// oneSilent: its own address is silent, and that of the cluster is not for long.
func oneSilent(t *testing.T, h *ha) {
	dies := fault.Fault{Kind: fault.APIServerDies, Machine: "cp-1", For: metav1.Duration{Duration: time.Hour}}
	h.faults.Replace(fault.Plan{Faults: []fault.Fault{dies}})
	at := func(name string) string { return net.JoinHostPort(h.address[name], "6443") }
	eventually(t, func(context.Context) bool { return !h.answers(t, at("cp-1")) }, func() any { return "cp-1 answers" })
	eventually(t, func(ctx context.Context) bool {
		_, err := h.at(t, "cp-0").CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		return err == nil && h.answers(t, sharedIP+":6443")
	}, func() any { return "the others are silent too" })
	h.faults.Replace(fault.Plan{})
	eventually(t, func(context.Context) bool { return h.answers(t, at("cp-1")) }, func() any { return "cp-1 stays silent" })
}

func alone(t *testing.T, h *ha) {
	if _, err := h.through(t, "cp-0").CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("the first API server at its own address: %v", err)
	}
	awaitNode(t, h.through(t, "cp-0"), "cp-0")
	for _, at := range []string{sharedIP, h.address["cp-1"]} {
		if h.answers(t, at+":6443") {
			t.Errorf("an API server answers at %s", at)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if members, err := h.client.Members(ctx, h.address["cp-1"]); err == nil {
		t.Errorf("cp-1 has joined: %v", members)
	}
	if got := h.members(t, "cp-0"); !slices.Equal(got, []string{"cp-0"}) {
		t.Errorf("members %v", got)
	}
	if h.answers(t, h.address["w-0"]+":50000") {
		t.Error("a worker has a certificate without the endpoint")
	}
	nodes, err := h.through(t, "cp-0").CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 1 {
		t.Errorf("%d nodes, %v", len(nodes.Items), err)
	}
}

func kubeVIPWithoutRights(t *testing.T, h *ha) {
	client := h.through(t, "cp-0")
	_, err := client.AppsV1().DaemonSets("kube-system").Create(t.Context(), kubeVIP(), metav1.CreateOptions{})
	check(t, err)
	_, err = client.CoreV1().ServiceAccounts("kube-system").Create(t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "kube-vip"}}, metav1.CreateOptions{})
	check(t, err)
	var pods *corev1.PodList
	eventually(t, func(ctx context.Context) bool {
		pods, err = client.CoreV1().Pods("kube-system").List(ctx, metav1.ListOptions{LabelSelector: "app=kube-vip"})
		return err == nil && len(pods.Items) == 1 && pods.Items[0].Status.Phase == corev1.PodRunning
	}, func() any { return fmt.Sprint(pods, err) })
	if h.answers(t, sharedIP+":6443") {
		t.Error("the address is held by a kube-vip that may hold no lease")
	}
}

func formed(t *testing.T, h *ha) {
	client := h.through(t, "cp-0")
	meta := metav1.ObjectMeta{Name: "kube-vip"}
	_, err := client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
	}}, metav1.CreateOptions{})
	check(t, err)
	_, err = client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "kube-vip"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "kube-system", Name: "kube-vip"}},
	}, metav1.CreateOptions{})
	check(t, err)
	for _, name := range haNodes {
		awaitNode(t, h.through(t, ""), name)
		h.awaitState(t, h.address[name], talos.StateConfigured)
	}
	for _, name := range haControlPlanes {
		if got := h.members(t, name); !slices.Equal(got, haControlPlanes) {
			t.Errorf("members by %s: %v", name, got)
		}
		if got := clusterUID(t, h.at(t, name)); got != clusterUID(t, h.through(t, "")) {
			t.Errorf("another cluster at %s", name)
		}
		if already, err := h.client.Bootstrap(t.Context(), h.address[name]); err != nil || !already {
			t.Errorf("bootstrap of %s: already %v, %v", name, already, err)
		}
	}
}

// otherCluster is a cluster of its own whose configuration names the same endpoint.
func otherCluster(t *testing.T, h *ha, uid string) {
	secrets, err := talos.NewSecrets("v1.9.2")
	check(t, err)
	other := &ha{site: &site{network: h.network, datacenter: h.datacenter, options: h.options, secrets: secrets}, address: map[string]string{}}
	other.client = other.newClient(t, secrets)
	other.add(t, "cp-x")
	other.awaitState(t, other.address["cp-x"], talos.StateConfigured)
	other.bootstrap(t, "cp-x")
	if got := clusterUID(t, other.at(t, "cp-x")); got == uid {
		t.Error("two clusters share their data")
	}
	if got := other.members(t, "cp-x"); !slices.Equal(got, []string{"cp-x"}) {
		t.Errorf("members of the other cluster: %v", got)
	}
	if got := h.members(t, "cp-0"); !slices.Equal(got, haControlPlanes) {
		t.Errorf("members beside another cluster: %v", got)
	}
	if got := clusterUID(t, h.through(t, "")); got != uid {
		t.Error("the endpoint went to another cluster")
	}
	if lines := h.bootstraps(t); len(lines) != 2 {
		t.Errorf("bootstraps: %q", lines)
	}
	check(t, h.datacenter.Remove("cp-x"))
}

func quorum(t *testing.T, h *ha, uid string) {
	h.datacenter.Kill("cp-0")
	check(t, h.network.Await(t.Context(), sharedIP+":6443"))
	if got := clusterUID(t, h.through(t, "")); got != uid {
		t.Error("the cluster is another one without its first member")
	}
	if got := h.members(t, "cp-2"); !slices.Equal(got, haControlPlanes) {
		t.Errorf("a dead member left the list: %v", got)
	}
	h.datacenter.Kill("cp-2")
	for _, at := range []string{sharedIP, h.address["cp-1"]} {
		if h.answers(t, at+":6443") {
			t.Errorf("%s answers without a quorum", at)
		}
	}
	h.powerOn(t, "cp-0")
	check(t, h.network.Await(t.Context(), sharedIP+":6443"))
	if got := clusterUID(t, h.through(t, "")); got != uid {
		t.Error("the cluster lost its data")
	}
}

// replaced finds cp-2 dead.
func replaced(t *testing.T, h *ha, uid string) {
	check(t, h.datacenter.Remove("cp-2"))
	h.add(t, "cp-3")
	awaitNode(t, h.through(t, ""), "cp-3")
	if got, want := h.members(t, "cp-3"), []string{"cp-0", "cp-1", "cp-2", "cp-3"}; !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
	h.datacenter.PowerOff("cp-0")
	if h.answers(t, sharedIP+":6443") {
		t.Error("two of four members are taken for a quorum")
	}
	h.powerOn(t, "cp-0")
	check(t, h.network.Await(t.Context(), sharedIP+":6443"))
	if got := clusterUID(t, h.through(t, "")); got != uid {
		t.Error("the cluster lost its data")
	}
	h.removeMember(t, "cp-2")
	if got, want := h.members(t, "cp-3"), []string{"cp-0", "cp-1", "cp-3"}; !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
}

// renewed is the machine cp-3 with an empty disk, and another address.
func renewed(t *testing.T, h *ha) {
	before := h.address["cp-3"]
	check(t, h.datacenter.Remove("cp-3"))
	h.add(t, "cp-3")
	if h.address["cp-3"] == before {
		t.Fatalf("the new machine is at %s again", before)
	}
	client := h.through(t, "")
	var reported string
	eventually(t, func(ctx context.Context) bool {
		node, err := client.CoreV1().Nodes().Get(ctx, "cp-3", metav1.GetOptions{})
		if err == nil {
			reported = node.Status.Addresses[0].Address
		}
		return reported == h.address["cp-3"]
	}, func() any { return fmt.Sprintf("the node is at %s, want %s", reported, h.address["cp-3"]) })
	h.awaitVote(t, "cp-3")
	if got, want := h.members(t, "cp-3"), []string{"cp-0", "cp-1", "cp-3"}; !slices.Equal(got, want) {
		t.Errorf("members %v, want %v", got, want)
	}
}

func restarted(t *testing.T, h *ha, uid string) {
	h.datacenter.Close()
	h.start(t)
	for _, name := range []string{"cp-3", "cp-0", "cp-1", "w-0", "w-1", "w-2"} {
		h.powerOn(t, name)
	}
	check(t, h.network.Await(t.Context(), sharedIP+":6443"))
	client := h.through(t, "")
	if got := clusterUID(t, client); got != uid {
		t.Error("the cluster lost its data")
	}
	awaitNode(t, client, "w-2")
	if got := h.members(t, "cp-1"); len(got) != 3 {
		t.Errorf("members %v", got)
	}
}

func withoutKubeVIP(t *testing.T, h *ha) {
	client := h.through(t, "cp-0")
	check(t, client.AppsV1().DaemonSets("kube-system").Delete(t.Context(), "kube-vip", metav1.DeleteOptions{}))
	eventually(t, func(context.Context) bool { return !h.answers(t, sharedIP+":6443") }, func() any { return "the address is still held" })
	if !h.answers(t, h.address["cp-1"]+":6443") {
		t.Error("the API servers went with kube-vip")
	}
}

func removed(t *testing.T, h *ha) {
	for _, name := range []string{"cp-3", "cp-0", "cp-1", "w-0", "w-1", "w-2"} {
		if left, err := os.ReadDir(h.options.Dir); err != nil || (len(left) == 0) != (strings.HasPrefix(name, "w")) {
			t.Errorf("before %s went: %v, %v", name, left, err)
		}
		check(t, h.datacenter.Remove(name))
	}
}

// removeMember does what an operator does with the member of a lost machine.
func (h *ha) removeMember(t *testing.T, hostname string) {
	t.Helper()
	members, err := h.client.Members(t.Context(), h.address["cp-1"])
	check(t, err)
	i := slices.IndexFunc(members, func(m talos.Member) bool { return m.Hostname == hostname })
	request := &machine.EtcdRemoveMemberByIDRequest{MemberId: members[i].ID}
	api := h.admin(t, h.address["cp-1"])
	_, err = api.EtcdRemoveMemberByID(t.Context(), request)
	check(t, err)
	if _, err := api.EtcdRemoveMemberByID(t.Context(), request); status.Code(err) != codes.NotFound {
		t.Errorf("removed twice: %v", err)
	}
}

func clusterUID(t *testing.T, client *kubernetes.Clientset) string {
	t.Helper()
	namespace, err := client.CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{})
	check(t, err)
	return string(namespace.UID)
}

func kubeVIP() *appsv1.DaemonSet {
	const role = "node-role.kubernetes.io/control-plane"
	labels := map[string]string{"app": "kube-vip"}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "kube-vip"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					HostNetwork:        true,
					ServiceAccountName: "kube-vip",
					NodeSelector:       map[string]string{role: ""},
					Tolerations:        []corev1.Toleration{{Key: role, Operator: corev1.TolerationOpExists}},
					Containers: []corev1.Container{{
						Name: "kube-vip", Image: "ghcr.io/kube-vip/kube-vip:v0.8.7",
						Env: []corev1.EnvVar{
							{Name: "cp_enable", Value: "true"}, {Name: "vip_arp", Value: "true"},
							{Name: "address", Value: sharedIP}, {Name: "port", Value: "6443"}, {Name: "cp_namespace", Value: "kube-system"},
							{Name: "KUBERNETES_SERVICE_HOST", Value: "127.0.0.1"}, {Name: "KUBERNETES_SERVICE_PORT", Value: "7445"},
						},
					}},
				},
			},
		},
	}
}
