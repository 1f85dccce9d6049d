// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// TestWhatBlocksATenantIsSaid has a row for each obstacle before anything is created.
func TestWhatBlocksATenantIsSaid(t *testing.T) {
	f := newFixture(t)
	f.Must(client.IgnoreAlreadyExists(f.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}})))
	for reason, tc := range map[string]struct {
		change    func(*v1alpha1.TenantCluster)
		condition string
		says      string
		phase     v1alpha1.TenantClusterPhase
	}{
		"no ProviderConfig is chosen by accident": {
			func(tc *v1alpha1.TenantCluster) { tc.Spec.ProviderConfigRef = nil },
			v1alpha1.ConditionProviderAccessGranted, "no ProviderConfig", v1alpha1.TenantPending,
		},
		"a ProviderConfig that is missing": {
			func(tc *v1alpha1.TenantCluster) { tc.Spec.ProviderConfigRef.Name = "missing" },
			v1alpha1.ConditionProviderAccessGranted, "butler-system/missing of spec.providerConfigRef does not exist", v1alpha1.TenantPending,
		},
		"a cluster outside of the namespace of tenants": {
			func(tc *v1alpha1.TenantCluster) { tc.Namespace = "elsewhere" },
			v1alpha1.ConditionProviderAccessGranted, "created in namespace butler-tenants", v1alpha1.TenantPending,
		},
		"a team without teams": {
			func(tc *v1alpha1.TenantCluster) { tc.Spec.TeamRef = &v1alpha1.LocalReference{Name: "a"} },
			v1alpha1.ConditionProviderAccessGranted, "there are no teams", v1alpha1.TenantPending,
		},
		"addresses of a pool": {
			func(tc *v1alpha1.TenantCluster) { tc.Spec.Networking.LBPoolSize = 4 },
			v1alpha1.ConditionNetworkReady, "lbPoolSize", v1alpha1.TenantFailed,
		},
		"an image that the platform does not have": {
			func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.MachineTemplate.OS.ImageRef = "default/none" },
			v1alpha1.ConditionInfrastructureReady, "default/none", v1alpha1.TenantPending,
		},
	} {
		t.Run(reason, func(t *testing.T) {
			blocked := f.tenant()
			blocked.Name += "-" + strings.ToLower(tc.condition[:1]) + string(rune('a'+len(reason)%26))
			tc.change(blocked)
			f.expectRefused(t, blocked, tc.condition, tc.says, tc.phase)
		})
	}
}

// expectRefused creates a cluster of which nothing is created, for a reason that a condition has.
func (f *fixture) expectRefused(t *testing.T, blocked *v1alpha1.TenantCluster, kind, says string, phase v1alpha1.TenantClusterPhase) {
	t.Helper()
	f.Must(f.Create(t.Context(), blocked))
	now := f.until(blocked, func(now *v1alpha1.TenantCluster) bool { return strings.Contains(condition(now, kind).Message, says) })
	if now.Status.Phase != phase || now.Status.TenantNamespace != "" {
		t.Errorf("phase %s, namespace %q", now.Status.Phase, now.Status.TenantNamespace)
	}
	f.gone(blocked)
}

// TestDeletionWorksWithoutAnAPIServer deletes a cluster whose control plane never came up.
func TestDeletionWorksWithoutAnAPIServer(t *testing.T) {
	f := newFixture(t)
	f.player.set(func(p *player) { p.noControlPlane = true })
	tc := f.tenant()
	f.Must(f.Create(t.Context(), tc))
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return condition(tc, v1alpha1.ConditionControlPlaneReady).Reason == "WaitingForEndpoint"
	})
	f.gone(tc)
}

// TestADeletionNamesWhatHoldsIt holds a machine, and looks at what is kept for it.
func TestADeletionNamesWhatHoldsIt(t *testing.T) {
	f := newFixture(t)
	tc := f.ready(f.tenant())
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "web", Finalizers: []string{"example.com/cloud"}}}
	service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}
	f.Must(f.Create(t.Context(), service))
	f.player.set(func(p *player) { p.held = true })
	f.Must(f.Delete(t.Context(), tc))
	says := func(text string) func(*v1alpha1.TenantCluster) bool {
		return func(tc *v1alpha1.TenantCluster) bool {
			return tc.Status.Phase == v1alpha1.TenantDeleting && strings.Contains(condition(tc, v1alpha1.ConditionReady).Message, text)
		}
	}
	f.until(tc, says("/web (held by finalizer example.com/cloud)"))
	if len(f.player.all(t.Context(), machineKind)) != 2 {
		t.Error("workers go before what the tenant's controllers have on the platform")
	}
	f.Await(func() error {
		if err := f.Get(t.Context(), client.ObjectKeyFromObject(service), service); err != nil {
			return err
		}
		service.Finalizers = nil
		return f.Update(t.Context(), service)
	})
	f.until(tc, says("held by finalizer "+machineFinalizer))
	kept := &corev1.Secret{}
	f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: tc.Status.TenantNamespace, Name: tc.Name + "-credentials"}, kept))
	f.player.set(func(p *player) { p.held = false })
	f.Gone(tc)
}

// TestACopyDoesNotTouchTheOriginal applies a TenantCluster with the annotations of another.
func TestACopyDoesNotTouchTheOriginal(t *testing.T) {
	f := newFixture(t)
	tc := f.ready(f.tenant())
	copied := f.tenant()
	copied.Name += "-copy"
	copied.Annotations = tc.Annotations
	f.Must(f.Create(t.Context(), copied))
	f.until(copied, func(tc *v1alpha1.TenantCluster) bool { return readyCondition(tc).Reason == "NamespaceConflict" })
	f.Must(f.Delete(t.Context(), copied))
	f.until(copied, func(tc *v1alpha1.TenantCluster) bool {
		return strings.Contains(readyCondition(tc).Message, "nothing is deleted")
	})
	copied = f.until(copied, func(*v1alpha1.TenantCluster) bool { return true })
	copied.Finalizers = nil
	f.Must(f.Update(t.Context(), copied))
	f.Gone(copied)
	f.until(tc, isReady)
	f.gone(tc)
}
