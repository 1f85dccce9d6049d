// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// complete checks that a cluster is all there, and returns a client of it.
func (s *site) complete(cb *v1alpha1.ClusterBootstrap, machines ...string) *kubernetes.Clientset {
	s.Helper()
	var got []string
	for _, m := range cb.Status.Machines {
		if !m.Ready || !m.TalosConfigured || m.IPAddress == "" || m.Phase != v1alpha1.MachineRunning {
			s.Errorf("%+v", m)
		}
		got = append(got, m.Name)
	}
	if diff := cmp.Diff(machines, got); diff != "" {
		s.Error(diff)
	}
	if n := s.bootstraps(); n != 1 {
		s.Errorf("%d etcd clusters were begun", n)
	}
	if !isReady(cb) || !meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionCredentialsAvailable) || cb.Status.ObservedGeneration != cb.Generation {
		s.Errorf("status %+v", cb.Status.Conditions)
	}
	c := s.kubernetes(cb.Name)
	nodes, err := c.CoreV1().Nodes().List(s.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != len(machines) {
		s.Errorf("%d nodes, %v", len(nodes.Items), err)
	}
	for _, n := range nodes.Items {
		r, err := s.request(n.Name)
		if err != nil || n.Spec.ProviderID != r.Status.NodeProviderID || (n.Spec.ProviderID == "") != cb.Spec.Provider.OnPrem() {
			s.Errorf("the kubelet of %s has the provider ID %q, %v", n.Name, n.Spec.ProviderID, err)
		}
	}
	return c
}

func TestHAWithKubeVIP(t *testing.T) {
	s := newSite(t, v1alpha1.ProviderHarvester, true)
	s.create(haBootstrap(v1alpha1.ProviderHarvester, 1))
	cb := s.ready("dev")
	c := s.complete(cb, "dev-cp-0", "dev-cp-1", "dev-cp-2", "dev-w-0")
	if cb.Status.ControlPlaneEndpoint != vip || !cb.Status.AddonsInstalled["kube-vip"] {
		t.Errorf("endpoint %q, addons %v", cb.Status.ControlPlaneEndpoint, cb.Status.AddonsInstalled)
	}
	t.Run("workers have their labels", func(t *testing.T) {
		node, err := c.CoreV1().Nodes().Get(t.Context(), "dev-w-0", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, label := range []string{"example.com/pool", "node-role.kubernetes.io/worker"} {
			if _, ok := node.Labels[label]; !ok {
				t.Errorf("label %s is missing: %v", label, node.Labels)
			}
		}
	})
	t.Run("control planes are left to themselves", func(t *testing.T) {
		node, err := c.CoreV1().Nodes().Get(t.Context(), "dev-cp-0", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(node.Spec.Taints, forControlPlanes) {
			t.Errorf("taints %v", node.Spec.Taints)
		}
	})
	t.Run("another version is applied", func(t *testing.T) {
		s.change("dev", func(spec *v1alpha1.ClusterBootstrapSpec) { spec.Addons.ControlPlaneHA.Version = "v0.9.9" })
		s.eventually("the version", func() bool {
			set, err := c.AppsV1().DaemonSets("kube-system").Get(t.Context(), "kube-vip", metav1.GetOptions{})
			return err == nil && set.Spec.Template.Spec.Containers[0].Image == "ghcr.io/kube-vip/kube-vip:v0.9.9"
		})
	})
	t.Run("a lost one is applied again", func(t *testing.T) {
		// The rollout of the other version may take the address away for a moment.
		s.eventually("to delete it", func() bool {
			return c.AppsV1().DaemonSets("kube-system").Delete(t.Context(), "kube-vip", metav1.DeleteOptions{}) == nil
		})
		s.nudge("dev")
		s.eventually("kube-vip", func() bool {
			_, err := c.AppsV1().DaemonSets("kube-system").Get(t.Context(), "kube-vip", metav1.GetOptions{})
			return err == nil
		})
		s.until("dev", isReady)
	})
	t.Run("a machine that lost its disk is reported and not taken back", func(t *testing.T) {
		s.wipe("dev-w-0")
		s.nudge("dev")
		cb := s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool {
			return strings.Contains(progressing(cb).Message, "dev-w-0")
		})
		if cb.Status.Phase != v1alpha1.BootstrapReady || isReady(cb) {
			t.Errorf("phase %s, %+v", cb.Status.Phase, progressing(cb))
		}
	})
	t.Run("a dead control plane blocks nothing", func(t *testing.T) {
		s.powerOff("dev-cp-0")
		s.nudge("dev")
		cb := s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool {
			return strings.Contains(progressing(cb).Message, "dev-cp-0")
		})
		if cb.Status.Phase != v1alpha1.BootstrapReady || isReady(cb) || !cb.Status.Machines[1].Ready || !cb.Status.Machines[2].Ready {
			t.Errorf("phase %s, machines %+v", cb.Status.Phase, cb.Status.Machines)
		}
		if n := s.bootstraps(); n != 1 {
			t.Errorf("%d etcd clusters were begun", n)
		}
	})
}

