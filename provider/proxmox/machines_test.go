// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// machine is one of a cluster.
func machine(name string, change ...func(*provider.MachineSpec)) provider.MachineSpec {
	s := provider.MachineSpec{Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 10}
	s.Name, s.Owner = name, provider.Owner{ID: uuid.NewString(), ClusterID: uuid.NewString(), Cluster: "mgmt"}
	for _, f := range change {
		f(&s)
	}
	return s
}

// planned has the record of an attempt.
func planned(t *testing.T, p provider.Platform, s provider.MachineSpec, last provider.Attempt) (provider.MachineSpec, attempt) {
	t.Helper()
	record, err := p.Plan(t.Context(), s, last)
	if err != nil {
		t.Fatal(err)
	}
	var a attempt
	if err := json.Unmarshal([]byte(record), &a); err != nil {
		t.Fatal(err)
	}
	s.Attempt = record
	return s, a
}

// until asks as the reconciler does, until done, and returns the last answer.
func until(t *testing.T, ask func() (provider.Machine, error), done func(provider.Machine, error) bool) (m provider.Machine, err error) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		if m, err = ask(); done(m, err) {
			return m, err
		}
	}
	t.Fatalf("the machine is %s (%s): %v", m.State, m.Message, err)
	return m, err
}

func running(m provider.Machine, err error) bool {
	return err == nil && m.State == provider.StateRunning
}

func absentNow(m provider.Machine, err error) bool {
	return err == nil && m.State == provider.StateAbsent
}

func failedNow(_ provider.Machine, err error) bool { return err != nil }

// created is a machine that runs.
func created(t *testing.T, p provider.Platform, s provider.MachineSpec) provider.Machine {
	t.Helper()
	m, _ := until(t, func() (provider.Machine, error) { return p.Machines.Create(t.Context(), s) }, running)
	return m
}

func removed(t *testing.T, p provider.Platform, s provider.MachineSpec) {
	t.Helper()
	until(t, func() (provider.Machine, error) { return p.Machines.Delete(t.Context(), s.MachineRef) }, absentNow)
}

func onlyID(id int32) func(*provider.Config) {
	return func(c *provider.Config) { c.Spec.Proxmox.VMIDRange = &v1alpha1.VMIDRange{Start: id, End: id} }
}

// TestTwoControllersRaceForOneVMID: one of them has it, the other is refused and takes nothing.
func TestTwoControllersRaceForOneVMID(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	a, b := f.connected(t, onlyID(2000)), f.connected(t, onlyID(2000))
	first, _ := planned(t, a, machine("mgmt-w-0"), provider.Attempt{})
	second, _ := planned(t, b, machine("mgmt-w-1"), provider.Attempt{})
	ended := func(m provider.Machine, err error) bool { return running(m, err) || failedNow(m, err) }
	results := make(chan error, 2)
	go func() {
		_, err := until(t, func() (provider.Machine, error) { return a.Machines.Create(t.Context(), first) }, ended)
		results <- err
	}()
	_, err := until(t, func() (provider.Machine, error) { return b.Machines.Create(t.Context(), second) }, ended)
	other := <-results
	if (err == nil) == (other == nil) {
		t.Fatalf("both end alike: %v; %v", err, other)
	}
	if err = errors.Join(err, other); provider.ReasonOf(err) != provider.ReasonAttemptSpent || provider.KindOf(err) != provider.Exhausted {
		t.Errorf("the one without the VMID: %v", err)
	}
	_, err = a.Plan(t.Context(), machine("mgmt-w-2"), provider.Attempt{})
	if provider.ReasonOf(err) != reasonRange || provider.KindOf(err) != provider.Exhausted {
		t.Errorf("a range that is used up: %v", err)
	}
	if vms, err := f.admin.VMs(t.Context()); err != nil || len(vms) != 1 || vms[0].VMID != 2000 {
		t.Errorf("the cluster has %v: %v", vms, err)
	}
}

// TestAVMIDThatAPersonTakes is left alone, and another one is taken.
func TestAVMIDThatAPersonTakes(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	s, a := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	path := fmt.Sprintf("/nodes/%s/qemu/%d", a.Source.Node, a.Source.VMID)
	if err := f.admin.Do(t.Context(), http.MethodPost, path+"/clone", "newid", fmt.Sprint(a.VMID), "name", "by-hand"); err != nil {
		t.Fatal(err)
	}
	_, err := p.Machines.Create(t.Context(), s)
	if provider.ReasonOf(err) != provider.ReasonAttemptSpent {
		t.Fatalf("the VMID of another VM: %v", err)
	}
	s, again := planned(t, p, s, provider.Attempt{Record: s.Attempt, Refused: err})
	if again.VMID == a.VMID {
		t.Errorf("VMID %d is tried again", a.VMID)
	}
	created(t, p, s)
	removed(t, p, s)
	if vms, err := f.admin.VMs(t.Context()); err != nil || len(vms) != 1 || vms[0].Name != "by-hand" {
		t.Errorf("the cluster has %v: %v", vms, err)
	}
}

