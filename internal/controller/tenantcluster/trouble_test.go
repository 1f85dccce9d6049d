// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// newCrowded is a fixture whose tenants have API servers of their own.
func newCrowded(t *testing.T) (*fixture, *crowd) {
	t.Helper()
	f := prepare(t)
	c := playMany(f)
	f.start()
	return f, c
}

// setDown ends or begins the answers of a tenant's API server, and its connections.
func (t *tenantServers) setDown(tenant string, down bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.down[tenant] = down
	if down {
		t.server.CloseClientConnections()
	}
}

func TestATenantAPIServerThatIsGoneShowsAndIsDeletedAllTheSame(t *testing.T) {
	f, c := newCrowded(t)
	tc := f.ready(f.tenant())
	c.servers.setDown(tc.Name, true)
	now := f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return strings.Contains(condition(tc, v1alpha1.ConditionControlPlaneReady).Message, "does not answer")
	})
	if isTrue(now, v1alpha1.ConditionReady) || now.Status.Phase != v1alpha1.TenantReady {
		t.Errorf("phase %s, %v", now.Status.Phase, conditionsOf(now))
	}
	c.servers.setDown(tc.Name, false)
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return isTrue(tc, v1alpha1.ConditionReady) })
	c.servers.setDown(tc.Name, true)
	f.Must(f.Delete(t.Context(), tc.DeepCopy()))
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return readyCondition(tc).Reason == "TenantUnreachable" })
	f.ahead.Store(int64(answerPatience))
	f.gone(tc)
}

func TestATenantAPIServerThatNeverAnsweredIsDeleted(t *testing.T) {
	f, c := newCrowded(t)
	tc := f.tenant()
	c.servers.setDown(tc.Name, true)
	f.Must(f.Create(t.Context(), tc))
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return readyCondition(tc).Reason == "WaitingForKubernetes" })
	f.gone(tc)
}

// TestRotatedCredentialsReachEveryTenant is about clusters at rest, with which nothing happens.
func TestRotatedCredentialsReachEveryTenant(t *testing.T) {
	f, _ := newCrowded(t)
	tc := f.ready(f.tenant())
	secret := &corev1.Secret{}
	f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: platformNamespace, Name: f.Namespace}, secret))
	rotated := append(slices.Clone(secret.Data["kubeconfig"]), "\n# rotated\n"...)
	secret.Data["kubeconfig"] = rotated
	f.Must(f.Update(t.Context(), secret))
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		kept := &corev1.Secret{}
		f.Must(f.Get(t.Context(), client.ObjectKey{Namespace: tc.Status.TenantNamespace, Name: tc.Name + "-credentials"}, kept))
		return string(kept.Data["kubeconfig"]) == string(rotated)
	})
	f.gone(tc)
}

// lose removes a TenantCluster and nothing of what it created, as a lost store does.
func (f *fixture) lose(tc *v1alpha1.TenantCluster) {
	f.Helper()
	f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Finalizers = nil })
	f.Must(f.Delete(f.Context(), tc.DeepCopy()))
	f.Gone(tc.DeepCopy())
}

// restored is a TenantCluster as a backup has it: without its status.
func restored(tc *v1alpha1.TenantCluster) *v1alpha1.TenantCluster {
	return &v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Namespace: tc.Namespace, Name: tc.Name, Annotations: maps.Clone(tc.Annotations)}, Spec: tc.Spec}
}

// TestARestoredTenantIsTheSameCluster restores a TenantCluster where the rest of its cluster
// exists: on the same management cluster, or on another one with its namespace. It keeps its
// machines.
func TestARestoredTenantIsTheSameCluster(t *testing.T) {
	f := prepare(t)
	c := playMany(f)
	stop := f.start()
	tc := f.ready(f.tenant())
	before := machineIDs(f, c)
	for _, home := range []string{tc.Annotations[annotationHome], "6a1f4ab3-0000-4000-8000-000000000000"} {
		stop()
		f.lose(tc)
		backup := restored(tc)
		backup.Annotations[annotationHome] = home
		f.Must(f.Create(t.Context(), backup))
		stop = f.start()
		now := f.until(backup, func(n *v1alpha1.TenantCluster) bool {
			return isReady(n) && n.Annotations[annotationHome] == tc.Annotations[annotationHome]
		})
		if now.Status.TenantNamespace != tc.Status.TenantNamespace {
			t.Errorf("it is in namespace %s now, and was in %s", now.Status.TenantNamespace, tc.Status.TenantNamespace)
		}
		if after := machineIDs(f, c); !maps.Equal(after, before) {
			t.Errorf("machines were %v and are %v", before, after)
		}
	}
	f.gone(tc)
}

// TestATenantOfAnotherManagementClusterIsNotCreatedTwice restores a TenantCluster without the
// rest: its workers may run elsewhere.
func TestATenantOfAnotherManagementClusterIsNotCreatedTwice(t *testing.T) {
	f, c := newCrowded(t)
	tc := f.tenant()
	tc.Annotations = map[string]string{
		v1alpha1.AnnotationClusterID: "6a1f4ab3-0000-4000-8000-000000000001", annotationNamespace: tc.Name + "-6a1f4ab3",
		annotationHome: "6a1f4ab3-0000-4000-8000-000000000000",
	}
	f.Must(f.Create(t.Context(), tc))
	now := f.until(tc, func(tc *v1alpha1.TenantCluster) bool { return tc.Status.Phase == v1alpha1.TenantFailed })
	if r := readyCondition(now); r.Reason != "CreatedElsewhere" || !strings.Contains(r.Message, annotationHome) {
		t.Errorf("%s: %s", r.Reason, r.Message)
	}
	if len(c.all(t.Context(), clusterKind)) > 0 {
		t.Error("it was created")
	}
	f.gone(tc)
}

func machineIDs(f *fixture, c *crowd) map[types.UID]bool {
	out := map[types.UID]bool{}
	for _, m := range c.all(f.Context(), machineKind) {
		out[m.GetUID()] = true
	}
	return out
}