func forControlPlanes(taint corev1.Taint) bool {
	return taint.Key == "node-role.kubernetes.io/control-plane"
}

// nudge makes the reconciler look now: it has nothing to wait for.
func (s *site) nudge(name string) {
	s.Helper()
	cb := s.get(name)
	before := cb.DeepCopy()
	cb.Annotations["example.com/nudge"] = time.Now().String()
	s.must(s.Patch(s.Context(), cb, client.MergeFrom(before)))
}

func (s *site) eventually(what string, done func() bool) {
	s.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if done() {
			return
		}
	}
	s.Fatal("gave up: " + what)
}

func TestHAWithSharedIPAndWithoutWorkers(t *testing.T) {
	s := newSite(t, v1alpha1.ProviderHarvester, true)
	cb := haBootstrap(v1alpha1.ProviderHarvester, 0)
	cb.Spec.Addons.ControlPlaneHA.Type = "none"
	s.create(cb)
	cb = s.ready("dev")
	c := s.complete(cb, "dev-cp-0", "dev-cp-1", "dev-cp-2")
	if cb.Status.ControlPlaneEndpoint != vip || len(cb.Status.AddonsInstalled) != 0 {
		t.Errorf("endpoint %q, addons %v", cb.Status.ControlPlaneEndpoint, cb.Status.AddonsInstalled)
	}
	sets, err := c.AppsV1().DaemonSets("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(sets.Items) != 0 {
		t.Errorf("%d DaemonSets, %v", len(sets.Items), err)
	}
	node, err := c.CoreV1().Nodes().Get(t.Context(), "dev-cp-0", metav1.GetOptions{})
	if err != nil || slices.ContainsFunc(node.Spec.Taints, forControlPlanes) {
		t.Errorf("nothing can be scheduled: %v, %v", node.Spec.Taints, err)
	}
}

func TestSingleNodePausedWhileItStarts(t *testing.T) {
	s := newSite(t, v1alpha1.ProviderHarvester, true)
	cb := clusterBootstrap()
	cb.Spec.Network.VIP = ""
	s.create(cb)
	s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool {
		return cb.Status.Phase == v1alpha1.BootstrapBootstrappingCluster
	})
	s.eventually("to pause", func() bool {
		cb := s.get("dev")
		cb.Spec.Paused = true
		return s.Update(t.Context(), cb) == nil
	})
	s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool { return progressing(cb).Reason == "Paused" })
	s.change("dev", resume)
	cb = s.ready("dev")
	s.complete(cb, "dev-cp-0")
	if cb.Status.ControlPlaneEndpoint != cb.Status.Machines[0].IPAddress {
		t.Errorf("endpoint %q of %+v", cb.Status.ControlPlaneEndpoint, cb.Status.Machines)
	}
}

func TestPausedWhileNodesAreNotReady(t *testing.T) {
	s := newSlowSite(t, v1alpha1.ProviderHarvester, true, datacenter.Profile{NodeReady: time.Hour})
	cb := clusterBootstrap()
	cb.Spec.Network.VIP = ""
	s.create(cb)
	waits := func(cb *v1alpha1.ClusterBootstrap) bool { return progressing(cb).Reason == "WaitingForNodes" }
	s.until("dev", waits)
	s.eventually("to pause", func() bool {
		cb := s.get("dev")
		cb.Spec.Paused = true
		return s.Update(t.Context(), cb) == nil
	})
	cb = s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool { return progressing(cb).Reason == "Paused" })
	if cb.Status.Phase != v1alpha1.BootstrapInstallingAddons {
		t.Errorf("phase %s", cb.Status.Phase)
	}
	s.change("dev", resume)
	s.until("dev", waits)
}

// forgetful loses every other status, as a process does that is killed between
// what it did and its note of it.
type forgetful struct {
	client.Client
	writes int
}

type lossy struct {
	client.SubResourceWriter
	of *forgetful
}

var errKilled = errors.New("killed")

func (f *forgetful) Status() client.SubResourceWriter { return lossy{f.Client.Status(), f} }

func (l lossy) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	l.of.writes++
	if l.of.writes%2 == 1 {
		return errKilled
	}
	return l.SubResourceWriter.Patch(ctx, o, p, opts...)
}