// TestDebrisOfAFailedCloneIsRemoved, and the same of others is kept.
func TestDebrisOfAFailedCloneIsRemoved(t *testing.T) {
	f := newFixture(t, sim.Seed{Debris: "volumes"})
	p := f.connected(t)
	s, a := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	other := fmt.Sprintf("vm-%d-disk-7", a.VMID) // before the clone begins: that of a person
	if err := f.admin.Call(t.Context(), http.MethodPost, "/nodes/"+a.Node+"/storage/local-lvm/content", nil, "vmid", fmt.Sprint(a.VMID), "filename", other, "size", "1G"); err != nil {
		t.Fatal(err)
	}
	lift, err := f.Inject(t.Context(), providertest.CreateFailsLate)
	if err != nil {
		t.Fatal(err)
	}
	_, err = until(t, func() (provider.Machine, error) { return p.Machines.Create(t.Context(), s) }, failedNow)
	lift()
	refused := err
	if provider.KindOf(err) != provider.Exhausted || !strings.Contains(err.Error(), fmt.Sprint(a.VMID)) {
		t.Errorf("a clone that failed: %v", err)
	}
	volumes, err := f.admin.Volumes(t.Context())
	if err != nil || len(volumes) != 1 || !strings.Contains(volumes[0].VolID, other) {
		t.Errorf("volumes are left, or those of others are gone: %v, %v", volumes, err)
	}
	s, _ = planned(t, p, s, provider.Attempt{Record: s.Attempt, Refused: refused})
	created(t, p, s)
	removed(t, p, s)
}

// TestAHalfClonedVMIsNamedAndRemoved: only root can remove its lock.
func TestAHalfClonedVMIsNamedAndRemoved(t *testing.T) {
	f := newFixture(t, sim.Seed{Debris: "guest"})
	p := f.connected(t)
	s, a := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	lift, err := f.Inject(t.Context(), providertest.CreateFailsLate)
	if err != nil {
		t.Fatal(err)
	}
	_, err = until(t, func() (provider.Machine, error) { return p.Machines.Create(t.Context(), s) }, failedNow)
	lift()
	if want := fmt.Sprintf("qm unlock %d", a.VMID); !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if err := f.root(t).Put(t.Context(), vmPath(a.Node, a.VMID)+"/config", map[string]any{"delete": "lock", "skiplock": 1}, nil); err != nil {
		t.Fatal(err)
	}
	removed(t, p, s)
	if vms, err := f.admin.VMs(t.Context()); err != nil || len(vms) > 0 {
		t.Errorf("the cluster has %v: %v", vms, err)
	}
}

// TestAVMOfAPersonIsNoDebris: it has no name, and the ID to which a clone has failed before.
func TestAVMOfAPersonIsNoDebris(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	s, a := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	lift, err := f.Inject(t.Context(), providertest.CreateFailsLate)
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() (provider.Machine, error) { return p.Machines.Create(t.Context(), s) }, failedNow)
	lift()
	if err := f.admin.Do(t.Context(), http.MethodPost, "/nodes/"+a.Node+"/qemu", "vmid", fmt.Sprint(a.VMID), "memory", "512"); err != nil {
		t.Fatal(err)
	}
	removed(t, p, s)
	if vms, err := f.admin.VMs(t.Context()); err != nil || len(vms) != 1 {
		t.Errorf("the cluster has %v: %v", vms, err)
	}
}

// TestOnlyTheTemporaryFileIsHalfAClone, whatever else has no name.
func TestOnlyTheTemporaryFileIsHalfAClone(t *testing.T) {
	note := " " + temporaryNote + "\n"
	for _, c := range []struct {
		have settings
		want bool
	}{
		{settings{"lock": "clone", "digest": "d", "description": note}, true},
		{settings{"digest": "d", "description": note}, true},
		{settings{"lock": "clone", "digest": "d"}, false},
		{settings{"lock": "create", "digest": "d", "description": note}, false},
		{settings{"digest": "d", "description": note, "memory": "512"}, false},
		{settings{"digest": "d", "meta": "ctime=1", "smbios1": "uuid=u"}, false},
		{settings{}, false},
	} {
		if got := c.have.temporary(); got != c.want {
			t.Errorf("%v: %t", c.have, got)
		}
	}
}

