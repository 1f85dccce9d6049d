// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// crashing fails after each of its writes, once: what was written is kept, and nothing
// has seen that it does. Of its writes of the status every other one is lost.
type crashing struct {
	*forgetful
	seen             map[string]bool
	created, deleted []string
}

func (m *crashing) die(what string) error {
	if m.seen[what] {
		return nil
	}
	m.seen[what] = true
	return errKilled
}

func (m *crashing) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if err := m.Client.Create(ctx, o, opts...); err != nil {
		return err
	}
	m.created = append(m.created, o.GetName())
	return m.die("create " + o.GetName())
}

func (m *crashing) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	if err := m.Client.Delete(ctx, o, opts...); err != nil {
		return err
	}
	m.deleted = append(m.deleted, o.GetName())
	return m.die("delete " + o.GetName())
}

func (m *crashing) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if err := m.Client.Patch(ctx, o, p, opts...); err != nil {
		return err
	}
	return m.die("patch " + o.GetResourceVersion())
}

// walkUntil walks, again after every death, until done says so, and collects what
// is recorded. The phase never leaves Ready once it was.
func (s *site) walkUntil(what string, done func(*v1alpha1.ClusterBootstrap) bool) (recorded []string) {
	s.Helper()
	wasReady := s.get("dev").Status.Phase == v1alpha1.BootstrapReady
	var cb *v1alpha1.ClusterBootstrap
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(150 * time.Millisecond) {
		if _, err := s.Reconcile(s.Context(), s.get("dev")); err != nil && !errors.Is(err, errKilled) {
			s.Fatal(err)
		}
		recorded = append(recorded, s.recorded()...)
		cb = s.get("dev")
		if wasReady && cb.Status.Phase != v1alpha1.BootstrapReady {
			s.Fatalf("phase %s", cb.Status.Phase)
		}
		if done(cb) {
			return recorded
		}
	}
	s.Fatalf("gave up: %s: %s\n%+v\n%v", what, progressing(cb).Message, cb.Status.Machines, cb.Annotations)
	return nil
}

func says(text string) func(*v1alpha1.ClusterBootstrap) bool {
	return func(cb *v1alpha1.ClusterBootstrap) bool { return strings.Contains(progressing(cb).Message, text) }
}

// lose removes a machine from the platform without a report.
func (s *site) lose(name string) {
	s.Helper()
	s.platform.Remove(name)
	s.eventually(name+" lost", func() bool {
		r, err := s.request(name)
		return err == nil && r.Status.FailureReason == "VMLost"
	})
}

// forsake is what the node lifecycle controller does when a kubelet has been
// silent for a while.
func (s *site) forsake(name string) {
	s.Helper()
	api := s.kubernetes("dev").CoreV1().Nodes()
	s.eventually(name+" forsaken", func() bool {
		node, err := api.Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false
		}
		for i := range node.Status.Conditions {
			if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
				c.Status, c.Reason, c.Message = corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status."
			}
		}
		_, err = api.UpdateStatus(s.Context(), node, metav1.UpdateOptions{})
		return err == nil
	})
}

// identities are what requests and machines are known by.
func (s *site) identities() map[string]string {
	s.Helper()
	all := map[string]string{}
	for _, r := range s.requests() {
		all[r.Name] = r.Annotations[v1alpha1.AnnotationOwnerID] + " " + r.Status.ProviderID
	}
	return all
}

// isNew checks that one machine is another one, and all others are the same.
func (s *site) isNew(name string, before map[string]string) {
	s.Helper()
	after := s.identities()
	if before[name] == after[name] || after[name] == "" {
		s.Errorf("%s is the same: %s", name, after[name])
	}
	delete(before, name)
	delete(after, name)
	if diff := cmp.Diff(before, after); diff != "" {
		s.Error(diff)
	}
	if n := len(s.platform.Machines()); n != len(after)+1 {
		s.Errorf("%d machines on the platform, want %d", n, len(after)+1)
	}
	for key := range s.get("dev").Annotations {
		if strings.Contains(key, "replac") {
			s.Errorf("annotation %s is still there", key)
		}
	}
}

