// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// deployment is the MachineDeployment of a tenant.
func (f *fixture) deployment(tc *v1alpha1.TenantCluster) *unstructured.Unstructured {
	f.Helper()
	d := &unstructured.Unstructured{}
	d.SetGroupVersionKind(deploymentKind)
	f.Must(f.Get(f.Context(), client.ObjectKey{Namespace: tc.Status.TenantNamespace, Name: tenant.Workers(tc.Name)}, d))
	return d
}

func updating(tc *v1alpha1.TenantCluster) bool { return tc.Status.Phase == v1alpha1.TenantUpdating }
func isReady(tc *v1alpha1.TenantCluster) bool {
	return tc.Status.Phase == v1alpha1.TenantReady && tc.Status.ObservedGeneration == tc.Generation
}

// TestATenantFollowsItsSpec changes one cluster in all the ways in which a cluster is changed.
func TestATenantFollowsItsSpec(t *testing.T) {
	f := newFixture(t)
	tc := f.ready(f.tenant())
	t.Run("Ready is everything", func(t *testing.T) {
		for _, kind := range append(conditionTypes(), v1alpha1.ConditionReady) {
			if !isTrue(tc, kind) {
				t.Errorf("%s is not true: %+v", kind, condition(tc, kind))
			}
		}
		if s := tc.Status; s.WorkerNodesReady != 2 || s.ObservedState.KubernetesVersion != "v1.31.0" || s.ControlPlaneEndpoint == "" || s.KubeconfigSecretRef == nil {
			t.Errorf("status: %+v", s)
		}
	})
	t.Run("replicas", func(t *testing.T) {
		f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.Replicas = 3 })
		f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return isReady(tc) && tc.Status.WorkerNodesReady == 3 })
		f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.Replicas = 2 })
		f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return isReady(tc) && tc.Status.WorkerNodesReady == 2 })
	})
	t.Run("another client's change of replicas is undone", func(t *testing.T) {
		d := f.deployment(tc)
		before := d.DeepCopy()
		f.Must(unstructured.SetNestedField(d.Object, int64(5), "spec", "replicas"))
		f.Must(f.Patch(t.Context(), d, client.MergeFrom(before)))
		f.Await(func() error {
			if n := number(f.deployment(tc), "spec", "replicas"); n != 2 || len(f.machineNames()) != 2 {
				return fmt.Errorf("%d replicas, machines %v", n, f.machineNames())
			}
			return nil
		})
		f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
			return isReady(tc) && isTrue(tc, v1alpha1.ConditionReady) && tc.Status.WorkerNodesReady == 2
		})
	})
	t.Run("the version: control plane first, then workers by replacement", func(t *testing.T) {
		f.player.set(func(p *player) { p.noUpgrade, p.versions = true, nil })
		f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.KubernetesVersion = "v1.32.0" })
		now := f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
			return updating(tc) && condition(tc, v1alpha1.ConditionControlPlaneReady).Reason == reasonUpgrading
		})
		if v := text(f.deployment(tc), "spec", "template", "spec", "version"); v != "v1.31.0" {
			t.Errorf("workers get %s before the control plane has it", v)
		}
		if now.Status.WorkerNodesReady != 2 {
			t.Errorf("%d workers are Ready during the upgrade of the control plane", now.Status.WorkerNodesReady)
		}
		t.Run("workers are scaled meanwhile, with the version that the control plane has", func(t *testing.T) {
			f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.Replicas = 3 })
			f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return updating(tc) && tc.Status.WorkerNodesReady == 3 })
			f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.Replicas = 2 })
			f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return updating(tc) && tc.Status.WorkerNodesReady == 2 })
		})
		f.player.set(func(p *player) { p.noUpgrade = false })
		f.until(tc, isReady)
		f.player.set(func(p *player) {
			if !slices.Equal(p.versions, []string{"v1.31.0", "v1.32.0", "v1.32.0"}) {
				t.Errorf("machines were created with %v", p.versions)
			}
		})
	})
	t.Run("a version that Talos does not run is refused before the control plane has it", func(t *testing.T) {
		f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.KubernetesVersion = "v1.33.0" })
		now := f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return tc.Status.Phase == v1alpha1.TenantFailed })
		if now.Status.ObservedState.KubernetesVersion != "v1.32.0" || !strings.Contains(condition(now, v1alpha1.ConditionImageReady).Message, "talos.version") {
			t.Errorf("%v", conditionsOf(now))
		}
		f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.KubernetesVersion = "v1.32.0" })
		f.until(tc, isReady)
	})
	t.Run("the size: by another template, and the old one goes", func(t *testing.T) {
		before := text(f.deployment(tc), "spec", "template", "spec", "infrastructureRef", "name")
		f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.MachineTemplate.Memory = resource.MustParse("8Gi") })
		f.until(tc, isReady)
		f.Await(func() error {
			if got := f.player.all(t.Context(), templateKind); len(got) != 1 || got[0].GetName() == before {
				return fmt.Errorf("%d templates", len(got))
			}
			return nil
		})
	})
	t.Run("machine configurations without a machine go, the current one stays", func(t *testing.T) {
		f.Await(func() error {
			var all corev1.SecretList
			f.Must(f.List(t.Context(), &all, client.InNamespace(tc.Status.TenantNamespace), client.MatchingLabels{labelData: "true"}))
			if len(all.Items) != 1 || all.Items[0].Name != text(f.deployment(tc), "spec", "template", "spec", "bootstrap", "dataSecretName") {
				return fmt.Errorf("%d configurations", len(all.Items))
			}
			return nil
		})
	})
	f.gone(tc)
}

