// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

var bootstrapRef = ref{bootstrapKind, system, "mgmt"}

func TestMoveCarriesEverything(t *testing.T) {
	w := newFixture(t)
	before := essence(w.everything(local))
	report := w.run(w.move())
	w.expectMoved(before)
	const want = "9 objects are equal (1 ClusterBootstrap, 1 ProviderConfig, 5 Secrets, 2 MachineRequests); " +
		"2 provider IDs, 2 addresses; 2 platform objects, none changed"
	if got := report.String(); got != want {
		t.Errorf("report:\n%s\nnot\n%s", got, want)
	}
	if diff := cmp.Diff(report, w.standing(cluster).Report); diff != "" {
		t.Errorf("the report that is kept: %s", diff)
	}
	if got := w.standing(local).Fenced; !strings.Contains(got, "moved to cluster mgmt at epoch 1") {
		t.Errorf("the local plane is fenced with %q", got)
	}
	if diff := cmp.Diff([]string{"quiesce"}, w.calls); diff != "" {
		t.Error(diff)
	}
}

// TestOnlyTheNamespaceOfTheClusterMoves is a plane that others use as well.
func TestOnlyTheNamespaceOfTheClusterMoves(t *testing.T) {
	w := newFixture(t)
	spec := v1alpha1.NetworkPoolSpec{CIDR: "10.50.0.0/24"}
	spare := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "spare"}, Spec: spec}
	theirs := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "theirs"}, Spec: spec}
	other := &unstructured.Unstructured{}
	w.must(yaml.Unmarshal([]byte(strings.ReplaceAll(clusterBootstrap, "mgmt", "other")), &other.Object))
	other.SetNamespace("elsewhere")
	for _, o := range []client.Object{spare, theirs, other} {
		w.must(local.Create(w.ctx, o))
	}
	m := w.move()
	m.Scope = Namespace
	w.run(m)
	if err := cluster.Get(w.ctx, client.ObjectKeyFromObject(spare), spare); err != nil {
		t.Errorf("a pool of the namespace that nothing uses: %v", err)
	}
	for _, o := range []client.Object{theirs, other} {
		if err := cluster.Get(w.ctx, client.ObjectKeyFromObject(o), o.DeepCopyObject().(client.Object)); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("%s of another namespace: %v", o.GetName(), err)
		}
		w.must(local.Get(w.ctx, client.ObjectKeyFromObject(o), o))
	}
}

