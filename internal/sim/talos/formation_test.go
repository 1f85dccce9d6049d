// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

func testFormation(t *testing.T, dir string) *formation {
	t.Helper()
	f, err := openFormation(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// onDisk is a member with its data on a disk.
func onDisk(t *testing.T, id uint64, address string) member {
	t.Helper()
	d := disk{t.TempDir()}
	if err := d.writeEtcd(etcdData{Member: id}); err != nil {
		t.Fatal(err)
	}
	return member{ID: id, Hostname: "cp-" + address, Address: address, Disk: d.dir}
}

func ids(f *formation) (voters, learners []uint64) {
	for _, m := range f.list() {
		if m.GetIsLearner() {
			learners = append(learners, m.GetId())
		} else {
			voters = append(voters, m.GetId())
		}
	}
	slices.Sort(voters)
	return voters, learners
}

func TestMembersJoinAsLearnersOneAtATime(t *testing.T) {
	dir := t.TempDir()
	one, two, three := onDisk(t, 1, "10.0.0.1"), onDisk(t, 2, "10.0.0.2"), onDisk(t, 3, "10.0.0.3")
	synctest.Test(t, func(t *testing.T) {
		f := testFormation(t, dir)
		if ok, err := f.found(one, &node{}); err != nil || !ok {
			t.Fatal(ok, err)
		}
		f.plane = &plane.Plane{}
		second, err := f.join(t.Context(), two)
		if err != nil || second.ID != 2 {
			t.Fatal(second, err)
		}
		if voters, learners := ids(f); !slices.Equal(voters, []uint64{1}) || !slices.Equal(learners, []uint64{2}) {
			t.Errorf("voters %v, learners %v", voters, learners)
		}
		if name := f.list()[0].GetHostname(); name != "" {
			t.Errorf("a learner that did not start is called %q", name)
		}
		f.running[1] = &node{}
		if !f.quorum() {
			t.Error("a learner counts for the quorum")
		}

		third := make(chan error, 1)
		go func() {
			_, err := f.join(t.Context(), three)
			third <- err
		}()
		synctest.Wait()
		if len(f.list()) != 2 {
			t.Error("two learners at once")
		}
		two.ID = 9
		if again, err := f.join(t.Context(), two); err != nil || again.ID != 2 {
			t.Errorf("the learner that joins again is %v, %v; want its id 2", again, err)
		}
		if err := f.promote(2); err != nil {
			t.Fatal(err)
		}
		if err := <-third; err != nil {
			t.Fatal(err)
		}
		if f.quorum() {
			t.Error("one of two voters is taken for a quorum")
		}
	})
	if voters, learners := ids(testFormation(t, dir)); !slices.Equal(voters, []uint64{1, 2}) || !slices.Equal(learners, []uint64{3}) {
		t.Errorf("after a restart: voters %v, learners %v", voters, learners)
	}
}

// founder is a control plane that was asked to bootstrap.
func founder(t *testing.T, f *formation, name, address string) *node {
	t.Helper()
	n := configuredWith(t, "version: v1alpha1\nmachine: {}\n")
	n.cluster, n.disk = f, disk{t.TempDir()}
	n.machine = datacenter.Machine{Spec: datacenter.Spec{ID: name, Name: name}, Address: netip.MustParsePrefix(address)}
	return n
}

func TestSecondBootstrapIsNotedAndNotPlayed(t *testing.T) {
	f := testFormation(t, t.TempDir())
	first, second := founder(t, f, "cp-0", "10.0.0.1/24"), founder(t, f, "cp-1", "10.0.0.2/24")
	audited := t.TempDir()
	auditor, err := audit.Open(audit.Options{Dir: audited})
	if err != nil {
		t.Fatal(err)
	}
	first.emulator = New(Options{Auditor: auditor})
	second.emulator = first.emulator
	for range 2 { // again after a restart
		data := etcdData{Member: 1, First: true}
		if err := errors.Join(first.foundEtcd(data), first.keepEtcd(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.foundEtcd(etcdData{Member: 2, First: true}); !errors.Is(err, errSplit) {
		t.Errorf("the second etcd: %v", err)
	}
	if data, ok := second.disk.etcd(); !ok || data.Member != 2 {
		t.Errorf("the second etcd has written %v, %v", data, ok)
	}
	noted, err := os.ReadFile(f.bootstrapsPath())
	if err != nil || strings.Count(string(noted), "\n") != 2 {
		t.Errorf("bootstraps %q, %v; want one line for each of two etcds", noted, err)
	}
	if voters, _ := ids(f); !slices.Equal(voters, []uint64{1}) {
		t.Errorf("members %v", voters)
	}
	if found, err := audit.Violations(audited); err != nil || len(found) != 1 || found[0].Invariant != audit.OneBootstrap {
		t.Errorf("the auditor found %v, %v", found, err)
	}
}

func TestRepeatedBootstrapStartsOver(t *testing.T) {
	f := testFormation(t, filepath.Join(t.TempDir(), "some"))
	m := member{ID: 1, Hostname: "cp-0", Address: "10.0.0.1", Disk: t.TempDir()} // etcd wrote nothing so far
	if _, err := f.found(m, &node{}); err != nil {
		t.Fatal(err)
	}
	starts := make(chan context.Context)
	f.start = func(ctx context.Context) (*plane.Plane, error) {
		starts <- ctx
		<-ctx.Done()
		return nil, ctx.Err()
	}
	m.Hostname = "renamed"
	if err := f.startMember(m, &node{}); err != nil {
		t.Fatal(err)
	}
	if name := f.list()[0].GetHostname(); name != "renamed" {
		t.Errorf("the member that started is called %q", name)
	}
	next := func() context.Context {
		select {
		case ctx := <-starts:
			return ctx
		case <-time.After(time.Minute):
			t.Fatal("nothing starts")
			return nil
		}
	}
	first := next()
	f.restart()
	second := next()
	if !errors.Is(first.Err(), context.Canceled) || second.Err() != nil {
		t.Errorf("the first start continues: %v, %v", first.Err(), second.Err())
	}
	if f.clean(); len(f.list()) != 1 {
		t.Error("a member that starts was taken for one that is gone")
	}
	f.stopMember(1)
	if second.Err() == nil {
		t.Error("the start continues without a member")
	}
	if _, err := os.Stat(f.dir); !os.IsNotExist(err) || len(f.list()) != 0 {
		t.Errorf("left of an etcd that never ran: %v, %v", f.list(), err)
	}
}

func TestNodeThatLostItsDiskTakesItsMemberOffTheList(t *testing.T) {
	f := testFormation(t, t.TempDir())
	f.members = []member{onDisk(t, 1, "10.0.0.1"), onDisk(t, 2, "10.0.0.2")}
	f.members[1].Learner = true // and would keep all others waiting
	f.plane = &plane.Plane{}
	again := member{ID: 3, Hostname: f.members[1].Hostname, Address: "10.0.0.3", Disk: t.TempDir()}
	if m, err := f.join(t.Context(), again); err != nil || m.ID != 3 {
		t.Fatal(m, err)
	}
	if voters, learners := ids(f); !slices.Equal(voters, []uint64{1}) || !slices.Equal(learners, []uint64{3}) {
		t.Errorf("voters %v, learners %v", voters, learners)
	}
}

func TestDataOfForgottenClusterGoWithItsLastDisk(t *testing.T) {
	dir := t.TempDir()
	m := onDisk(t, 1, "10.0.0.1")
	f := testFormation(t, filepath.Join(dir, "some"))
	if _, err := f.found(m, &node{}); err != nil {
		t.Fatal(err)
	}
	w := New(Options{Dir: dir}) // a restart, with all machines off
	w.Removed("another")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("while the disk is there: %v, %v", left, err)
	}
	if err := os.RemoveAll(m.Disk); err != nil {
		t.Fatal(err)
	}
	w.Removed("cp-0")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