// TestAVolumeIsOwnOnlyWithProof: its name in the log of the clone, and its age.
func TestAVolumeIsOwnOnlyWithProof(t *testing.T) {
	clone := task{Start: 100, End: 110, Status: "clone failed"}
	log := []line{{"create linked clone of drive virtio0 (tank:base-9000-disk-0)"}, {`  Logical volume "vm-2100-disk-10" created.`}}
	silent := log[:1]
	for what, c := range map[string]struct {
		volid string
		time  number
		log   []line
		want  origin
	}{
		"named and of that time":         {"tank:vm-2100-disk-10", 105, log, originOwn},
		"named, as a file":               {"tank:2100/vm-2100-disk-10.qcow2", 105, log, originOwn},
		"another number":                 {"tank:vm-2100-disk-1", 105, log, originOther},
		"older":                          {"tank:vm-2100-disk-10", 99, log, originOther},
		"newer":                          {"tank:vm-2100-disk-10", 111, log, originOther},
		"of another storage":             {"nfs:2100/vm-2100-disk-10.raw", 105, log, originDoubtful},
		"named, without an age":          {"tank:vm-2100-disk-10", 0, log, originDoubtful},
		"without an age, a silent log":   {"tank:vm-2100-disk-0", 0, silent, originDoubtful},
		"of that time, but a silent log": {"tank:vm-2100-disk-0", 105, silent, originDoubtful},
	} {
		v := volume{VolID: c.volid, Time: c.time, store: strings.Split(c.volid, ":")[0]}
		if got := v.origin(clone, c.log, "local-lvm"); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
}

// TestAVolumeWithoutAnAgeIsKept and named: on ZFS nothing proves that it is the driver's.
func TestAVolumeWithoutAnAgeIsKept(t *testing.T) {
	f := newFixture(t, sim.Seed{Storage: []sim.Storage{{Name: "local-lvm", Type: "zfspool", Content: []string{"images"}, SizeGB: 4096}}})
	p := f.connected(t)
	s, a := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	lift, err := f.Inject(t.Context(), providertest.CreateFailsLate)
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() (provider.Machine, error) { return p.Machines.Create(t.Context(), s) }, failedNow)
	lift()
	name := fmt.Sprintf("vm-%d-disk-0", a.VMID) // after the clone has failed: that of a person
	if err := f.admin.Call(t.Context(), http.MethodPost, "/nodes/"+a.Node+"/storage/local-lvm/content", nil, "vmid", fmt.Sprint(a.VMID), "filename", name, "size", "1G"); err != nil {
		t.Fatal(err)
	}
	_, err = until(t, func() (provider.Machine, error) { return p.Machines.Delete(t.Context(), s.MachineRef) }, func(m provider.Machine, err error) bool {
		return failedNow(m, err) || absentNow(m, err)
	})
	if provider.KindOf(err) != provider.InUse || !strings.Contains(err.Error(), "local-lvm:"+name) {
		t.Errorf("a volume that may be another's: %v", err)
	}
	if volumes, err := f.admin.Volumes(t.Context()); err != nil || len(volumes) != 1 {
		t.Errorf("the storages have %v: %v", volumes, err)
	}
}

// TestDebrisOnASharedStorageIsRemoved, though the task of the clone is on another node than
// the one that shows the volume.
func TestDebrisOnASharedStorageIsRemoved(t *testing.T) {
	f := newFixture(t, sim.Seed{
		Debris:    "volumes",
		Storage:   []sim.Storage{{Name: "local-lvm", Type: "lvm", Content: []string{"images"}, Shared: true, SizeGB: 4096}},
		Templates: []sim.Template{{VMID: 9000, Name: "talos-v1.9.2", Node: "pve3", Image: "v1.9.2"}},
	})
	p := f.connected(t)
	s, _ := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	lift, err := f.Inject(t.Context(), providertest.CreateFailsLate)
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() (provider.Machine, error) { return p.Machines.Create(t.Context(), s) }, failedNow)
	lift()
	removed(t, p, s)
	if volumes, err := f.admin.Volumes(t.Context()); err != nil || len(volumes) > 0 {
		t.Errorf("the storages have %v: %v", volumes, err)
	}
}

