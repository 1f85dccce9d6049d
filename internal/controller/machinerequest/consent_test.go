// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// TestAProviderConfigOfAnotherNamespaceHasToAllowRequests: who may create requests in
// their namespace does not get the platform's rights by that.
func TestAProviderConfigOfAnotherNamespaceHasToAllowRequests(t *testing.T) {
	w := idleFixture(t, api, inmemory.New(inmemory.Options{}))
	w.elsewhere = w.NewNamespace()
	w.stop = w.start()
	w.Configure()
	from := func(m *v1alpha1.MachineRequest) {
		m.Namespace, m.Spec.ProviderRef.Namespace = w.elsewhere, w.Namespace
	}
	r := w.request("a", from)
	w.phase(r, v1alpha1.MachineFailed)
	w.reason(r, "ProviderConfigNotGranted")
	forged := w.request("forged", from, func(m *v1alpha1.MachineRequest) { // as if it had been claimed
		m.Finalizers = []string{v1alpha1.FinalizerMachineRequest(v1alpha1.ProviderHarvester)}
		m.Annotations = map[string]string{v1alpha1.AnnotationOwnerID: "forged", request.AnnotationAttempt: "2026-01-01T00:00:00Z"}
	})
	w.reason(forged, "ProviderConfigNotGranted")
	w.machines(0)
	w.Must(w.Delete(w.Context(), forged))
	w.allow(w.elsewhere)
	w.phase(r, v1alpha1.MachineRunning)
	w.allow("")
	w.Must(w.Delete(w.Context(), r)) // what exists is looked after without the grant, too
	w.Gone(r)
	w.machines(0)
}

// allow lets the ProviderConfig be used from a namespace.
func (w *fixture) allow(namespace string) {
	w.Helper()
	c := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Get(w.Context(), client.ObjectKeyFromObject(c), c))
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1alpha1.AnnotationAllowedNamespaces, namespace)
	w.Must(w.Update(w.Context(), c))
}

func TestAProviderConfigOfATeamServesItsRequestsAlone(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Must(w.Create(w.Context(), w.Secret()))
	c := w.Config(v1alpha1.ProviderHarvester)
	c.Spec.Scope = &v1alpha1.ProviderScope{Type: v1alpha1.ScopeTeam, TeamRef: &v1alpha1.LocalReference{Name: "blue"}}
	w.Must(w.Create(w.Context(), c))
	team := func(name string) func(*v1alpha1.MachineRequest) {
		return func(m *v1alpha1.MachineRequest) { m.Labels = map[string]string{v1alpha1.LabelTeam: name} }
	}
	w.reason(w.request("nobodys"), "ProviderScope")
	w.reason(w.request("reds", team("red")), "ProviderScope")
	w.phase(w.request("blues", team("blue")), v1alpha1.MachineRunning)
	w.machines(1)
}

// TestALimitOfAProviderConfigCountsTheMachinesOfATeam creates more requests at once than the
// limit allows.
func TestALimitOfAProviderConfigCountsTheMachinesOfATeam(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Must(w.Create(w.Context(), w.Secret()))
	c := w.Config(v1alpha1.ProviderHarvester)
	c.Spec.Limits = &v1alpha1.ProviderLimits{MaxNodesPerTeam: new(int32(2))}
	w.Must(w.Create(w.Context(), c))
	blue := func(m *v1alpha1.MachineRequest) { m.Labels = map[string]string{v1alpha1.LabelTeam: "blue"} }
	var all []*v1alpha1.MachineRequest
	for _, name := range []string{"a", "b", "c", "d"} {
		all = append(all, w.request(name, blue))
	}
	count := func(running, refused int) {
		t.Helper()
		w.Await(func() error {
			up, held := 0, 0
			for _, r := range all {
				if w.Get(w.Context(), client.ObjectKeyFromObject(r), r) != nil {
					continue
				}
				ready := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionReady)
				switch {
				case r.Status.Phase == v1alpha1.MachineRunning:
					up++
				case ready != nil && ready.Reason == "QuotaExceeded" && strings.Contains(ready.Message, "is 2, and team blue has 2"):
					held++
				}
			}
			if up != running || held != refused {
				return fmt.Errorf("%d run, %d are refused", up, held)
			}
			return nil
		})
	}
	count(2, 2)
	w.phase(w.request("other"), v1alpha1.MachineRunning)            // the limit is for each team
	w.phase(w.request("managed", func(m *v1alpha1.MachineRequest) { // the cluster itself is no team
		m.Labels = map[string]string{v1alpha1.LabelClusterBootstrap: "mgmt"}
	}), v1alpha1.MachineRunning)
	w.machines(4)
	for _, r := range all {
		if r.Status.Phase == v1alpha1.MachineRunning {
			w.Must(w.Delete(w.Context(), r))
			break
		}
	}
	count(2, 1)
}

// TestWorkersOfTenantClustersCountAgainstTheLimitOfATeam has a team with one worker, which leaves
// room for one machine.
func TestWorkersOfTenantClustersCountAgainstTheLimitOfATeam(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Must(w.Create(w.Context(), w.Secret()))
	c := w.Config(v1alpha1.ProviderHarvester)
	c.Spec.Limits = &v1alpha1.ProviderLimits{MaxNodesPerTeam: new(int32(2))}
	w.Must(w.Create(w.Context(), c))
	tc := &v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "web"}}
	tc.Spec.KubernetesVersion, tc.Spec.TeamRef = "v1.32.0", &v1alpha1.LocalReference{Name: "blue"}
	tc.Spec.Workers.Replicas = 1
	tc.Spec.Workers.MachineTemplate = v1alpha1.TenantMachineTemplateSpec{CPU: 2, Memory: resource.MustParse("4Gi"), DiskSize: resource.MustParse("40Gi")}
	w.Must(w.Create(w.Context(), tc))
	tc.Status.Reservation = &v1alpha1.QuotaReservation{Cluster: w.Namespace + "/web", UID: string(tc.UID), ProviderConfig: client.ObjectKeyFromObject(c).String(), Nodes: 1}
	w.Must(w.Status().Update(w.Context(), tc))
	blue := func(m *v1alpha1.MachineRequest) { m.Labels = map[string]string{v1alpha1.LabelTeam: "blue"} }
	w.phase(w.request("a", blue), v1alpha1.MachineRunning)
	second := w.request("b", blue)
	w.reason(second, "QuotaExceeded")
	w.Must(w.Delete(w.Context(), tc))
	w.phase(second, v1alpha1.MachineRunning)
}