func TestMoveIsDoneOnce(t *testing.T) {
	w := newFixture(t)
	before := essence(w.everything(local))
	first := w.run(w.move())
	versions := w.everything(cluster).versions()
	if diff := cmp.Diff(first, w.run(w.move())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(versions, w.everything(cluster).versions()); diff != "" {
		t.Errorf("a move that is done writes: %s", diff)
	}
	w.expectMoved(before)
}

func TestGenerationsAreThoseOfTheNewPlane(t *testing.T) {
	w := newFixture(t)
	w.run(w.move())
	cb := &v1alpha1.ClusterBootstrap{}
	w.must(cluster.Get(w.ctx, w.key, cb))
	got := []int64{cb.Generation, cb.Status.ObservedGeneration, cb.Status.Conditions[0].ObservedGeneration, cb.Status.Conditions[1].ObservedGeneration}
	if diff := cmp.Diff([]int64{1, 1, 1, 0}, got); diff != "" {
		t.Errorf("generation, observed, current condition, old condition: %s", diff)
	}
}

func TestSharedObjectsKeepWhatIsOfTheirPlane(t *testing.T) {
	w := newFixture(t)
	w.run(w.move())
	config := &v1alpha1.ProviderConfig{}
	w.must(cluster.Get(w.ctx, types.NamespacedName{Namespace: system, Name: "harvester-prod"}, config))
	if config.Status.ProviderVersion != "v1.5" || config.Annotations["own"] == "" || len(config.Finalizers) > 0 {
		t.Errorf("status %+v, annotations %v, finalizers %v", config.Status, config.Annotations, config.Finalizers)
	}
	if w.everything(cluster)[ref{butlerKind, "", "butler"}] == nil {
		t.Error("the ButlerConfig is gone")
	}
}

// What the operator applies to the new plane takes away what it had applied to the
// old one and no longer has.
func TestFieldsHaveTheirManagersOnTheNewPlane(t *testing.T) {
	w := newFixture(t)
	w.run(w.move())
	w.apply(cluster, strings.Replace(clusterBootstrap, "  annotations: {note: travels}\n", "", 1))
	w.apply(cluster, strings.Replace(providerConfig, ", labels: {team: platform}", "", 1))
	all := w.everything(cluster)
	if note, ok := all[bootstrapRef].GetAnnotations()["note"]; ok {
		t.Errorf("annotation note is still %q", note)
	}
	if team, ok := all[ref{providerKind, system, "harvester-prod"}].GetLabels()["team"]; ok {
		t.Errorf("label team is still %q", team)
	}
	if got, _, _ := unstructured.NestedString(all[bootstrapRef].Object, "spec", "remediation"); got != "ReplaceWorkers" {
		t.Errorf("a field of another owner is %q", got)
	}
}

// TestPoolsAndAddressesMoveThereAndBack: claims have no namespace, and pools are not those of
// one cluster.
func TestPoolsAndAddressesMoveThereAndBack(t *testing.T) {
	w := newFixture(t)
	pool := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "lan"}, Spec: v1alpha1.NetworkPoolSpec{CIDR: "10.40.0.0/24"}}
	allocation := &v1alpha1.IPAllocation{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "mgmt-vip"}, Spec: v1alpha1.IPAllocationSpec{
		PoolRef: v1alpha1.LocalReference{Name: "lan"}, Type: v1alpha1.IPAllocationLoadBalancer, Count: 1, ClusterBootstrapRef: &v1alpha1.LocalReference{Name: w.key.Name},
	}}
	claim := &v1alpha1.AddressClaim{ObjectMeta: metav1.ObjectMeta{Name: "10.40.0.9"}, Spec: v1alpha1.AddressClaimSpec{
		Address: "10.40.0.9", PoolRef: v1alpha1.NamespacedReference{Namespace: system, Name: "lan"}, AllocationRef: v1alpha1.NamespacedReference{Namespace: system, Name: "mgmt-vip"},
	}}
	w.mark(allocation)
	w.mark(claim)
	for _, o := range []client.Object{pool, allocation, claim} {
		w.must(local.Create(w.ctx, o, minter))
	}
	allocation.Status = v1alpha1.IPAllocationStatus{Phase: v1alpha1.IPAllocationAllocated, StartAddress: "10.40.0.9", EndAddress: "10.40.0.9"}
	w.must(local.Status().Update(w.ctx, allocation))
	w.run(w.move())
	on := func(c client.Client) (out []string) {
		for _, key := range w.everything(c).refs() {
			if slices.Contains([]string{poolKind, "IPAllocation", "AddressClaim"}, key.Kind) {
				out = append(out, key.String())
			}
		}
		return out
	}
	all := []string{"AddressClaim 10.40.0.9", "IPAllocation " + system + "/mgmt-vip", "NetworkPool " + system + "/lan"}
	if diff := cmp.Diff(all, on(cluster)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(all[2:], on(local)); diff != "" {
		t.Error("the old plane", diff)
	}
	w.delete(local, ref{poolKind, system, "lan"})
	w.run(w.back())
	if diff := cmp.Diff(all, on(local)); diff != "" {
		t.Error(diff)
	}
	w.must(local.Get(w.ctx, client.ObjectKeyFromObject(allocation), allocation))
	if allocation.Status.StartAddress != "10.40.0.9" {
		t.Errorf("%+v", allocation.Status)
	}
}