// TestAStorageThatIsOfflineHoldsNothingUp that is not on it, and is named. A list that would
// lack what is on it is refused.
func TestAStorageThatIsOfflineHoldsNothingUp(t *testing.T) {
	f := newFixture(t, sim.Seed{Storage: []sim.Storage{{Name: "a-nfs", Type: "nfs", Content: []string{"images", "iso"}, Shared: true, Offline: true}, {Name: "local-lvm", Type: "lvmthin", Content: []string{"images"}, SizeGB: 4096}},
		Templates: []sim.Template{{VMID: 9000, Name: "talos-v1.9.2", Node: "pve1", Image: "v1.9.2", Storage: "local-lvm"}}})
	p := f.connected(t, func(c *provider.Config) { c.Spec.Proxmox.Nodes = []string{"pve1"} })
	s, _ := planned(t, p, machine("mgmt-w-0", func(s *provider.MachineSpec) { s.UserData = "#cloud-config" }), provider.Attempt{})
	created(t, p, s)
	if all, err := p.Machines.List(t.Context(), provider.Owner{ID: s.Owner.ID}); provider.KindOf(err) != provider.Unavailable || len(all) > 0 || !strings.Contains(fmt.Sprint(err), "a-nfs on pve") {
		t.Errorf("the list: %v, %v", all, err)
	}
	m, _ := until(t, func() (provider.Machine, error) { return p.Machines.Delete(t.Context(), s.MachineRef) }, absentNow)
	if !strings.Contains(m.Message, "a-nfs on pve") {
		t.Errorf("the message is %q", m.Message)
	}
}

// TestUserDataOnANodeThatIsNoLongerListedIsRemoved: spec.proxmox.nodes can change.
func TestUserDataOnANodeThatIsNoLongerListedIsRemoved(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	only := func(node string) func(*provider.Config) {
		return func(c *provider.Config) { c.Spec.Proxmox.Nodes = []string{node} }
	}
	p := f.connected(t, only("pve2"))
	s, _ := planned(t, p, machine("mgmt-w-0", func(s *provider.MachineSpec) { s.UserData = "#cloud-config" }), provider.Attempt{})
	created(t, p, s)
	removed(t, f.connected(t, only("pve1")), s)
	if volumes, err := f.admin.Volumes(t.Context()); err != nil || len(volumes) > 0 {
		t.Errorf("the storages have %v: %v", volumes, err)
	}
}

// TestDisksThatADestroyedVMLeavesAreRemoved: its task succeeds, with warnings, and ends after
// the VM has gone.
func TestDisksThatADestroyedVMLeavesAreRemoved(t *testing.T) {
	for kind, dated := range map[string]bool{"lvmthin": true, "zfspool": false} {
		f := newFixture(t, sim.Seed{Debris: "disks", Linger: 200 * time.Millisecond, Storage: []sim.Storage{{Name: "local-lvm", Type: kind, Content: []string{"images"}, SizeGB: 4096}}})
		p := f.connected(t)
		s, a := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
		created(t, p, s)
		_, err := until(t, func() (provider.Machine, error) { return p.Machines.Delete(t.Context(), s.MachineRef) }, func(m provider.Machine, err error) bool {
			return failedNow(m, err) || absentNow(m, err)
		})
		if (err == nil) != dated || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("vm-%d-", a.VMID)) {
			t.Errorf("%s: %v", kind, err)
		}
		if volumes, failed := f.admin.Volumes(t.Context()); failed != nil || (len(volumes) > 0) != (err != nil) {
			t.Errorf("%s: the storages have %v: %v", kind, volumes, failed)
		}
	}
}

// TestAMigratedMachineKeepsItsProviderID: the node has it already.
func TestAMigratedMachineKeepsItsProviderID(t *testing.T) {
	f := newFixture(t, sim.Seed{Storage: []sim.Storage{{Name: "local-lvm", Type: "rbd", Content: []string{"images"}, Shared: true, SizeGB: 4096}}})
	p := f.connected(t)
	s, a := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	before := created(t, p, s)
	if want := fmt.Sprintf("proxmox://%s/qemu/%d", a.Node, a.VMID); before.ID != want || before.NodeProviderID != want {
		t.Errorf("ID %s, NodeProviderID %s, want %s", before.ID, before.NodeProviderID, want)
	}
	target := map[bool]string{true: "pve2", false: "pve1"}[a.Node == "pve1"]
	if err := f.admin.Do(t.Context(), http.MethodPost, fmt.Sprintf("/nodes/%s/qemu/%d/migrate", a.Node, a.VMID), "target", target, "online", "1"); err != nil {
		t.Fatal(err)
	}
	after, _ := until(t, func() (provider.Machine, error) { return p.Machines.Observe(t.Context(), s.MachineRef) }, running)
	if after.ID != before.ID || after.NodeProviderID != before.NodeProviderID {
		t.Errorf("on %s it is %s and %s", target, after.ID, after.NodeProviderID)
	}
	removed(t, p, s)
}

