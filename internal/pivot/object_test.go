// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func object(kind, name string, owners ...string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
	o.SetName(name)
	o.SetUID(types.UID("uid-" + name))
	var references []metav1.OwnerReference
	for _, owner := range owners {
		references = append(references, metav1.OwnerReference{Name: owner, UID: types.UID("uid-" + owner)})
	}
	o.SetOwnerReferences(references)
	return o
}

func setOf(objects ...*unstructured.Unstructured) set {
	s := set{}
	for _, o := range objects {
		s.add(o)
	}
	return s
}

func TestWaves(t *testing.T) {
	s := setOf(
		object(machineKind, "request", "cluster"), object("Later", "owner", "request"), object("Later", "owned", "owner", "absent"),
		object(secretKind, "credentials"), object(secretKind, "late", "request"), object(providerKind, "config"), object(bootstrapKind, "cluster"),
	)
	waves, err := s.waves()
	if err != nil {
		t.Fatal(err)
	}
	got := make([][]string, len(waves))
	for i, wave := range waves {
		for _, r := range wave {
			got[i] = append(got[i], r.Name)
		}
	}
	want := [][]string{{"cluster"}, {"config"}, {"credentials"}, {"request"}, {"owner", "late"}, {"owned"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOwnersInACircleAreRefused(t *testing.T) {
	_, err := setOf(object(machineKind, "a", "b"), object("Later", "b", "a")).waves()
	if err == nil || !strings.Contains(err.Error(), "form a cycle") {
		t.Errorf("circle: %v", err)
	}
}

func TestReferences(t *testing.T) {
	o := object("Later", "a")
	o.SetNamespace("here")
	o.Object["spec"] = map[string]any{
		"providerRef":    map[string]any{"name": "p"},
		"credentialsRef": map[string]any{"name": "c", "namespace": "there"},
		"list":           []any{map[string]any{"secretRef": map[string]any{"name": "s"}}, map[string]any{"credentialsSecretRef": map[string]any{"name": "cs", "key": "k"}}},
		"nothing":        map[string]any{"secretRef": map[string]any{}},
		"secretRef":      "no object",
		"teamRef":        map[string]any{"name": "t"},
	}
	got := fmt.Sprint(references(o, isSecretReference), references(o, isProviderReference))
	if want := "[there/c here/s here/cs] [here/p]"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestManagersOfOwnerReferencesFollow(t *testing.T) {
	o := object(machineKind, "a")
	fields := func(uid string) map[string]any {
		return map[string]any{"f:metadata": map[string]any{"f:ownerReferences": map[string]any{`k:{"uid":"` + uid + `"}`: map[string]any{}}}}
	}
	o.Object["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"manager": "m", "operation": "Update", "fieldsV1": fields("old")}}
	got := transfer{uids: map[types.UID]types.UID{"old": "new"}}.managers(o)
	want := []any{map[string]any{"manager": "m", "operation": "Update", "fieldsV1": fields("new")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A copy of a Secret belongs to the plane that it lies on.
func TestForeignOwnerOfSharedSecretIsLeftBehind(t *testing.T) {
	secret := object(secretKind, "credentials", "operator")
	if got := (transfer{}).wanted(secret, nil).GetOwnerReferences(); len(got) > 0 {
		t.Errorf("owned by %v", got)
	}
}

func TestChangesOfThePlatform(t *testing.T) {
	before := []Item{
		{Kind: "machine", Name: "a", ID: "1", Addresses: []string{"10.0.0.1", "fd00::1"}},
		{Kind: "machine", Name: "b", ID: "2"}, {Kind: "disk", Name: "b"},
	}
	same := []Item{before[2], before[1], {Kind: "machine", Name: "a", ID: "1", Addresses: []string{"fd00::1", "10.0.0.1"}}}
	if got := changes(before, same); len(got) > 0 {
		t.Errorf("nothing changed, but: %v", got)
	}
	after := []Item{{Kind: "machine", Name: "a", ID: "1"}, {Kind: "machine", Name: "b", ID: "3"}, {Kind: "disk", Name: "b"}}
	want := []string{
		"machine a 1 has changed on the platform", "machine b 3 is new on the platform", "machine b 2 is gone from the platform",
	}
	if diff := cmp.Diff(want, changes(before, after)); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsReportNoContent(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: machineKind}, "a", field.ErrorList{
		field.Invalid(field.NewPath("spec"), map[string]any{"userData": password}, "spec is immutable"),
	})
	for kind, want := range map[string]string{
		machineKind: "copy MachineRequest ns/a on there: spec: spec is immutable",
		secretKind:  "copy Secret ns/a on there: Invalid",
	} {
		err := &refused{"copy", ref{kind, "ns", "a"}, "there", invalid}
		if err.Error() != want {
			t.Errorf("%q, not %q", err, want)
		}
		if !apierrors.IsInvalid(err) || !isFinal(err) {
			t.Error("the kind of the error is lost")
		}
	}
	if err := (&refused{"copy", ref{secretKind, "ns", "a"}, "there", errors.New("connection refused")}); !strings.Contains(err.Error(), "connection refused") || isFinal(err) {
		t.Errorf("no answer: %v", err)
	}
}

func TestJournalIsReadAsWritten(t *testing.T) {
	want := &journal{
		Move: "m", Stage: Copy, Epoch: 7, From: "local", To: "self", Cause: "because", Made: []ref{{machineKind, "ns", "a"}, {butlerKind, "", "b"}},
		Report: &Report{Epoch: 7, Objects: map[string]int{machineKind: 1}, Differences: []string{}, Changes: []string{"x"}},
	}
	data, err := want.data()
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseJournal(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, key := range []string{"epoch", "made", "report"} {
		spoilt := map[string]string{"epoch": "1", key: "?"}
		if _, err := parseJournal(spoilt); err == nil || !strings.HasPrefix(err.Error(), key) {
			t.Errorf("unreadable %s: %v", key, err)
		}
	}
}

func TestJournalThatCannotBeReadStopsTheMove(t *testing.T) {
	w := newFixture(t)
	spoilt := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: JournalName("mgmt")}, Data: map[string]string{"epoch": "?"}}
	w.must(cluster.Create(w.ctx, spoilt))
	if stopped := w.stops(w.move()); !stopped.RolledBack || !strings.Contains(stopped.Error(), "delete the ConfigMap if no move is under way") {
		t.Errorf("stopped: %v", stopped)
	}
}

func TestReportCountsWhatIsNotEqual(t *testing.T) {
	r := Report{
		Objects:     map[string]int{bootstrapKind: 1, providerKind: 2, secretKind: 5, machineKind: 10, balancerKind: 1, butlerKind: 1},
		ProviderIDs: 11, Addresses: 1, Platform: 41,
		Differences: []string{"MachineRequest butler-system/a differs in spec.cpu"},
		Changes:     []string{"machine b is gone from the platform"},
	}
	const want = "20 objects are compared, with 1 difference (1 ClusterBootstrap, 2 ProviderConfigs, 5 Secrets, 1 ButlerConfig, " +
		"1 LoadBalancerRequest, 10 MachineRequests); 11 provider IDs, 1 address; 41 platform objects, 1 change"
	if got := r.String(); got != want {
		t.Errorf("report:\n%s\nnot\n%s", got, want)
	}
}
