// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/network"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	balancerName = "mgmt-123.elb.example.com"
	providerID   = "aws:///zone-a/i-0123"
)

// fromOutside dials as the operator's machine does.
func (s *site) fromOutside(ctx context.Context, protocol, addr string) (net.Conn, error) {
	return s.network.DialFrom(ctx, network.Workstation(), protocol, addr)
}

// cloudNode powers on a control plane of a cloud, with its configuration as user data,
// behind a load balancer.
func (s *site) cloudNode(t *testing.T) datacenter.Machine {
	t.Helper()
	check(t, s.datacenter.AddSubnet("subnet-1", datacenter.Subnet{Prefix: netip.MustParsePrefix("10.50.0.0/24"), Zone: "zone-a", Private: true}))
	lb := datacenter.LoadBalancerSpec{ID: "lb", Name: balancerName, FailOpen: true}
	for _, port := range []uint16{6443, 50000} {
		pool := fmt.Sprint("pool-", port)
		check(t, s.datacenter.PutPool(datacenter.Pool{ID: pool, Targets: []datacenter.Target{{Machine: "i-0123", Port: port}}}))
		lb.Listeners = append(lb.Listeners, datacenter.Listener{Port: port, Pool: pool})
	}
	_, err := s.datacenter.PutLoadBalancer(lb)
	check(t, err)
	c := testCluster()
	c.Endpoint, c.SharedIP, c.ExternalCloudProvider = balancerName, talos.SharedIP{}, true
	c.CertSANs = []string{balancerName}
	config, err := talos.Config(s.secrets, c, talos.Node{Name: "cp-0", Role: talos.ControlPlane})
	check(t, err)
	m, err := s.datacenter.PowerOn(datacenter.Spec{
		ID: "i-0123", Name: "cp-0", Network: "subnet-1", CPU: 4, MemoryMB: 8192, UserData: config,
		Metadata: &datacenter.Metadata{Platform: "aws", Hostname: "ip-10-50-0-10.ec2.internal", Region: "eu", InstanceType: "m5.large", ProviderID: providerID},
	})
	check(t, err)
	return m
}

// TestCloudFromOutside is a bootstrap by an operator who reaches nothing but the load
// balancer, and a node that waits for its cloud controller manager.
func TestCloudFromOutside(t *testing.T) {
	t.Parallel()
	s := newSite(t, simtalos.Options{Executable: planetest.Executable(t)})
	m := s.cloudNode(t)
	if _, err := s.fromOutside(t.Context(), "tcp", m.Address.Addr().String()+":50000"); !errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("the private address: %v", err)
	}
	talosconfig, err := talos.Talosconfig(s.secrets, "dev", nil, nil)
	check(t, err)
	s.client, err = talos.NewClient(talosconfig, s.fromOutside)
	check(t, err)
	s.awaitState(t, balancerName, talos.StateConfigured)
	s.bootstrap(t, balancerName)
	client := s.cloudKubernetes(t)
	node := awaitTainted(t, client)
	if node.Spec.ProviderID != "" || node.Annotations["alpha.kubernetes.io/provided-node-ip"] != m.Address.Addr().String() {
		t.Errorf("node %+v", node)
	}
	createPod(t, client, "default", "plain", corev1.PodSpec{Containers: []corev1.Container{{Name: "plain", Image: "example.com/plain"}}})
	awaitPod(t, client, "plain", func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Reason == corev1.PodReasonUnschedulable })
	})
	initialises(t, s, client)
	awaitPod(t, client, "plain", podReady)
}

// initialises expects the node to be initialised by a manager with credentials that finds
// its instance.
func initialises(t *testing.T, s *site, client *kubernetes.Clientset) {
	t.Helper()
	waits := func(text string) {
		t.Helper()
		eventually(t, func(context.Context) bool { return strings.Contains(s.log.String(), text) }, func() any { return text })
		awaitTainted(t, client)
	}
	createPod(t, client, "kube-system", "manager", managerPod())
	waits("it has no credentials, and its machine no identity")
	_, err := client.CoreV1().Secrets("kube-system").Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "aws"}, StringData: map[string]string{"config": "[default]"},
	}, metav1.CreateOptions{})
	check(t, err)
	waits("no instance is called cp-0")
	_, err = client.CoreV1().Nodes().Patch(t.Context(), "cp-0", types.MergePatchType, []byte(`{"spec": {"providerID": "`+providerID+`"}}`), metav1.PatchOptions{})
	check(t, err)
	var node *corev1.Node
	eventually(t, func(ctx context.Context) bool {
		node, err = client.CoreV1().Nodes().Get(ctx, "cp-0", metav1.GetOptions{})
		return err == nil && !tainted(node) && slices.ContainsFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Type == corev1.NodeInternalDNS })
	}, func() any { return fmt.Sprint(node, err) })
	for label, want := range map[string]string{corev1.LabelTopologyZone: "zone-a", corev1.LabelTopologyRegion: "eu", corev1.LabelInstanceTypeStable: "m5.large"} {
		if node.Labels[label] != want {
			t.Errorf("label %s is %q", label, node.Labels[label])
		}
	}
}

func managerPod() corev1.PodSpec {
	return corev1.PodSpec{
		HostNetwork: true, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers: []corev1.Container{{
			Name: "manager", Image: "registry.k8s.io/provider-aws/cloud-controller-manager:v1.32.0",
			Env:          []corev1.EnvVar{{Name: "AWS_CONFIG_FILE", Value: "/etc/aws/config"}},
			VolumeMounts: []corev1.VolumeMount{{Name: "credentials", MountPath: "/etc/aws"}},
		}},
		Volumes: []corev1.Volume{{Name: "credentials", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "aws"}}}},
	}
}

func (s *site) cloudKubernetes(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	var kubeconfig []byte
	var err error
	eventually(t, func(ctx context.Context) bool {
		kubeconfig, err = s.client.Kubeconfig(ctx, balancerName)
		return err == nil
	}, func() any { return err })
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	check(t, err)
	config.Dial, config.QPS = s.fromOutside, -1
	client, err := kubernetes.NewForConfig(config)
	check(t, err)
	return client
}

func tainted(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "node.cloudprovider.kubernetes.io/uninitialized" })
}

func awaitTainted(t *testing.T, client *kubernetes.Clientset) (node *corev1.Node) {
	t.Helper()
	var err error
	eventually(t, func(ctx context.Context) bool {
		node, err = client.CoreV1().Nodes().Get(ctx, "cp-0", metav1.GetOptions{})
		return err == nil
	}, func() any { return err })
	if !tainted(node) {
		t.Errorf("taints %v", node.Spec.Taints)
	}
	return node
}

func createPod(t *testing.T, client *kubernetes.Clientset, namespace, name string, spec corev1.PodSpec) {
	t.Helper()
	var err error
	eventually(t, func(ctx context.Context) bool { // the service account comes after its namespace
		_, err = client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
		return err == nil
	}, func() any { return err })
}

func awaitPod(t *testing.T, client *kubernetes.Clientset, name string, so func(*corev1.Pod) bool) {
	t.Helper()
	var pod *corev1.Pod
	var err error
	eventually(t, func(ctx context.Context) bool {
		pod, err = client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && so(pod)
	}, func() any { return fmt.Sprint(pod, err) })
}