// voters are the members of etcd that vote, by name and id.
func (s *site) voters() map[string]uint64 {
	s.Helper()
	secret := &corev1.Secret{}
	s.must(s.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "dev-talosconfig"}, secret))
	c, err := talos.NewClient(secret.Data["talosconfig"], s.network.Dial)
	s.must(err)
	cb := s.get("dev")
	members, err := c.Members(s.Context(), cb.Status.Machines[0].IPAddress)
	s.must(err)
	out := map[string]uint64{}
	for _, m := range members {
		if !m.Learner {
			out[m.Hostname] = m.ID
		}
	}
	return out
}

// hold keeps a request from going by a finalizer, or lets it go.
func (s *site) hold(name, finalizer string) {
	s.Helper()
	s.must(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		r, err := s.request(name)
		if err != nil {
			return err
		}
		r.Finalizers = slices.DeleteFunc(r.Finalizers, func(f string) bool { return strings.HasPrefix(f, "example.com/") })
		if finalizer != "" {
			r.Finalizers = append(r.Finalizers, finalizer)
		}
		return s.Update(s.Context(), r)
	}))
}

const (
	replaceKey   = v1alpha1.AnnotationReplace
	replacingKey = v1alpha1.Group + "/replacing"
)

// TestLostMachinesAreReplaced goes through what may happen to the machines of a
// cluster that is Ready; every write of every replacement is followed by a death.
// One of the workers has its name from an earlier release.
func TestLostMachinesAreReplaced(t *testing.T) {
	s := newSite(t, v1alpha1.ProviderHarvester, false)
	s.createEarlier(haBootstrap(v1alpha1.ProviderHarvester, 2), "dev-worker-0")
	s.walkUntil("Ready", isReady)
	s.complete(s.get("dev"), "dev-cp-0", "dev-cp-1", "dev-cp-2", "dev-worker-0", "dev-w-1")
	writes := func() *crashing {
		m := &crashing{forgetful: &forgetful{Client: s.Client}, seen: map[string]bool{}}
		s.Reconciler.Client = m
		return m
	}
	replaced := func(cb *v1alpha1.ClusterBootstrap) bool {
		return isReady(cb) && cb.Annotations[replacingKey] == "" && cb.Annotations[replaceKey] == ""
	}

	before := s.identities()
	s.lose("dev-worker-0")
	s.walkUntil("what to do", says("set spec.remediation to ReplaceWorkers"))
	s.change("dev", func(spec *v1alpha1.ClusterBootstrapSpec) { spec.Remediation = v1alpha1.RemediationReplaceWorkers })
	s.walkUntil("the node's word", says("machine dev-worker-0 is lost, and is not replaced yet: its node is still Ready"))
	s.forsake("dev-worker-0")
	m := writes()
	s.walkUntil("a new worker", replaced)
	s.isNew("dev-worker-0", before)
	if diff := cmp.Diff([]string{"dev-worker-0", "dev-worker-0"}, append(m.created, m.deleted...)); diff != "" {
		t.Error(diff)
	}
	s.Reconciler.Client = s.Client

	t.Run("a worker whose request was deleted", func(t *testing.T) {
		before := s.identities()
		r, err := s.request("dev-worker-0")
		s.must(err)
		s.must(s.Delete(t.Context(), r))
		s.walkUntil("the node's word", says("its node is still Ready"))
		s.forsake("dev-worker-0")
		recorded := s.walkUntil("a new worker", replaced)
		s.isNew("dev-worker-0", before)
		for _, want := range []string{"Normal ReplacingMachine", "Normal MachineReplaced"} {
			if !slices.Contains(recorded, want) {
				t.Errorf("no %q in %v", want, recorded)
			}
		}
	})
	t.Run("a new worker that is lost as well, but not at once", func(t *testing.T) {
		before := s.identities()
		s.lose("dev-worker-0")
		s.forsake("dev-worker-0")
		s.walkUntil("the new one", func(*v1alpha1.ClusterBootstrap) bool {
			r, err := s.request("dev-worker-0")
			return err == nil && r.Status.Phase == v1alpha1.MachineRunning
		})
		s.lose("dev-worker-0")
		between := s.identities()
		s.walkUntil("patience", says("is not replaced within 10 minutes of the last time"))
		if diff := cmp.Diff(between, s.identities()); diff != "" {
			t.Error(diff)
		}
		s.Clock = func() time.Time { return time.Now().Add(11 * time.Minute) }
		s.walkUntil("another new worker", replaced)
		s.isNew("dev-worker-0", before)
	})
	t.Run("not what works, nor what is not there", func(t *testing.T) {
		before := s.identities()
		for _, name := range []string{"dev-cp-1", "dev-w-7"} {
			s.annotate("dev", replaceKey, name)
			recorded := s.walkUntil("refusal", func(cb *v1alpha1.ClusterBootstrap) bool { return cb.Annotations[replaceKey] == "" })
			if !slices.Contains(recorded, "Warning ReplacementRefused") {
				t.Errorf("%s: recorded %v", name, recorded)
			}
		}
		if diff := cmp.Diff(before, s.identities()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a control plane, and only on request", func(t *testing.T) {
		before, voters := s.identities(), s.voters()
		s.lose("dev-cp-2")
		s.forsake("dev-cp-2")
		s.walkUntil("what to do", says("annotate the ClusterBootstrap with "+replaceKey+"=dev-cp-2"))
		if diff := cmp.Diff(before, s.identities()); diff != "" {
			t.Error(diff)
		}
		s.annotate("dev", replaceKey, "dev-cp-2")
		m := writes()
		s.walkUntil("a new control plane", replaced)
		s.isNew("dev-cp-2", before)
		if len(m.created) != 1 || len(m.deleted) != 1 {
			t.Errorf("created %v, deleted %v", m.created, m.deleted)
		}
		s.Reconciler.Client = s.Client
		after := s.voters()
		if len(after) != 3 || after["dev-cp-2"] == voters["dev-cp-2"] || after["dev-cp-0"] != voters["dev-cp-0"] {
			t.Errorf("etcd had %v, and has %v", voters, after)
		}
		if n := s.bootstraps(); n != 1 {
			t.Errorf("%d etcd clusters were begun", n)
		}
	})
	t.Run("a control plane while the new machine of a worker comes", func(t *testing.T) {
		before := s.identities()
		s.lose("dev-worker-0")
		s.forsake("dev-worker-0")
		s.walkUntil("the new request", func(*v1alpha1.ClusterBootstrap) bool {
			r, err := s.request("dev-worker-0")
			return err == nil && r.Annotations["butler.butlerlabs.dev/replacement"] != ""
		})
		s.lose("dev-cp-2")
		s.forsake("dev-cp-2")
		s.annotate("dev", replaceKey, "dev-cp-2")
		s.walkUntil("both", replaced)
		after := s.identities()
		for _, name := range []string{"dev-worker-0", "dev-cp-2"} {
			if before[name] == after[name] {
				t.Errorf("%s is the same: %s", name, after[name])
			}
		}
	})
	t.Run("a control plane while the request of a worker cannot go", func(t *testing.T) {
		before := s.identities()
		s.hold("dev-worker-0", "example.com/hold")
		s.lose("dev-worker-0")
		s.forsake("dev-worker-0")
		s.walkUntil("the deletion", says("machine dev-worker-0 is being replaced: its MachineRequest is being deleted"))
		s.annotate("dev", replaceKey, "dev-cp-1")
		recorded := s.walkUntil("refusal", func(cb *v1alpha1.ClusterBootstrap) bool { return cb.Annotations[replaceKey] == "" })
		if !slices.Contains(recorded, "Warning ReplacementRefused") {
			t.Errorf("recorded %v", recorded)
		}
		s.lose("dev-cp-2")
		s.annotate("dev", replaceKey, "dev-cp-2")
		recorded = s.walkUntil("the node's word", says("machine dev-cp-2 is lost, and is not replaced yet: its node is still Ready"))
		if !slices.Contains(recorded, "Normal MachineLost") {
			t.Errorf("recorded %v", recorded)
		}
		s.forsake("dev-cp-2")
		recorded = s.walkUntil("a new control plane", func(cb *v1alpha1.ClusterBootstrap) bool { return cb.Annotations[replacingKey] == "" })
		if !slices.Contains(recorded, "Normal MachineReplaced") {
			t.Errorf("recorded %v", recorded)
		}
		s.hold("dev-worker-0", "")
		s.walkUntil("the worker after it", replaced)
		after := s.identities()
		for _, name := range []string{"dev-worker-0", "dev-cp-2"} {
			if before[name] == after[name] {
				t.Errorf("%s is the same: %s", name, after[name])
			}
		}
	})
	t.Run("nothing else while the request of a control plane cannot go", func(t *testing.T) {
		before := s.identities()
		s.hold("dev-cp-2", "example.com/hold")
		s.lose("dev-cp-2")
		s.forsake("dev-cp-2")
		s.annotate("dev", replaceKey, "dev-cp-2")
		s.walkUntil("the deletion", says("machine dev-cp-2 is being replaced: its MachineRequest is being deleted"))
		s.annotate("dev", replaceKey, "dev-w-1")
		recorded := s.walkUntil("the other", says("machine dev-w-1 is not replaced yet: machine dev-cp-2 is being replaced: "))
		if !slices.Contains(recorded, "Normal MachineLost") {
			t.Errorf("recorded %v", recorded)
		}
		s.hold("dev-cp-2", "")
		s.walkUntil("a new control plane", replaced)
		s.isNew("dev-cp-2", before)
	})
	t.Run("a new worker that does not work, when it is requested again", func(t *testing.T) {
		before := s.identities()
		s.lose("dev-worker-0")
		s.forsake("dev-worker-0")
		s.platform.FailLate(inmemory.Create)
		s.walkUntil("the new one", func(*v1alpha1.ClusterBootstrap) bool {
			r, err := s.request("dev-worker-0")
			return err == nil && r.Status.FailureReason == "VMBroken"
		})
		between := s.identities()
		s.annotate("dev", replaceKey, "dev-worker-0")
		recorded := s.walkUntil("patience", says("machine dev-worker-0 was replaced and its node is not Ready; it is not replaced within 10 minutes of the last time"))
		if !slices.Contains(recorded, "Normal MachineLost") {
			t.Errorf("recorded %v", recorded)
		}
		if diff := cmp.Diff(between, s.identities()); diff != "" {
			t.Error(diff)
		}
		s.Clock = func() time.Time { return time.Now().Add(22 * time.Minute) }
		m := writes()
		s.walkUntil("another new worker", replaced)
		s.Reconciler.Client = s.Client
		s.isNew("dev-worker-0", before)
		if between["dev-worker-0"] == s.identities()["dev-worker-0"] || len(m.created) != 1 || len(m.deleted) != 1 {
			t.Errorf("created %v, deleted %v", m.created, m.deleted)
		}
	})
	t.Run("no second control plane while etcd would not survive it", func(t *testing.T) {
		before := s.identities()
		s.lose("dev-cp-2")
		s.forsake("dev-cp-2")
		s.powerOff("dev-cp-1")
		s.annotate("dev", replaceKey, "dev-cp-2")
		s.walkUntil("etcd's needs", says("is not replaced yet: "))
		if diff := cmp.Diff(before, s.identities()); diff != "" {
			t.Error(diff)
		}
	})
}