func TestThereAndBack(t *testing.T) {
	w := newFixture(t)
	w.run(w.move())
	w.change(cluster, bootstrapRef, func(o *unstructured.Unstructured) {
		w.must(unstructured.SetNestedField(o.Object, "None", "spec", "remediation"))
	})
	gone := w.everything(cluster)[machineRef(1)]
	gone.SetFinalizers(nil)
	w.must(cluster.Update(w.ctx, gone))
	w.delete(cluster, machineRef(1))
	w.must(cluster.Create(w.ctx, w.machine(7), minter))
	before := essence(w.everything(cluster))

	w.run(w.back())
	if got := w.inCharge(); got != "local" {
		t.Errorf("in charge: %s", got)
	}
	if diff := cmp.Diff(before, essence(w.everything(local))); diff != "" {
		t.Error(diff)
	}
	for key := range w.everything(cluster) {
		if key.Kind == machineKind {
			t.Errorf("%s is still on the cluster", key)
		}
	}
	if s := w.standing(local); s.Epoch != 2 || s.Kind != v1alpha1.PlaneLocal {
		t.Errorf("local plane: %+v", s)
	}

	before = essence(w.everything(local))
	w.run(w.move())
	w.expectMoved(before)
	if s := w.standing(cluster); s.Epoch != 3 {
		t.Errorf("epoch %d", s.Epoch)
	}
}

// A plane that is recreated, for example because the operator's machine was lost,
// takes the cluster all the same.
func TestBackToAnEmptyPlane(t *testing.T) {
	w := newFixture(t)
	w.run(w.move())
	w.wipe(local)
	before := essence(w.everything(cluster))
	w.run(w.back())
	if diff := cmp.Diff(before, essence(w.everything(local))); diff != "" {
		t.Error(diff)
	}
}

// Keys that only the destination still has are not lost by a move there.
func TestBackKeepsKeysThatTheClusterHasLost(t *testing.T) {
	w := newFixture(t)
	w.run(w.move())
	keys := ref{secretKind, system, "mgmt-talos-secrets"}
	w.delete(cluster, keys)
	w.run(w.back())
	if w.everything(local)[keys] == nil {
		t.Errorf("%s is gone", keys)
	}
}

func TestKeysThatWereRestoredWithoutTheirLabelsMove(t *testing.T) {
	w := newFixture(t)
	key := ref{secretKind, system, "mgmt-talosconfig"}
	w.change(local, key, func(o *unstructured.Unstructured) { o.SetLabels(nil) })
	w.run(w.move())
	if w.everything(cluster)[key] == nil {
		t.Error("the Secret did not move")
	}
}

func TestOwnerReferencesFollow(t *testing.T) {
	w := newFixture(t)
	all := w.everything(local)
	owned := func(key, owner ref) {
		w.change(local, key, func(o *unstructured.Unstructured) {
			o.SetOwnerReferences([]metav1.OwnerReference{{
				APIVersion: all[owner].GetAPIVersion(), Kind: owner.Kind, Name: owner.Name, UID: all[owner].GetUID(), Controller: new(true),
			}})
		})
	}
	owned(machineRef(0), bootstrapRef)
	owned(ref{secretKind, system, "mgmt-talosconfig"}, machineRef(0))
	w.run(w.move())
	there := w.everything(cluster)
	for key, owner := range map[ref]ref{machineRef(0): bootstrapRef, {secretKind, system, "mgmt-talosconfig"}: machineRef(0)} {
		got := there[key].GetOwnerReferences()
		if len(got) != 1 || got[0].UID != there[owner].GetUID() || got[0].Controller == nil {
			t.Errorf("%s is owned by %+v, not by %s", key, got, there[owner].GetUID())
		}
	}
}

func TestDeletionTravels(t *testing.T) {
	w := newFixture(t)
	w.delete(local, machineRef(1))
	before := essence(w.everything(local))
	w.run(w.move())
	w.expectMoved(before)
	request := &v1alpha1.MachineRequest{}
	w.must(cluster.Get(w.ctx, types.NamespacedName{Namespace: system, Name: "mgmt-cp-1"}, request))
	if request.DeletionTimestamp.IsZero() || request.Status.ProviderID == "" {
		t.Errorf("deletion %v, status %+v", request.DeletionTimestamp, request.Status)
	}
}