// TestADestroyTaskThatFails is named, and tried again.
func TestADestroyTaskThatFails(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	s, _ := planned(t, p, machine("mgmt-w-0"), provider.Attempt{})
	created(t, p, s)
	lift, err := f.Inject(t.Context(), providertest.DeleteFailsLate)
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() (provider.Machine, error) { return p.Machines.Delete(t.Context(), s.MachineRef) }, func(m provider.Machine, err error) bool {
		if err != nil || m.State == provider.StateAbsent {
			t.Fatalf("the machine is %s: %v", m.State, err)
		}
		return strings.Contains(m.Message, "the last try failed")
	})
	lift()
	removed(t, p, s)
}

// TestControlPlanesAreApart as long as there are nodes.
func TestControlPlanesAreApart(t *testing.T) {
	f := newFixture(t, sim.Seed{Nodes: []sim.Node{{Name: "pve1"}, {Name: "pve2", MemoryGB: 1024}, {Name: "pve3"}, {Name: "pve4", Offline: true}}})
	p := f.connected(t, func(c *provider.Config) { c.Spec.Proxmox.Nodes = []string{"pve1", "pve2", "pve3", "pve4"} })
	owner := machine("").Owner
	seen := map[string]bool{}
	for i := range 3 {
		s := machine(fmt.Sprintf("mgmt-cp-%d", i), func(s *provider.MachineSpec) { s.Role, s.Owner.ClusterID = v1alpha1.RoleControlPlane, owner.ClusterID })
		s, a := planned(t, p, s, provider.Attempt{})
		created(t, p, s)
		seen[a.Node] = true
	}
	if len(seen) != 3 || seen["pve4"] {
		t.Errorf("control planes are on %v", seen)
	}
}

// TestCreationsThatAreRefused before anything is created.
func TestCreationsThatAreRefused(t *testing.T) {
	for what, c := range map[string]struct {
		seed   sim.Seed
		change func(*provider.MachineSpec)
		kind   provider.Kind
		reason string
	}{
		"user data without a storage": {
			sim.Seed{Storage: []sim.Storage{{Name: "local", Type: "dir", Content: []string{"backup"}, SizeGB: 10}}},
			func(s *provider.MachineSpec) { s.UserData = "#cloud-config" }, provider.Invalid, reasonNoISO,
		},
		"a template that is backed up": {
			sim.Seed{Templates: []sim.Template{{VMID: 9000, Name: "talos-v1.9.2", Node: "pve1", Lock: "backup"}}, Nodes: []sim.Node{{Name: "pve1"}}},
			nil, provider.Unavailable, provider.ReasonPlatformConflict,
		},
		"a VM that is no template": {
			sim.Seed{Templates: []sim.Template{{VMID: 9000, Name: "talos-v1.9.2", Node: "pve1", Plain: true}}, Nodes: []sim.Node{{Name: "pve1"}}},
			nil, provider.Invalid, provider.ReasonImageInvalid,
		},
		"no node that answers": {
			sim.Seed{Nodes: []sim.Node{{Name: "pve1", Offline: true}, {Name: "pve2"}}, Templates: []sim.Template{{VMID: 9000, Name: "talos-v1.9.2", Node: "pve2"}}},
			nil, provider.Unavailable, provider.ReasonPlatformUnavailable,
		},
	} {
		f := newFixture(t, c.seed)
		p, err := Provider().Open(t.Context(), f.config(func(c *provider.Config) { c.Spec.Proxmox.Nodes = []string{"pve1"} }))
		if err == nil {
			s := machine("mgmt-w-0")
			if c.change != nil {
				c.change(&s)
			}
			_, err = p.Machines.Create(t.Context(), s)
			p.Close()
		}
		if provider.KindOf(err) != c.kind || provider.ReasonOf(err) != c.reason {
			t.Errorf("%s: %s %s (%v), want %s %s", what, provider.KindOf(err), provider.ReasonOf(err), err, c.kind, c.reason)
		}
		for _, plain := range c.seed.Templates {
			if plain.Plain {
				continue
			}
			if vms, err := f.admin.VMs(t.Context()); err != nil || len(vms) > 0 {
				t.Errorf("%s: the cluster has %v: %v", what, vms, err)
			}
		}
	}
}
