// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/controller/lag"
)

// change updates the spec of a ClusterBootstrap.
func (w *fixture) change(name string, do func(*v1alpha1.ClusterBootstrapSpec)) {
	w.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		cb := w.get(name)
		do(&cb.Spec)
		return w.Update(w.Context(), cb)
	})
	if err != nil {
		w.Fatal(err)
	}
}

func pause(s *v1alpha1.ClusterBootstrapSpec)  { s.Paused = true }
func resume(s *v1alpha1.ClusterBootstrapSpec) { s.Paused = false }

// made are the resource versions of everything that a bootstrap makes.
func (w *fixture) made() map[string]string {
	w.Helper()
	all := map[string]string{}
	for _, list := range []client.ObjectList{&v1alpha1.MachineRequestList{}, &v1alpha1.LoadBalancerRequestList{}, &corev1.SecretList{}} {
		if err := w.List(w.Context(), list, client.InNamespace(w.namespace)); err != nil {
			w.Fatal(err)
		}
		objects, err := meta.ExtractList(list)
		if err != nil {
			w.Fatal(err)
		}
		for _, o := range objects {
			all[o.(client.Object).GetName()] = o.(client.Object).GetResourceVersion()
		}
	}
	return all
}

func TestPausedAtEachPhaseChangesNothingAndResumes(t *testing.T) {
	for phase, reach := range map[v1alpha1.ClusterBootstrapPhase]func(*fixture){
		v1alpha1.BootstrapPending:              func(*fixture) {},
		v1alpha1.BootstrapProvisioningMachines: func(w *fixture) { w.create(providerConfig()) },
		v1alpha1.BootstrapConfiguringTalos: func(w *fixture) {
			w.create(providerConfig())
			w.reconcile("dev")
			w.run("dev-cp-0")
		},
	} {
		t.Run(string(phase), func(t *testing.T) {
			w := newFixture(t)
			w.create(clusterBootstrap())
			reach(w)
			before := w.reconcile("dev")
			if before.Status.Phase != phase {
				t.Fatalf("phase %s", before.Status.Phase)
			}
			w.change("dev", pause)
			made := w.made()
			cb := w.reconcile("dev")
			if c := progressing(cb); c.Reason != "Paused" || cb.Status.Phase != phase || cb.Status.ObservedGeneration != cb.Generation {
				t.Errorf("phase %s, %+v", cb.Status.Phase, c)
			}
			if diff := cmp.Diff(made, w.made()); diff != "" {
				t.Error(diff)
			}
			w.change("dev", resume)
			if after := w.reconcile("dev"); progressing(after).Reason != progressing(before).Reason || after.Status.Phase != phase {
				t.Errorf("phase %s, %+v", after.Status.Phase, progressing(after))
			}
		})
	}
}

// meddling runs a change of another client when the ProviderConfig is read.
type meddling struct {
	client.Client
	do func()
}

func (m meddling) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, is := o.(*v1alpha1.ProviderConfig); is {
		m.do()
	}
	return m.Client.Get(ctx, key, o, opts...)
}

func TestPausedInTheMiddleOfAWalkEndsIt(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	w.Reconciler.Client = meddling{w.Client, func() { w.change("dev", pause) }}
	result, err := w.Reconcile(t.Context(), w.get("dev"))
	if err != nil || result.RequeueAfter != lag.Again {
		t.Errorf("got %+v, %v", result, err)
	}
	if made := w.made(); len(made) != 0 {
		t.Errorf("it made %v", made)
	}
	w.Reconciler.Client = w.Client
	if c := progressing(w.reconcile("dev")); c.Reason != "Paused" {
		t.Errorf("%+v", c)
	}
}

// silent is an API server that does not answer.
type silent struct{ asked, left chan struct{} }

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	close(s.asked)
	<-r.Context().Done()
	close(s.left)
	return nil, r.Context().Err()
}

// work has an addon installed on a cluster that does not answer. The channel is
// closed when it is not worked on any more.
func (w *fixture) work(name string) <-chan struct{} {
	s := silent{make(chan struct{}), make(chan struct{})}
	config := &rest.Config{Host: "http://cluster.invalid", WrapTransport: func(http.RoundTripper) http.RoundTripper { return s }}
	w.Addons.Advance(install.Target{ID: w.namespace + "/" + name, Config: config}, []addon.Addon{{
		Key: "tea", Source: addon.Source{Kind: addon.ChartRepository},
	}})
	select {
	case <-s.asked:
	case <-time.After(time.Minute):
		w.Fatal("it is not worked on")
	}
	return s.left
}

