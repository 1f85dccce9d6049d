// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/lag"
)

const day = 24 * time.Hour

// aging is a single node that is Ready, whose bootstrap has a clock of its own.
func aging(t *testing.T) (s *site, clock *time.Time) {
	t.Helper()
	s, clock = newSite(t, v1alpha1.ProviderHarvester, false), new(time.Time)
	*clock = time.Now()
	s.Clock = func() time.Time { return *clock }
	cb := clusterBootstrap()
	cb.Spec.Network.VIP, cb.Spec.StatusCredentials = "", v1alpha1.StatusCredentialsInline
	s.create(cb)
	s.eventually("Ready", func() bool { return isReady(s.reconcile("dev")) })
	s.recorded()
	return s, clock
}

// credential is what a Secret of the cluster holds.
func (s *site) credential(suffix string) *corev1.Secret {
	s.Helper()
	secret := &corev1.Secret{}
	s.must(s.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "dev-" + suffix}, secret))
	return secret
}

func TestCredentialsAreRenewedAMonthBeforeTheyRunOut(t *testing.T) {
	s, clock := aging(t)
	names := []string{"talos-secrets", "talosconfig", "kubeconfig"}
	begin, before := *clock, map[string]*corev1.Secret{}
	for _, name := range names {
		before[name] = s.credential(name)
	}
	for _, step := range []struct {
		after   time.Duration
		renewed bool
	}{{334 * day, false}, {336 * day, true}} {
		*clock = begin.Add(step.after)
		result, err := s.Reconcile(t.Context(), s.get("dev"))
		if err != nil || result.RequeueAfter != upkeep {
			t.Errorf("after %s: %+v, %v; a cluster that is Ready is looked at again", step.after, result, err)
		}
		for _, name := range names {
			now := s.credential(name)
			changed := string(now.Data[name]) != string(before[name].Data[name])
			if want := step.renewed && name != "talos-secrets"; changed != want {
				t.Errorf("after %s: %s has changed: %t, want %t", step.after, name, changed, want)
			}
			if now.UID != before[name].UID {
				t.Errorf("after %s: %s was deleted and made again", step.after, name)
			}
		}
	}
	if recorded := s.recorded(); !slices.Equal(recorded, []string{"Normal CredentialsRenewed", "Normal CredentialsRenewed"}) {
		t.Errorf("recorded %v", recorded)
	}
	cb := s.get("dev")
	if inline, _ := base64.StdEncoding.DecodeString(cb.Status.Kubeconfig); string(inline) != string(s.credential("kubeconfig").Data["kubeconfig"]) {
		t.Error("the status has another kubeconfig than the Secret")
	}
	if nodes, err := s.kubernetes("dev").CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil || len(nodes.Items) != 1 {
		t.Errorf("the new kubeconfig shows %d nodes: %v", len(nodes.Items), err)
	}
}

// TestCredentialsOutlastNodesThatIssueNone has nodes that do not answer: what holds
// is used, and what does not is recorded.
func TestCredentialsOutlastNodesThatIssueNone(t *testing.T) {
	s, clock := aging(t)
	begin, dial, old := *clock, s.Dial, s.credential("kubeconfig")
	s.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if strings.HasSuffix(addr, ":50000") {
			return nil, syscall.ECONNREFUSED
		}
		return dial(ctx, network, addr)
	}
	*clock = begin.Add(360 * day)
	if c := progressing(s.reconcile("dev")); c.Reason == "WaitingForKubeconfig" {
		t.Errorf("a kubeconfig that holds is not used: %+v", c)
	}
	*clock = begin.Add(400 * day)
	c := progressing(s.reconcile("dev"))
	if c.Reason != "WaitingForKubeconfig" || !strings.Contains(c.Message, "the kubeconfig has expired, and no new one could be issued: dev-cp-0 (10.0.0.") {
		t.Errorf("%+v", c)
	}
	if now := s.credential("kubeconfig"); now.ResourceVersion != old.ResourceVersion {
		t.Error("the old kubeconfig is gone")
	}
	s.Dial = dial
	if cb := s.reconcile("dev"); !isReady(cb) || s.credential("kubeconfig").ResourceVersion == old.ResourceVersion {
		t.Errorf("it is not renewed once nodes answer: %+v", progressing(cb))
	}
}

// meddler has something happen before each update.
type meddler struct {
	client.Client
	before func(client.Object) error
}

func (m meddler) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if err := m.before(o); err != nil {
		return err
	}
	return m.Client.Update(ctx, o, opts...)
}

func TestCredentialsAreThereWheneverTheirRenewalIsCutShort(t *testing.T) {
	s, clock := aging(t)
	whole := s.Reconciler.Client
	*clock = clock.Add(340 * day)
	old := s.credential("talosconfig")
	s.Reconciler.Client = meddler{whole, func(client.Object) error { return errKilled }}
	if _, err := s.Reconcile(t.Context(), s.get("dev")); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	if s.credential("talosconfig").ResourceVersion != old.ResourceVersion {
		t.Error("it has changed")
	}
	// Another client writes to it at the same time.
	s.Reconciler.Client = meddler{whole, func(o client.Object) error {
		other := s.credential("talosconfig")
		metav1.SetMetaDataAnnotation(&other.ObjectMeta, "example.com/mine", o.GetName())
		return whole.Update(t.Context(), other)
	}}
	if result, err := s.Reconcile(t.Context(), s.get("dev")); err != nil || result.RequeueAfter != lag.Again {
		t.Errorf("got %+v, %v", result, err)
	}
	s.Reconciler.Client = whole
	s.reconcile("dev")
	now := s.credential("talosconfig")
	if string(now.Data["talosconfig"]) == string(old.Data["talosconfig"]) || now.Annotations["example.com/mine"] == "" {
		t.Errorf("renewed, %v", now.Annotations)
	}
}