// TestEveryLostNoteIsMadeUpFor also has a worker that took its configuration
// without a note of it, and that is silent until the endpoint answers.
func TestEveryLostNoteIsMadeUpFor(t *testing.T) {
	s := newSite(t, v1alpha1.ProviderHarvester, false)
	s.create(haBootstrap(v1alpha1.ProviderHarvester, 1))
	s.Reconciler.Client = &forgetful{Client: s.Client}
	keys := ""
	s.eventually("Ready", func() bool {
		if _, err := s.Reconcile(t.Context(), s.get("dev")); err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if made := s.made()["dev-talos-secrets"]; keys == "" {
			keys = made
		} else if made != keys {
			t.Fatal("the keys of the cluster were written again")
		}
		return s.get("dev").Status.Phase == v1alpha1.BootstrapReady
	})
	s.complete(s.get("dev"), "dev-cp-0", "dev-cp-1", "dev-cp-2", "dev-w-0")
	if n := len(s.platform.Machines()); n != 4 {
		t.Errorf("%d machines", n)
	}
}

// TestCloudWithALoadBalancer has control planes that reach only themselves at the address of
// the load balancer once they have it: they join first.
func TestCloudWithALoadBalancer(t *testing.T) {
	s := newSite(t, v1alpha1.ProviderGCP, true)
	s.create(cloudBootstrap())
	s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool { return progressing(cb).Reason == "EtcdStarts" })
	if r, err := s.balancer(); err != nil || len(r.Spec.Targets) != 1 || r.Spec.Targets[0].InstanceName != "dev-cp-0" {
		t.Errorf("targets before the others have joined: %+v, %v", r.Spec.Targets, err)
	}
	cb := s.ready("dev")
	s.complete(cb, "dev-cp-0", "dev-cp-1", "dev-cp-2", "dev-w-0")
	r, err := s.balancer()
	if err != nil || r.Status.Endpoint != cb.Status.ControlPlaneEndpoint || r.Status.RegisteredTargets != 3 || !cb.Status.AddonsInstalled["cloud-controller-manager"] || cb.Status.AddonsInstalled["kube-vip"] {
		t.Errorf("%+v, %v; endpoint %q, addons %v", r.Status, err, cb.Status.ControlPlaneEndpoint, cb.Status.AddonsInstalled)
	}
	if got := s.calls(); !slices.Equal(got, []string{r.Status.Endpoint}) {
		t.Errorf("besides the load balancer %s were called: %v", r.Status.Endpoint, got)
	}
	t.Run("deletion takes it all", func(t *testing.T) {
		if err := s.Delete(t.Context(), cb); err != nil {
			t.Fatal(err)
		}
		s.eventually("gone", func() bool {
			err := s.Get(t.Context(), client.ObjectKeyFromObject(cb), &v1alpha1.ClusterBootstrap{})
			return client.IgnoreNotFound(err) == nil && err != nil
		})
		if machines, balancers := s.platform.Machines(), s.platform.LoadBalancers(); len(machines)+len(balancers) != 0 {
			t.Errorf("left: %v, %v", machines, balancers)
		}
	})
}

// TestCloudWithoutTheLoopbackAddressIsNotReady is about the platforms whose load balancers
// pass packets on as they are.
func TestCloudWithoutTheLoopbackAddressIsNotReady(t *testing.T) {
	for _, p := range []v1alpha1.ProviderType{v1alpha1.ProviderGCP, v1alpha1.ProviderAzure} {
		t.Run(string(p), func(t *testing.T) { withoutLoopback(t, p) })
	}
}

func withoutLoopback(t *testing.T, p v1alpha1.ProviderType) {
	s := newSite(t, p, true)
	cb := cloudBootstrap()
	cb.Spec.Provider = p
	cb.Spec.Cluster.ControlPlane.Replicas, cb.Spec.Cluster.Workers = 1, nil
	cb.Spec.Talos.ConfigPatches = []v1alpha1.TalosConfigPatch{{Op: "remove", Path: "/machine/network/interfaces"}}
	s.create(cb)
	cb = s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool { return progressing(cb).Reason == "WaitingForTalos" })
	answers := func(host string) bool {
		conn, err := s.network.Dial(t.Context(), "tcp", net.JoinHostPort(host, "50000"))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}
	s.eventually("the machine itself to answer", func() bool { return answers(cb.Status.Machines[0].IPAddress) })
	if cb = s.get("dev"); answers(cb.Status.ControlPlaneEndpoint) || progressing(cb).Reason != "WaitingForTalos" {
		t.Errorf("%+v", progressing(cb))
	}
}
