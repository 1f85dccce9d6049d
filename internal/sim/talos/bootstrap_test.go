// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

// bootstrapFirst brings the machine cp-0 up as far as an accepted bootstrap.
func (s *site) bootstrapFirst(t *testing.T) (address string) {
	t.Helper()
	m := s.powerOn(t, "cp-0")
	s.configure(t, m, talos.ControlPlane)
	address = m.Address.Addr().String()
	s.bootstrap(t, address)
	return address
}

func (s *site) bootstrap(t *testing.T, address string) {
	t.Helper()
	s.awaitState(t, address, talos.StateConfigured)
	eventually(t, func(ctx context.Context) bool {
		already, err := s.client.Bootstrap(ctx, address)
		if err != nil && status.Code(err) != codes.FailedPrecondition || already {
			t.Fatalf("bootstrap: already %v, %v", already, err)
		}
		return err == nil
	}, func() any { return "no bootstrap" })
}

// kubernetes is the client of the kubeconfig that the node hands out, which
// names the shared IP.
func (s *site) kubernetes(t *testing.T, address string) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.access(t, address))
	check(t, err)
	return client
}

// access is the kubeconfig that the node hands out.
func (s *site) access(t *testing.T, address string) *rest.Config {
	t.Helper()
	kubeconfig, err := s.client.Kubeconfig(t.Context(), address)
	check(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	check(t, err)
	config.Dial = s.network.Dial
	config.QPS = -1
	return config
}

func awaitNode(t *testing.T, client *kubernetes.Clientset, name string) *corev1.Node {
	t.Helper()
	var node *corev1.Node
	var err error
	eventually(t, func(ctx context.Context) bool {
		if node, err = client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false
		}
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				return true
			}
		}
		return false
	}, func() any { return fmt.Sprintf("node %s is not ready (%v)", name, err) })
	return node
}

func TestBootstrapMakesCluster(t *testing.T) {
	s := newSite(t, simtalos.Options{Executable: component(t, impatient)})
	t.Parallel()
	address := s.bootstrapFirst(t)
	client := s.kubernetes(t, address)
	node := awaitNode(t, client, "cp-0")
	if already, err := s.client.Bootstrap(t.Context(), address); err != nil || !already {
		t.Errorf("second bootstrap: already %v, %v", already, err)
	}
	if a := node.Status.Addresses[0]; a.Type != corev1.NodeInternalIP || a.Address != address {
		t.Errorf("addresses %v", node.Status.Addresses)
	}
	if v := node.Status.NodeInfo.KubeletVersion; v != "v1.32.0" {
		t.Errorf("kubelet %s, want that of the configuration", v)
	}
	for _, label := range []string{"node-role.kubernetes.io/control-plane", "example.com/pool"} {
		if _, ok := node.Labels[label]; !ok {
			t.Errorf("label %s is missing: %v", label, node.Labels)
		}
	}
	members, err := s.client.Members(t.Context(), address)
	if err != nil || len(members) != 1 || members[0].Hostname != "cp-0" {
		t.Errorf("members %v, %v", members, err)
	}
	t.Run("pods run and go", func(t *testing.T) { deployment(t, client) })
	t.Run("worker joins", func(t *testing.T) { joinWorker(t, s, client) })
	t.Run("machine that is off is reported", func(t *testing.T) { machineOff(t, s, client) })
	t.Run("control plane joins", func(t *testing.T) { joinControlPlane(t, s, client) })
	t.Run("power loss", func(t *testing.T) { powerLoss(t, s, client, node, address) })
}

// stuck is a control plane whose etcd does not come to run at its first two starts, as
// one whose image is not there.
const stuck = `if [ "$2" = etcd ]; then
	echo start >>"$0.starts"
	[ "$(wc -l <"$0.starts")" -gt 2 ] || exec cat
fi
exec "$real" "$@"
`

func TestBootstrapIsForgottenUntilEtcdRuns(t *testing.T) {
	executable := component(t, stuck)
	t.Parallel()
	s := newSite(t, simtalos.Options{Executable: executable})
	address := s.bootstrapFirst(t)
	started := func(want int) {
		t.Helper()
		var starts []byte
		eventually(t, func(context.Context) bool {
			starts, _ = os.ReadFile(executable + ".starts")
			return bytes.Count(starts, []byte("start")) == want
		}, func() any { return fmt.Sprintf("starts of etcd: %q, want %d", starts, want) })
	}
	started(1)
	if already, err := s.client.Bootstrap(t.Context(), address); err != nil || already {
		t.Errorf("bootstrap that is repeated: already %v, %v", already, err)
	}
	started(2) // it began again
	s.datacenter.Kill("cp-0")
	s.powerOn(t, "cp-0")
	s.bootstrap(t, address)
	started(3)
	awaitNode(t, s.kubernetes(t, address), "cp-0")
	if lines := s.bootstraps(t); len(lines) != 1 {
		t.Errorf("bootstraps: %q, want the one that came to something", lines)
	}
}

func deployment(t *testing.T, client *kubernetes.Clientset) {
	labels := map[string]string{"app": "web"}
	_, err := client.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}, metav1.CreateOptions{})
	check(t, err)
	var d *appsv1.Deployment
	eventually(t, func(ctx context.Context) bool {
		d, err = client.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 2
	}, func() any { return d.Status })
	check(t, client.AppsV1().Deployments("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
	var pods *corev1.PodList
	eventually(t, func(ctx context.Context) bool {
		pods, err = client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0
	}, func() any { return fmt.Sprintf("%d pods left", len(pods.Items)) })
}

func joinControlPlane(t *testing.T, s *site, client *kubernetes.Clientset) {
	m := s.powerOn(t, "cp-1")
	s.configure(t, m, talos.ControlPlane)
	awaitNode(t, client, "cp-1")
	address := m.Address.Addr().String()
	if already, err := s.client.Bootstrap(t.Context(), address); err != nil || !already {
		t.Errorf("bootstrap of a joined control plane: already %v, %v", already, err)
	}
	members, err := s.client.Members(t.Context(), address)
	if err != nil || len(members) != 2 {
		t.Errorf("members %v, %v", members, err)
	}
	if conn, err := s.network.Dial(t.Context(), "tcp", address+":6443"); err != nil {
		t.Errorf("its API server: %v", err)
	} else {
		conn.Close()
	}
	s.datacenter.PowerOff("cp-1")
	if _, err := s.network.Dial(t.Context(), "tcp", sharedIP+":6443"); err == nil {
		t.Error("one of two members answers")
	}
	s.powerOn(t, "cp-1")
	awaitNode(t, client, "cp-1")
}

func powerLoss(t *testing.T, s *site, client *kubernetes.Clientset, node *corev1.Node, address string) {
	s.datacenter.PowerOff("cp-0")
	if _, err := s.network.Dial(t.Context(), "tcp", sharedIP+":6443"); err == nil {
		t.Error("the shared IP answers without a control plane")
	}
	s.powerOn(t, "cp-0")
	s.awaitState(t, address, talos.StateConfigured)
	if again := awaitNode(t, client, "cp-0"); again.UID != node.UID {
		t.Error("the cluster lost its data")
	}
	if already, err := s.client.Bootstrap(t.Context(), address); err != nil || !already {
		t.Errorf("bootstrap after power loss: already %v, %v", already, err)
	}
}