func TestAnAutoscalerDecidesOnReplicas(t *testing.T) {
	f := newFixture(t)
	tc := f.tenant()
	tc.Spec.Workers.MinReplicas, tc.Spec.Workers.MaxReplicas = 1, 5
	tc = f.ready(tc)
	d := f.deployment(tc)
	before := d.DeepCopy()
	f.Must(unstructured.SetNestedField(d.Object, int64(4), "spec", "replicas"))
	f.Must(f.Patch(t.Context(), d, client.MergeFrom(before), client.FieldOwner("autoscaler")))
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return isReady(tc) && tc.Status.WorkerNodesReady == 4 && tc.Status.WorkerNodesDesired == 4
	})
	f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.Workers.MaxReplicas = 6 })
	f.until(tc, isReady)
	if n := number(f.deployment(tc), "spec", "replicas"); n != 4 {
		t.Errorf("%d replicas after a change of the bounds", n)
	}
	f.gone(tc)
}

func TestALostWorkerShows(t *testing.T) {
	f := newFixture(t)
	tc := f.ready(f.tenant())
	lost := tc.Status.ObservedState.Workers.Nodes[0]
	f.player.set(func(p *player) { p.still[lost] = true })
	now := f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return !isTrue(tc, v1alpha1.ConditionReady) && tc.Status.WorkerNodesReady == 1
	})
	if c := condition(now, v1alpha1.ConditionWorkersReady); !strings.Contains(c.Message, lost) || now.Status.Phase != v1alpha1.TenantReady {
		t.Errorf("phase %s, %s: %s", now.Status.Phase, c.Reason, c.Message)
	}
	f.player.set(func(p *player) { delete(p.still, lost) })
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return isTrue(tc, v1alpha1.ConditionReady) })
	f.gone(tc)
}

func TestABootstrapTokenIsOwnAndEnds(t *testing.T) {
	f := newFixture(t)
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: tokenPrefix + "abcdef"}, Type: tokenType, StringData: map[string]string{
		"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
	}}
	f.Must(client.IgnoreAlreadyExists(f.Create(t.Context(), foreign)))
	tc := f.ready(f.tenant())
	kept := &corev1.Secret{}
	f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: tc.Status.TenantNamespace, Name: tokenOf(tc.Name)}, kept))
	own := &corev1.Secret{}
	f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: kubeSystem, Name: tokenPrefix + string(kept.Data["token-id"])}, own))
	if string(kept.Data["token-id"]) == "abcdef" || len(own.Data["expiration"]) == 0 {
		t.Errorf("token %s ends %q", kept.Data["token-id"], own.Data["expiration"])
	}
	data := text(f.deployment(tc), "spec", "template", "spec", "bootstrap", "dataSecretName")
	// The tenant loses its token: another one replaces it, and no worker is replaced for that.
	f.Must(f.Delete(t.Context(), own))
	f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Spec.ControlPlane.CertSANs = []string{"api.example.com"} })
	f.Await(func() error {
		again := &corev1.Secret{}
		f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(kept), again))
		if string(again.Data["token-id"]) == string(kept.Data["token-id"]) {
			return fmt.Errorf("the token is not renewed")
		}
		config := &corev1.Secret{}
		f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: tc.Status.TenantNamespace, Name: data}, config))
		if !strings.Contains(string(config.Data["value"]), string(again.Data["token-secret"])) {
			return fmt.Errorf("the configuration has another token")
		}
		return nil
	})
	t.Run("it is renewed at half of its time, and removed after it", func(t *testing.T) { f.tokenIsRenewed(tc) })
	t.Run("so is the talosconfig", func(t *testing.T) { f.talosconfigIsRenewed(tc) })
	if now := text(f.deployment(tc), "spec", "template", "spec", "bootstrap", "dataSecretName"); now != data {
		t.Errorf("a new token replaces the workers: %s is now %s", data, now)
	}
	f.Must(f.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign))
	f.gone(tc)
}