func TestAClusterThatMustNotChangeIsNotWorkedOn(t *testing.T) {
	for reason, then := range map[string]func(*fixture) error{
		"paused": func(w *fixture) error {
			w.change("dev", pause)
			return nil
		},
		"fenced": func(w *fixture) error {
			w.annotate("dev", v1alpha1.AnnotationFenced, "it has moved")
			return nil
		},
		"deleted": func(w *fixture) error { return w.Delete(w.Context(), w.get("dev")) },
		"gone without its finalizer": func(w *fixture) error {
			cb := w.get("dev")
			cb.Finalizers = nil
			return errors.Join(w.Update(w.Context(), cb), w.Delete(w.Context(), cb))
		},
	} {
		t.Run(reason, func(t *testing.T) {
			w := newFixture(t)
			w.create(providerConfig())
			w.create(clusterBootstrap())
			w.reconcile("dev")
			left := w.work("dev")
			select {
			case <-left:
				t.Fatal("it is not worked on to begin with")
			default:
			}
			dev := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: w.namespace, Name: "dev"}}
			err := then(w)
			if err == nil {
				_, err = w.byName(t.Context(), dev)
			}
			if err != nil {
				t.Fatal(err)
			}
			select {
			case <-left:
			default:
				t.Error("it is worked on")
			}
		})
	}
}

func TestCredentialsLeaveTheStatusAtAnyMoment(t *testing.T) {
	secretOnly := func(s *v1alpha1.ClusterBootstrapSpec) { s.StatusCredentials = v1alpha1.StatusCredentialsSecretOnly }
	for reason, then := range map[string]func(*fixture){
		"while it continues": func(*fixture) {},
		"while paused":       func(w *fixture) { w.change("dev", pause) },
		"while an earlier step is in the way": func(w *fixture) {
			if err := w.Delete(w.Context(), &v1alpha1.ProviderConfig{ObjectMeta: meta1("harvester", w.namespace)}); err != nil {
				w.Fatal(err)
			}
		},
	} {
		t.Run(reason, func(t *testing.T) {
			w := newFixture(t)
			w.create(providerConfig())
			cb := clusterBootstrap()
			cb.Spec.StatusCredentials = v1alpha1.StatusCredentialsInline
			w.create(cb)
			w.reconcile("dev")
			w.run("dev-cp-0")
			if cb := w.reconcile("dev"); cb.Status.Talosconfig == "" {
				t.Fatal("no talosconfig in the status")
			}
			w.change("dev", secretOnly)
			then(w)
			if cb := w.reconcile("dev"); cb.Status.Talosconfig != "" {
				t.Errorf("the talosconfig is still there: %s", progressing(cb).Reason)
			}
		})
	}
}

func TestEndpointFollowsTheSpecUntilAMachineHasIt(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	w.reconcile("dev")
	w.run("dev-cp-0")
	w.reconcile("dev")
	w.change("dev", func(s *v1alpha1.ClusterBootstrapSpec) { s.Network.VIP = "10.40.0.101" })
	cb := w.reconcile("dev")
	if cb.Status.ControlPlaneEndpoint != "10.40.0.101" {
		t.Errorf("endpoint %s", cb.Status.ControlPlaneEndpoint)
	}
	cb.Status.Machines[0].TalosConfigured = true
	if err := w.Status().Update(t.Context(), cb); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*v1alpha1.ClusterBootstrap){
		"vip":                    func(cb *v1alpha1.ClusterBootstrap) { cb.Spec.Network.VIP = "10.40.0.102" },
		"controlPlaneHA.type":    func(cb *v1alpha1.ClusterBootstrap) { cb.Spec.Addons.ControlPlaneHA.Type = "none" },
		"controlPlaneHA.enabled": func(cb *v1alpha1.ClusterBootstrap) { cb.Spec.Addons.ControlPlaneHA.Enabled = new(false) },
	} {
		cb := w.get("dev")
		change(cb)
		if err := w.Update(t.Context(), cb); err == nil || !strings.Contains(err.Error(), "immutable") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDeletedKeysAreNotMadeAgainOnceTheyAreInUse(t *testing.T) {
	w := newFixture(t)
	w.create(providerConfig())
	w.create(clusterBootstrap())
	w.reconcile("dev")
	w.run("dev-cp-0")
	w.reconcile("dev")
	if err := w.Delete(t.Context(), &corev1.Secret{ObjectMeta: meta1("dev-talos-secrets", w.namespace)}); err != nil {
		t.Fatal(err)
	}
	if c := progressing(w.reconcile("dev")); c.Reason != "SecretDeleted" || !strings.Contains(c.Message, "dev-talos-secrets") {
		t.Errorf("%+v", c)
	}
	if w.made()["dev-talos-secrets"] != "" {
		t.Error("other keys were made")
	}
}
