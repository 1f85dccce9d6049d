// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sim "github.com/butlerdotdev/butler/internal/sim/nutanix"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after 20 s: %s", what)
		}
	}
}

func (o operator) categories(t *testing.T) (names []string) {
	t.Helper()
	var answer struct{ Entities []struct{ Name string } }
	if err := o.call(t.Context(), http.MethodPost, "categories/list", map[string]any{"kind": "category", "length": most}, &answer); err != nil {
		t.Fatal(err)
	}
	for _, e := range answer.Entities {
		if !slices.Contains([]string{"Environment", "AppType"}, e.Name) {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names
}

func deleted(t *testing.T, m provider.Machines, ref provider.MachineRef) {
	t.Helper()
	eventually(t, ref.Name+" is gone", func() bool {
		got, err := m.Delete(t.Context(), ref)
		if err != nil && provider.KindOf(err) != provider.Unavailable {
			t.Fatal(err)
		}
		return err == nil && got.State == provider.StateAbsent
	})
}

// removeCategories demands that they are removed with the last machine, those of labels too, but
// not one that existed.
func removeCategories(t *testing.T, o operator, p provider.Platform) {
	for path, body := range map[string]any{"categories/team": map[string]any{"name": "team"}} {
		if err := o.call(t.Context(), http.MethodPut, path, body, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.call(t.Context(), http.MethodPut, "categories/team/red", map[string]any{"value": "red"}, nil); err != nil {
		t.Fatal(err)
	}
	first := wantedSpec(func(s *provider.MachineSpec) { s.Labels = map[string]string{"tier": "gold", "team": "red"} })
	second := wantedSpec(func(s *provider.MachineSpec) {
		s.Name, s.Owner.ID, s.Labels = "mgmt-w-1", "another", map[string]string{"tier": "silver", "team": "blue"}
	})
	for _, s := range []provider.MachineSpec{first, second} {
		if _, err := p.Machines.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it runs", func() bool {
			m, err := p.Machines.Observe(t.Context(), s.MachineRef)
			return err == nil && m.State == provider.StateRunning
		})
	}
	own := scope(first.Owner)
	if got, want := o.categories(t), []string{own, "team", "tier"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	deleted(t, p.Machines, first.MachineRef)
	if got := o.categories(t); !slices.Contains(got, own) {
		t.Errorf("with one machine left: %v", got)
	}
	deleted(t, p.Machines, second.MachineRef)
	if got, want := o.categories(t), []string{"team"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	var values struct{ Entities []struct{ Value string } }
	if err := o.call(t.Context(), http.MethodPost, "categories/team/list", map[string]any{"kind": "category"}, &values); err != nil || len(values.Entities) != 1 {
		t.Errorf("%v, %v", values, err)
	}
}

// TestAListThatLags has machines that are listed later than they are created, by less than the
// settle window.
func TestAListThatLags(t *testing.T) {
	const lag = 300 * time.Millisecond
	f := newFixture(t, func(s *sim.Seed) { s.Lag = metav1.Duration{Duration: lag} })
	o, p := operator{f}, f.connected(t)
	if lag >= p.Settle {
		t.Fatalf("the announced window of %s is too short", p.Settle)
	}
	t.Run("a lost response creates one machine", func(t *testing.T) { loseResponse(t, o, p) })
	t.Run("categories are removed with the last machine", func(t *testing.T) { removeCategories(t, o, p) })
	t.Run("a clone of the same name is a copy", func(t *testing.T) { keepClone(t, o, p) })
	t.Run("a restored VM of the same name is a copy", func(t *testing.T) { keepRestored(t, o, p, deletedByCredentials) })
	t.Run("a restored VM of a lost one is a copy", func(t *testing.T) { keepRestored(t, o, p, deletedByHand) })
	t.Run("a VM that is restored later is a copy", func(t *testing.T) { keepRestoredLater(t, o, p) })
	t.Run("a lost VM is replaced although a response is lost", func(t *testing.T) { replaceLost(t, o, p) })
	t.Run("a VM that is not listed is read by its UUID", func(t *testing.T) { findByUUID(t, p) })
	t.Run("a VM that could not be created says why", func(t *testing.T) { explainFailure(t, p) })
}

// keepClone demands that a clone with the name of its machine is never taken for it: names are
// not unique.
func keepClone(t *testing.T, o operator, p provider.Platform) {
	s := wantedSpec()
	if _, err := p.Machines.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	var machine provider.Machine
	eventually(t, "it runs", func() bool {
		var err error
		machine, err = p.Machines.Observe(t.Context(), s.MachineRef)
		return err == nil && machine.State == provider.StateRunning
	})
	remove, err := o.Clone(t.Context(), s.Name, s.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	eventually(t, "both are there", func() bool {
		seen, err := o.Inspect(t.Context(), s.Name)
		return err == nil && len(seen.Machines) == 2
	})
	if got, err := p.Machines.Observe(t.Context(), s.MachineRef); err != nil || got.ID != machine.ID {
		t.Errorf("%+v, %v", got, err)
	}
	deleted(t, p.Machines, s.MachineRef)
	if seen, err := o.Inspect(t.Context(), s.Name); err != nil || len(seen.Machines) != 1 || seen.Machines[0].ID == machine.ID {
		t.Errorf("after the deletion: %+v, %v", seen, err)
	}
}

// restore creates what a restore from a backup creates: a VM with another UUID that has name,
// description and categories of the machine.
func (o operator) restore(t *testing.T, of shown) (uuid string) {
	t.Helper()
	body := map[string]any{"metadata": map[string]any{"kind": "vm", "categories": of.Metadata.Categories}, "spec": map[string]any{
		"name": of.Spec.Name, "description": of.Spec.Description, "cluster_reference": map[string]any{"kind": "cluster", "uuid": clusterID},
		"resources": map[string]any{"num_sockets": 1, "num_vcpus_per_socket": 1, "memory_size_mib": 1024},
	}}
	var restored shown
	if err := o.call(t.Context(), http.MethodPost, "vms", body, &restored); err != nil {
		t.Fatal(err)
	}
	return restored.Metadata.UUID
}

// awaitVMs waits until a name has as many VMs, and returns them.
func (o operator) awaitVMs(t *testing.T, name string, count int) (all []shown) {
	t.Helper()
	eventually(t, "the name has its VMs", func() (found bool) {
		var err error
		all, err = o.all(t.Context(), name)
		return err == nil && len(all) == count && !slices.ContainsFunc(all, func(v shown) bool { return v.Status.State != stateComplete })
	})
	return all
}

// deletedByCredentials deletes what the platform holds of a cluster, as often as it is listed.
func deletedByCredentials(t *testing.T, _ operator, p provider.Platform, s provider.MachineSpec) {
	eventually(t, "nothing is listed", func() bool {
		all, err := p.Holdings(t.Context(), provider.Owner{ClusterID: s.Owner.ClusterID})
		if err != nil {
			t.Fatal(err)
		}
		all = slices.DeleteFunc(all, func(h provider.Holding) bool { return h.State == provider.StateAbsent })
		for _, h := range all {
			if _, _, err := p.Remove(t.Context(), h); err != nil && provider.KindOf(err) != provider.Unavailable {
				t.Fatal(err)
			}
		}
		return len(all) == 0
	})
}

// deletedByHand deletes the VM of a machine without the driver.
func deletedByHand(t *testing.T, o operator, p provider.Platform, s provider.MachineSpec) {
	m, err := p.Machines.Observe(t.Context(), s.MachineRef)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.call(t.Context(), http.MethodDelete, "vms/"+m.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	o.awaitVMs(t, s.Name, 1)
}

// keepRestored demands that a VM which was restored from that of a machine is never taken for
// it, also when that is gone.
func keepRestored(t *testing.T, o operator, p provider.Platform, remove func(*testing.T, operator, provider.Platform, provider.MachineSpec)) {
	s := wantedSpec(func(s *provider.MachineSpec) {
		s.Name, s.Owner.ID, s.Owner.ClusterID = "mgmt-cp-3", "restored", "a cluster"
	})
	if _, err := p.Machines.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	restored := o.restore(t, o.awaitVMs(t, s.Name, 1)[0])
	o.awaitVMs(t, s.Name, 2)
	remove(t, o, p, s)
	deleted(t, p.Machines, s.MachineRef)
	if left := o.awaitVMs(t, s.Name, 1); left[0].Metadata.UUID != restored {
		t.Errorf("%s is left, want %s", left[0].Metadata.UUID, restored)
	}
	all, err := p.Machines.List(t.Context(), provider.Owner{ClusterID: s.Owner.ClusterID})
	if err != nil || len(all) != 1 || all[0].State != provider.StateAbsent || len(all[0].Copies) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := p.Machines.Create(t.Context(), s); provider.KindOf(err) != provider.Conflict {
		t.Errorf("a machine of its name: %v", err)
	}
	if err := o.call(t.Context(), http.MethodDelete, "vms/"+restored, nil, nil); err != nil {
		t.Fatal(err)
	}
	o.awaitVMs(t, s.Name, 0)
	deletedByCredentials(t, o, p, s)
	if slices.Contains(o.categories(t), scope(s.Owner)) {
		t.Error("the category of the cluster is left")
	}
}

// findByUUID demands that a VM whose UUID is known is not missed while the list lags.
func findByUUID(t *testing.T, p provider.Platform) {
	s := wantedSpec(func(s *provider.MachineSpec) { s.Name, s.Owner.ID = "mgmt-cp-1", "known" })
	created, err := p.Machines.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.ID = created.ID
	if m, err := p.Machines.Observe(t.Context(), s.MachineRef); err != nil || m.State == provider.StateAbsent {
		t.Errorf("%+v, %v", m, err)
	}
	eventually(t, "it is gone for certain", func() bool {
		m, err := p.Machines.Delete(t.Context(), s.MachineRef)
		return err == nil && m.State == provider.StateAbsent && m.Certain
	})
}

// explainFailure demands that a create task which fails late is reported with its cause, and
// that nothing of it is left.
func explainFailure(t *testing.T, p provider.Platform) {
	s := wantedSpec(func(s *provider.MachineSpec) { s.Name, s.Owner.ID = "mgmt-cp-2", "failed" })
	record, err := p.Plan(t.Context(), s, provider.Attempt{})
	if err != nil {
		t.Fatal(err)
	}
	s.Attempt = regexp.MustCompile(`"image":"[^"]*"`).ReplaceAllString(record, `"image":"00000000-0000-4000-8000-0000000000ff"`)
	created, err := p.Machines.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.ID = created.ID
	eventually(t, "it is broken", func() bool {
		m, err := p.Machines.Observe(t.Context(), s.MachineRef)
		return err == nil && m.State == provider.StateBroken && strings.Contains(m.Message, ": ")
	})
	eventually(t, "it is gone", func() bool {
		m, err := p.Machines.Delete(t.Context(), s.MachineRef)
		return err == nil && m.State == provider.StateAbsent
	})
}

// createUnanswered creates a machine and loses the response.
func createUnanswered(t *testing.T, o operator, p provider.Platform, s provider.MachineSpec) {
	t.Helper()
	var err error
	if s.Attempt, err = p.Plan(t.Context(), s, provider.Attempt{}); err != nil {
		t.Fatal(err)
	}
	lift, err := o.Inject(t.Context(), providertest.LostResponse)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Machines.Create(t.Context(), s)
	lift()
	if provider.KindOf(err) != provider.Unavailable || err == nil {
		t.Fatalf("a lost response: %v", err)
	}
}

// loseResponse demands that one machine is created if the caller waits until it is listed.
func loseResponse(t *testing.T, o operator, p provider.Platform) {
	s := wantedSpec(func(s *provider.MachineSpec) { s.Name, s.Owner.ID = "mgmt-cp-0", "lost" })
	createUnanswered(t, o, p, s)
	eventually(t, "it is listed", func() bool {
		m, err := p.Machines.Observe(t.Context(), s.MachineRef)
		return err == nil && m.State != provider.StateAbsent
	})
	if _, err := p.Machines.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if seen, err := o.Inspect(context.Background(), s.Name); err != nil || len(seen.Machines) != 1 {
		t.Errorf("%+v, %v", seen, err)
	}
	deleted(t, p.Machines, s.MachineRef)
}
