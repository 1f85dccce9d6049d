// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// combinations makes every combination of what a machine consists of and hands each to use,
// with the state in which the combination is to be observed. Without secret the
// machine has none.
func combinations(t *testing.T, m *machines, name string, secret bool, use func(*testing.T, provider.MachineSpec, provider.State)) {
	whole := m.combination(wanted(name), secret)
	for subset := range 1 << len(whole.parts) {
		s := wanted(fmt.Sprintf("%s-%d", name, subset))
		made := m.combination(s, secret)
		t.Run(made.describe(subset), func(t *testing.T) {
			for i, o := range made.parts {
				if subset&(1<<i) == 0 {
					continue
				}
				if err := shared.admin.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			t.Cleanup(func() { tidy(t, m, made.spec.MachineRef) })
			use(t, made.spec, made.state(subset))
		})
	}
}

// combination is a machine and its parts, the VirtualMachine last.
type combination struct {
	spec  provider.MachineSpec
	parts []client.Object
}

func (m *machines) combination(s provider.MachineSpec, secret bool) combination {
	s.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 5}}
	s.Image = "default/image-5rs6d"
	if secret {
		s.UserData = provider.Sensitive(strings.Repeat("u", 3000))
	}
	parts := m.parts(s, disks{image: image{namespace: "default", name: "image-5rs6d", class: "longhorn-image-5rs6d"}})
	return combination{s, append(parts, m.virtualMachine(s, disks{}))}
}

func (c combination) describe(subset int) string {
	var names []string
	for i, o := range c.parts {
		if subset&(1<<i) != 0 {
			names = append(names, strings.ReplaceAll(describe(o), `"`, ""))
		}
	}
	return strings.Join(append(names, "."), ",")
}

// state is the one that a combination is to be observed in; a complete machine is
// Pending or Running already.
func (c combination) state(subset int) provider.State {
	switch subset {
	case 0:
		return provider.StateAbsent
	case 1<<len(c.parts) - 1:
		return ""
	}
	return provider.StatePartial
}

func TestEveryPartialMachineIsResumed(t *testing.T) {
	m := connected(t).Machines.(*machines)
	combinations(t, m, "resumed", true, resumes(m))
}

func TestEveryPartialMachineIsResumedWithTheDocumentedPermissions(t *testing.T) {
	m := connected(t).Machines.(*machines)
	documentedOnly(t, m)
	combinations(t, m, "scarce", false, resumes(m))
}

// resumes creates what is missing, twice, waits for the machine to run, and
// deletes it.
func resumes(m *machines) func(*testing.T, provider.MachineSpec, provider.State) {
	return func(t *testing.T, s provider.MachineSpec, want provider.State) {
		seen, err := m.Observe(t.Context(), s.MachineRef)
		if err != nil || want != "" && seen.State != want {
			t.Fatalf("observed %s (%s), want %s: %v", seen.State, seen.Message, want, err)
		}
		for range 2 {
			if _, err := m.Create(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		await(t, m, s.MachineRef, provider.StateRunning)
		deletes(m)(t, s, want)
	}
}

func TestEveryPartialMachineIsDeleted(t *testing.T) {
	m := connected(t).Machines.(*machines)
	combinations(t, m, "dropped", true, deletes(m))
}

func TestEveryPartialMachineIsDeletedWithTheDocumentedPermissions(t *testing.T) {
	m := connected(t).Machines.(*machines)
	documentedOnly(t, m)
	combinations(t, m, "thrifty", false, deletes(m))
}

func deletes(m *machines) func(*testing.T, provider.MachineSpec, provider.State) {
	return func(t *testing.T, s provider.MachineSpec, _ provider.State) {
		remove(t, m, s.MachineRef)
		if left := objects(t, s.Owner); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		if _, err := m.Delete(t.Context(), s.MachineRef); err != nil {
			t.Errorf("a repeated delete says %v", err)
		}
	}
}

func TestAMissingSecretOfAStoppedMachineIsMadeAgain(t *testing.T) {
	m := connected(t).Machines
	s := wanted("unseeded", func(s *provider.MachineSpec) { s.UserData = provider.Sensitive(strings.Repeat("u", 3000)) })
	create(t, m, s)
	vm := &kubevirtv1.VirtualMachine{}
	key := client.ObjectKey{Namespace: "default", Name: s.Name}
	if err := shared.admin.Get(t.Context(), key, vm); err != nil {
		t.Fatal(err)
	}
	base := vm.DeepCopy()
	halted := kubevirtv1.RunStrategyHalted
	vm.Spec.RunStrategy = &halted
	if err := shared.admin.Patch(t.Context(), vm, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	if seen := await(t, m, s.MachineRef, provider.StateStopped); !strings.Contains(seen.Message, "Halted") {
		t.Errorf("a stopped machine says %q", seen.Message)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: secretName(s.Name)}}
	if err := shared.admin.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if seen := await(t, m, s.MachineRef, provider.StatePartial); seen.ID != string(vm.UID) {
		t.Errorf("%+v", seen)
	}
	if _, err := m.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	await(t, m, s.MachineRef, provider.StateStopped)
}