// Until the fence stands, the old plane is where an operator looks.
func TestDeletionAfterTheCopyIsPassedOn(t *testing.T) {
	w := newFixture(t)
	m := w.move()
	m.At = func(s Stage) error {
		if s == Switch {
			w.delete(local, machineRef(1))
			w.delete(local, bootstrapRef)
		}
		return nil
	}
	w.run(m)
	there := w.everything(cluster)
	for _, key := range []ref{machineRef(1), bootstrapRef} {
		if there[key].GetDeletionTimestamp() == nil {
			t.Errorf("%s is not being deleted on the cluster", key)
		}
	}
	if there[machineRef(0)].GetDeletionTimestamp() != nil {
		t.Error("what was not deleted is")
	}
}

// A request that the new plane has made in the place of one that was deleted is
// another one.
func TestDeletionIsNotPassedOnToASuccessor(t *testing.T) {
	w := newFixture(t)
	m := w.move()
	m.At = func(s Stage) error {
		if s == Retire {
			w.delete(local, machineRef(1))
			old := w.everything(cluster)[machineRef(1)]
			old.SetFinalizers(nil)
			w.must(cluster.Update(w.ctx, old))
			w.delete(cluster, machineRef(1))
			w.must(cluster.Create(w.ctx, w.machine(1), minter))
		}
		return nil
	}
	w.run(m)
	if w.everything(cluster)[machineRef(1)].GetDeletionTimestamp() != nil {
		t.Error("the successor is being deleted")
	}
}

func TestManyAndBigObjectsMove(t *testing.T) {
	w := newFixture(t)
	const many = 500 / stride
	w.grow(many)
	w.change(local, machineRef(0), func(o *unstructured.Unstructured) {
		o.SetAnnotations(merged(o.GetAnnotations(), map[string]string{"big": strings.Repeat("x", 200_000)}))
	})
	w.must(local.Create(w.ctx, func() *corev1.Secret {
		s := w.secret(system, "mgmt-big", true)
		s.Data["big"] = []byte(strings.Repeat("x", 900_000))
		return s
	}()))
	before := essence(w.everything(local))
	report := w.run(w.move())
	w.expectMoved(before)
	if got := report.Objects[machineKind]; got != many {
		t.Errorf("%d requests were compared", got)
	}
}

// grow makes requests until there are that many.
func (w *fixture) grow(n int) {
	w.Helper()
	var group errgroup.Group
	group.SetLimit(maxConcurrent)
	for i := machines; i < n; i++ {
		group.Go(func() error { return w.makeMachine(i) })
	}
	w.must(group.Wait())
}

func BenchmarkPivot(b *testing.B) {
	for _, n := range []int{20, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			objects := 0
			for b.Loop() {
				b.StopTimer()
				w := newFixture(b)
				w.grow(n - 7)
				b.StartTimer()
				for _, count := range w.run(w.move()).Objects {
					objects += count
				}
				b.StopTimer()
				for _, c := range []client.Client{local, cluster} {
					w.wipe(c)
				}
				b.StartTimer()
			}
			if objects != n*b.N {
				b.Fatalf("%d objects in %d moves", objects, b.N)
			}
			b.ReportMetric(float64(objects)/b.Elapsed().Seconds(), "objects/s")
		})
	}
}

func TestReportedInOrder(t *testing.T) {
	w := newFixture(t)
	m := w.move()
	var reached, reported []Stage
	m.At = func(s Stage) error {
		reached = append(reached, s)
		return nil
	}
	m.Progress = func(s Stage, text string) {
		if reported = append(reported, s); text == "" || strings.Contains(text, password) {
			t.Errorf("reported %q", text)
		}
	}
	w.run(m)
	stages := []Stage{Prepare, Copy, Verify, Switch, Retire}
	if diff := cmp.Diff(append(stages, Done), reached); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(stages, slices.Compact(reported)); diff != "" {
		t.Error(diff)
	}
}
